use std::{fs, os::unix::fs::PermissionsExt as _};

use super::*;

/// A plugin that counts its runs in the file `runs` beside it and then does as `script` says.
fn plugin(folder: &Path, script: &str) -> AuthInfo {
    let path = folder.join("plugin");
    fs::write(&path, format!("#!/bin/sh\necho run >> \"$(dirname \"$0\")/runs\"\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    serde_json::from_value(json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "./plugin",
        "args": ["a b"],
        "env": [{"name": "WHO", "value": "ann"}],
        "interactiveMode": "IfAvailable",
        "installHint": "install it first",
    }}))
    .unwrap()
}

fn print(status: &str) -> String {
    format!(
        "cat <<END\n{{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{status}}}\nEND"
    )
}

fn runs(folder: &Path) -> usize {
    fs::read_to_string(folder.join("runs")).unwrap_or_default().lines().count()
}

fn field(user: &AuthInfo, name: &str) -> String {
    serde_json::to_value(user).unwrap()[name].as_str().unwrap_or_default().to_owned()
}

#[test]
fn what_it_gives_is_used_until_it_expires() {
    let folder = tempfile::tempdir().unwrap();
    let plugins = Plugins::default();
    let resolve = |user: &AuthInfo| plugins.resolve(user, &Cluster::default(), folder.path());
    let later = clock::format(clock::now() + 3600);
    let user = plugin(
        folder.path(),
        &print(&format!("{{\"token\":\"$WHO-$1\",\"expirationTimestamp\":\"{later}\"}}")),
    );
    for _ in 0..3 {
        let resolved = resolve(&user).unwrap();
        assert_eq!((field(&resolved, "token").as_str(), resolved.exec.is_none()), ("ann-a b", true));
    }
    assert_eq!(runs(folder.path()), 1);

    // Nearly expired: kept for a moment only.
    let soon = clock::format(clock::now() + 2);
    let pair = format!(
        "{{\"clientCertificateData\":\"C\",\"clientKeyData\":\"K\",\"expirationTimestamp\":\"{soon}\"}}"
    );
    let mut other = plugin(folder.path(), &print(&pair));
    other.exec.as_mut().unwrap().args = None;
    let resolved = resolve(&other).unwrap();
    assert_eq!(resolved.client_certificate_data, Some(STANDARD.encode("C")));
    assert_eq!((field(&resolved, "client-key-data"), runs(folder.path())), (STANDARD.encode("K"), 2));
    thread::sleep(Duration::from_millis(1100));
    resolve(&other).unwrap_or_default();
    assert_eq!(runs(folder.path()), 3, "it is asked again before the credentials expire");
}

#[test]
fn it_is_told_what_kubectl_tells() {
    let folder = tempfile::tempdir().unwrap();
    let mut user = plugin(
        folder.path(),
        &format!(
            "echo \"$KUBERNETES_EXEC_INFO\" > {}/info\n{}",
            folder.path().display(),
            print("{\"token\":\"t\"}")
        ),
    );
    user.exec.as_mut().unwrap().provide_cluster_info = true;
    let cluster = Cluster { server: Some("https://core.example.com".into()), ..Cluster::default() };
    Plugins::default().resolve(&user, &cluster, folder.path()).unwrap();
    let info: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("info")).unwrap()).unwrap();
    assert_eq!(
        (&info["kind"], &info["apiVersion"]),
        (&json!("ExecCredential"), &json!("client.authentication.k8s.io/v1"))
    );
    assert_eq!(
        (&info["spec"]["interactive"], &info["spec"]["cluster"]["server"]),
        (&json!(false), &json!("https://core.example.com"))
    );
}

#[test]
fn what_goes_wrong_is_a_sentence_without_secrets() {
    let past = print("{\"token\":\"hush\",\"expirationTimestamp\":\"2001-01-01T00:00:00Z\"}");
    let rows: [(&str, &str); 8] = [
        ("echo no such user >&2; exit 3", "failed (exit status: 3) and said: no such user"),
        ("echo hush", "printed 5 bytes that are no ExecCredential in JSON"),
        (&print("null"), "gave no credentials: its answer has no status"),
        (&print("{}"), "gave neither a token nor a client certificate"),
        (&print("{\"clientKeyData\":\"hush\"}"), "gave half of a client certificate and its key"),
        (&past, "gave credentials that expired at 2001-01-01T00:00:00Z"),
        (
            "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1\"}'",
            "answered in another version than client.authentication.k8s.io/v1",
        ),
        ("head -c 2000000 /dev/zero", "printed more than 1048576 bytes"),
    ];
    for (script, expected) in rows {
        let folder = tempfile::tempdir().unwrap();
        let user = plugin(folder.path(), script);
        let said = Plugins::default().resolve(&user, &Cluster::default(), folder.path()).unwrap_err();
        assert_eq!(said, format!("its credential plugin `./plugin` {expected}"));
    }
    let folder = tempfile::tempdir().unwrap();
    let user = plugin(folder.path(), "");
    fs::remove_file(folder.path().join("plugin")).unwrap();
    let said = Plugins::default().resolve(&user, &Cluster::default(), folder.path()).unwrap_err();
    assert!(
        said.contains("cannot be started: No such file") && said.ends_with("(install it first)"),
        "{said}"
    );
}
