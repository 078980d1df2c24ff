//! `trellis cluster`: objects written, checked and shown.

use std::path::Path;

use serde_json::Value;

use crate::program::{Ended, run, trellis};

const GOOD: &str =
    "name: demo\nhosts:\n- {name: cp1, address: 192.168.7.1}\n- {name: n1, address: 192.168.7.2}\n";
const WRONG: &str =
    "name: demo\nhosts:\n- {name: cp1, address: 192.168.7.1}\n- {name: cp1, adress: 192.168.7.2}\n";

fn cluster(folder: &Path, arguments: &[&str]) -> Ended {
    run(trellis().current_dir(folder).arg("cluster").args(arguments))
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

#[test]
fn an_object_begins_with_init() {
    for file in ["cluster.yaml", "demo.json"] {
        let folder = folder(&[]);
        let hosts = ["--host", "cp1=192.168.7.1", "--host", "n1=192.168.7.2"];
        let init = [["init", "--name", "demo"].as_slice(), &hosts, &["--output", file]].concat();
        let ended = cluster(folder.path(), &init);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stdout.contains(&format!("next: trellis cluster validate {file}")), "{}", ended.stdout);
        assert_eq!(cluster(folder.path(), &["validate", file]).stdout, format!("{file}: good\n"));
        let schema = std::fs::read_to_string(folder.path().join("cluster.schema.json")).expect("a schema");
        assert_eq!(schema, cluster(folder.path(), &["schema"]).stdout);
        let again = cluster(folder.path(), &init);
        assert_eq!(again.code, 9, "an object is never overwritten: {}", again.stderr);
    }
}

#[test]
fn init_writes_nothing_wrong() {
    for (arguments, code, said) in [
        (["init", "--name", "My Cluster", "--host", "cp1=192.168.7.1"].as_slice(), 3, "write \"my-cluster\""),
        (&["init", "--name", "demo", "--host", "cp1=10.96.0.1"], 3, "network of the Services"),
        (&["init", "--name", "demo", "--host", "192.168.7.1"], 2, "NAME=ADDRESS"),
        (&["init", "--name", "demo"], 2, "--host"),
    ] {
        let folder = folder(&[]);
        let ended = cluster(folder.path(), arguments);
        assert_eq!(ended.code, code, "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{arguments:?}: {}", ended.stderr);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "{arguments:?}");
    }
}

#[test]
fn all_mistakes_are_told_with_file_and_line() {
    let folder = folder(&[("cluster.yaml", WRONG)]);
    let ended = cluster(folder.path(), &["validate", "cluster.yaml"]);
    assert_eq!(ended.code, 3);
    for said in [
        "cluster.yaml:4: /hosts/1/address: this key is missing",
        "cluster.yaml:4: /hosts/1/adress: \"192.168.7.2\": this key is not known\n  fix: did you mean \"address\"?",
        "cluster.yaml:4: /hosts/1/name: \"cp1\": the host /hosts/0 has this name already",
        "trellis: cluster.yaml: 3 mistakes",
    ] {
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
    }
    for arguments in [["show", "cluster.yaml"].as_slice(), &["show", "cluster.yaml", "--resolved"]] {
        let ended = cluster(folder.path(), arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (3, ""), "{arguments:?}");
    }
}

#[test]
fn mistakes_are_told_to_programs() {
    let folder = folder(&[("cluster.yaml", WRONG), ("good.yaml", GOOD)]);
    let ended = cluster(folder.path(), &["validate", "cluster.yaml", "-o", "json"]);
    assert_eq!(ended.code, 3);
    let report: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(report["valid"], false);
    let first = &report["findings"][0];
    assert_eq!(first["pointer"], "/hosts/1/address");
    assert_eq!((&first["line"], &first["file"]), (&Value::from(4), &Value::from("cluster.yaml")));
    for key in ["reason", "fix", "rule", "source"] {
        assert!(first[key].is_string(), "{key}: {first}");
    }
    let good = cluster(folder.path(), &["validate", "good.yaml", "--output", "json"]);
    let report: Value = serde_json::from_str(&good.stdout).expect("JSON");
    assert_eq!((good.code, &report["valid"]), (0, &Value::Bool(true)));
}

#[test]
fn the_inventory_beside_is_read() {
    let inventory = "{\"hosts\": [{\"name\": \"cp1\", \"address\": \"192.168.7.1\"}]}";
    let folder = folder(&[("cluster.yaml", "name: demo\n"), ("inventory.json", inventory)]);
    assert_eq!(cluster(folder.path(), &["validate", "cluster.yaml"]).code, 0);
    std::fs::write(folder.path().join("cluster.yaml"), GOOD).expect("a file");
    let both = cluster(folder.path(), &["validate", "cluster.yaml"]);
    assert!(both.stderr.contains("/hosts: "), "{}", both.stderr);
    std::fs::write(folder.path().join("inventory.json"), "{\"hosts\": 1}").expect("a file");
    let wrong = cluster(folder.path(), &["validate", "cluster.yaml"]);
    assert!(wrong.stderr.contains("inventory.json:1: /hosts: 1: a number stands"), "{}", wrong.stderr);
}

#[test]
fn an_object_is_shown_with_defaults_and_reasons() {
    let folder = folder(&[("cluster.yaml", GOOD)]);
    let shown = cluster(folder.path(), &["show", "cluster.yaml"]).stdout;
    assert!(shown.contains("services: 10.96.0.0/12"), "{shown}");
    let resolved = cluster(folder.path(), &["show", "cluster.yaml", "--resolved"]).stdout;
    let line = "network.dnsAddress: \"10.96.0.10\"  # the tenth address of network.services (/network/services, /network/dnsAddress)";
    assert!(resolved.lines().any(|found| found == line), "{resolved}");
    let json = cluster(folder.path(), &["show", "cluster.yaml", "--resolved", "-o", "json"]).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["decisions"]["network.dnsAddress"]["value"], "10.96.0.10");
    assert_eq!(json["hosts"][1]["host.name"]["value"], "n1");
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = folder(&[("binary.yaml", "\u{0}")]);
    std::fs::write(folder.path().join("latin1.yaml"), b"name: d\xe9mo\n").expect("a file");
    for (file, said) in [("none.yaml", "none.yaml"), ("latin1.yaml", "not UTF-8"), (".", "directory")] {
        let ended = cluster(folder.path(), &["validate", file]);
        assert_eq!(ended.code, 3, "{file}");
        assert!(ended.stderr.contains(said) && ended.stderr.contains("next: "), "{file}: {}", ended.stderr);
    }
    assert_eq!(cluster(folder.path(), &["validate", "binary.yaml"]).code, 3);
}

fn rendered(folder: &Path) -> Vec<(String, Vec<u8>, u32)> {
    use std::os::unix::fs::PermissionsExt as _;
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mode = path.metadata().expect("a file").permissions().mode() & 0o777;
            let name = path.strip_prefix(folder).expect("below").display().to_string();
            files.push((name, std::fs::read(&path).expect("a file"), mode));
        }
    }
    files.sort();
    files
}

#[test]
fn hosts_files_are_rendered_and_rendered_again() {
    let folder = folder(&[("cluster.yaml", &format!("{GOOD}encryption: {{secrets: secretbox}}\n"))]);
    let render = ["render", "cluster.yaml", "-o", "tree"];
    let ended = cluster(folder.path(), &render);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let tree = folder.path().join("tree");
    let first = rendered(&tree);
    let find =
        |name: &str| first.iter().find(|(path, ..)| path == name).unwrap_or_else(|| panic!("no {name}"));
    let manifest =
        String::from_utf8(find("cp1/etc/kubernetes/manifests/kube-apiserver.yaml").1.clone()).expect("text");
    assert!(manifest.contains("--advertise-address=192.168.7.1"), "{manifest}");
    for (name, mode) in [
        ("cp1/etc/kubernetes/pki/ca.key", 0o600),
        ("cp1/etc/kubernetes/pki/etcd/peer.crt", 0o644),
        ("cp1/etc/kubernetes/controller-manager.conf", 0o600),
        ("n1/etc/kubernetes/pki/ca.crt", 0o644),
        ("n1/var/lib/kubelet/config.yaml", 0o644),
    ] {
        assert_eq!(find(name).2, mode, "{name}");
    }
    // A node has nothing that is secret; the control plane has all that `adopt` needs.
    assert!(!first.iter().any(|(name, ..)| name.starts_with("n1/") && name.ends_with(".key")));
    for name in ["front-proxy-ca.key", "etcd/ca.key"] {
        assert_eq!(find(&format!("cp1/etc/kubernetes/pki/{name}")).2, 0o600, "{name}");
    }
    assert_eq!(cluster(folder.path(), &render).code, 0);
    assert_eq!(rendered(&tree), first, "the same again");
    std::fs::write(folder.path().join("cluster.yaml"), GOOD).expect("a file");
    assert_eq!(cluster(folder.path(), &render).code, 0);
    let gone = "cp1/etc/kubernetes/apiserver/encryption.yaml";
    assert!(
        find(gone).2 == 0o600 && !rendered(&tree).iter().any(|(name, ..)| name == gone),
        "what is gone is removed"
    );
    let state = folder.path().join("cluster.state");
    for (name, _, mode) in rendered(&state) {
        assert_eq!(mode, 0o600, "{name}");
    }
    let secret = std::fs::read_to_string(state.join("pki/encryption.key")).expect("a secret");
    let explained = std::fs::read_to_string(tree.join("explain.json")).expect("explanations");
    assert!(!explained.contains(secret.trim()) && !ended.stdout.contains(secret.trim()));
}

#[test]
fn certificates_are_what_components_expect() {
    let folder = folder(&[(
        "cluster.yaml",
        &format!("{GOOD}api: {{extraNames: [api.example.com]}}\npki: {{certificateDays: 90}}\n"),
    )]);
    assert_eq!(cluster(folder.path(), &["render", "cluster.yaml", "-o", "tree", "--state", "keys"]).code, 0);
    let pki = folder.path().join("tree/cp1/etc/kubernetes/pki");
    let days = |seconds: u64| std::time::Duration::from_secs(seconds * 24 * 3600);
    for (name, user, groups, names) in [
        (
            "apiserver",
            "kube-apiserver",
            &[][..],
            &["kubernetes.default.svc.cluster.local", "api.example.com", "cp1", "10.96.0.1", "192.168.7.1"][..],
        ),
        ("apiserver-kubelet-client", "kube-apiserver-kubelet-client", &[], &[]),
        ("apiserver-etcd-client", "kube-apiserver-etcd-client", &[], &[]),
        ("front-proxy-client", "front-proxy-client", &[], &[]),
        ("etcd/server", "cp1", &[], &["cp1", "localhost", "192.168.7.1", "127.0.0.1", "::1"]),
        ("etcd/peer", "cp1", &[], &["cp1", "192.168.7.1"]),
    ] {
        let pair =
            pki::CertifiedKey::load(&pki.join(format!("{name}.crt")), &pki.join(format!("{name}.key")));
        let leaf = pair.expect(name).leaf().expect("a certificate");
        assert_eq!((leaf.common_name.as_str(), leaf.organizations.as_slice()), (user, groups), "{name}");
        let has = leaf.names();
        assert!(names.iter().all(|name| has.iter().any(|has| has == name)), "{name}: {has:?}");
        let life = leaf.not_after.duration_since(leaf.not_before).expect("a life");
        assert!(life > days(89) && life < days(91), "{name}: {life:?}");
    }
    let kubelet =
        std::fs::read_to_string(folder.path().join("tree/cp1/etc/kubernetes/kubelet.conf")).expect("a file");
    assert!(kubelet.contains("https://192.168.7.1:6443"), "a component calls the API server beside it");
}

#[test]
fn a_line_is_explained() {
    let folder = folder(&[("cluster.yaml", GOOD)]);
    assert_eq!(cluster(folder.path(), &["render", "cluster.yaml", "-o", "tree"]).code, 0);
    let unit = "tree/n1/etc/systemd/system/kubelet.service";
    let text = std::fs::read_to_string(folder.path().join(unit)).expect("a unit");
    let line = 1 + text.lines().position(|line| line.contains("--node-ip=")).expect("a line");
    let ended = cluster(folder.path(), &["explain", &format!("{unit}:{line}")]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for said in [
        "--node-ip=192.168.7.2",
        "from host/kubelet.service:",
        "never guessed",
        "host.address: ",
        "(/hosts/1/address)",
    ] {
        assert!(ended.stdout.contains(said), "{said}: {}", ended.stdout);
    }
    let all = cluster(folder.path(), &["explain", unit, "-o", "json"]);
    let all: Value = serde_json::from_str(&all.stdout).expect("JSON");
    assert_eq!(all["lines"].as_array().expect("lines").len(), text.lines().count());
    let key = cluster(folder.path(), &["explain", "tree/cp1/etc/kubernetes/pki/ca.key"]);
    assert!(key.stdout.contains("key ca.key") && !key.stdout.contains("PRIVATE"), "{}", key.stdout);
    for (place, code) in
        [(format!("{unit}:9999"), 8), ("cluster.yaml:1".to_owned(), 8), ("tree/none".to_owned(), 3)]
    {
        let ended = cluster(folder.path(), &["explain", &place]);
        assert_eq!(ended.code, code, "{place}: {}", ended.stderr);
        assert!(ended.stderr.contains("next: "), "{place}: {}", ended.stderr);
    }
}

#[test]
fn nothing_foreign_is_overwritten() {
    let folder = folder(&[("cluster.yaml", GOOD)]);
    std::fs::create_dir(folder.path().join("mine")).expect("a folder");
    std::fs::write(folder.path().join("mine/notes"), "mine").expect("a file");
    let ended = cluster(folder.path(), &["render", "cluster.yaml", "-o", "mine"]);
    assert_eq!(ended.code, 9, "{}", ended.stderr);
    assert_eq!(std::fs::read_to_string(folder.path().join("mine/notes")).expect("a file"), "mine");
    std::fs::create_dir(folder.path().join("deploy")).expect("a folder");
    std::fs::write(folder.path().join("deploy/tree.txt"), "all always 0644 /etc/x host/x\n").expect("a file");
    let ended = cluster(folder.path(), &["render", "cluster.yaml", "-o", "tree", "--deploy", "deploy"]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("tree.txt:1 names host/x"), "{}", ended.stderr);
}
