//! Every file of the state folder, damaged in every way.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde_json::json;
use testkit::{FakeServer, Serving, TempPki, real::Process};

use super::spec;
use crate::{door::Starting, faults::things, full};

type Damage = fn(Vec<u8>) -> Vec<u8>;

/// What can be in a file instead of what was.
const DAMAGES: &[(&str, Damage)] = &[
    ("empty", |_| Vec::new()),
    ("half", |bytes| bytes[..bytes.len() / 2].to_vec()),
    ("zeros", |bytes| vec![0; bytes.len()]),
    ("another file", |_| b"{\"kind\":\"List\",\"items\":[1,2,{}]}".to_vec()),
    ("one bit", |mut bytes| {
        let middle = bytes.len() / 2;
        if let Some(byte) = bytes.get_mut(middle) {
            *byte ^= 0x10;
        }
        bytes
    }),
];

/// A door whose folder holds one of everything; stopped in order, so that all is written.
async fn folder(pki: &Arc<TempPki>, state: &Path) -> FakeServer {
    let start = Starting::self_made(pki, state);
    let (mut process, log) = start.spawn();
    let ready = {
        let log = log.clone();
        tokio::task::spawn_blocking(move || {
            process.wait_until("it was ready", || {
                fs_err::read_to_string(&log).unwrap_or_default().contains("ready: https://")
            });
            process
        })
        .await
        .unwrap()
    };
    let server =
        FakeServer::builder().tls(pki, Serving::Good).group(things("wardle.example.com")).start().await;
    let mut client = own_admin(&log, state).await;
    for (name, spec) in [("one", spec(1)), ("two", spec(2))] {
        assert_eq!(crate::door::register(&mut client, name, &spec).await.status, 201);
    }
    let ca =
        base64::Engine::encode(&base64::engine::general_purpose::STANDARD, pki.server_ca.certificate_pem());
    let wardle = serde_json::json!({ "url": server.url(), "caBundle": ca });
    assert_eq!(crate::door::register(&mut client, "wardle", &wardle).await.status, 201);
    crate::door::get_until(&mut client, "/apis/wardle.example.com/v1/things", 200).await;
    crate::door::get_until(&mut client, "/openapi/v3/apis/wardle.example.com/v1", 200).await;
    drop(client);
    stop(ready).await;
    server
}

async fn stop(mut process: Process) {
    process.signal("TERM");
    let ended = tokio::task::spawn_blocking(move || process.wait(Duration::from_secs(60))).await.unwrap();
    assert!(ended.is_some(), "it does not stop");
}

/// The administrator of a door that makes its own certificates.
async fn own_admin(log: &Path, state: &Path) -> testkit::Client {
    let text = fs_err::read_to_string(log).unwrap();
    let address = text.lines().find_map(|line| line.strip_prefix("ready: https://")).unwrap();
    let address = address.split_ascii_whitespace().next().unwrap().parse().unwrap();
    let pki = state.join("pki");
    let ca = fs_err::read(pki.join("server-ca.crt")).unwrap();
    let pair = pki::CertifiedKey::load(&pki.join("admin.crt"), &pki.join("admin.key")).unwrap();
    testkit::Client::http2(&testkit::Target::tls(address, &ca).identity(pair)).await.unwrap()
}

/// A door with a damaged file comes up with what is whole and says what is not, or does not come up and
/// says why and what to do. It does not crash, and it throws nothing away that is whole.
#[tokio::test(flavor = "multi_thread")]
async fn damaged_files_are_named_and_disturb_nothing_else() {
    let (pki, good) = (Arc::new(TempPki::new()), tempfile::tempdir().unwrap());
    let state = good.path().join("state");
    let _server = folder(&pki, &state).await;
    let files = files_below(&state);
    let has = |part: &str| files.iter().any(|file| file.to_string_lossy().contains(part));
    assert!(has("registrations/apiservers/one.json") && has("pki/server-ca.key"), "{files:#?}");
    let mut problems = Vec::new();
    let mut cases = 0;
    for (place, file) in files.iter().enumerate() {
        for (number, (damage, change)) in DAMAGES.iter().enumerate() {
            // Each file in one way, and in the long run in every way.
            if !full() && number != place % DAMAGES.len() {
                continue;
            }
            let broken = tempfile::tempdir().unwrap();
            let copy = broken.path().join("state");
            copy_folder(&state, &copy);
            let path = copy.join(file);
            let bytes = change(fs_err::read(&path).unwrap());
            fs_err::write(&path, &bytes).unwrap();
            cases += 1;
            if let Err(problem) = judge(&pki, &copy, file, &bytes).await {
                problems.push(format!("{} ({damage}): {problem}", file.display()));
            }
        }
    }
    println!("{cases} damaged files, {} problems", problems.len());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Numbers and times that neither this door nor its clock could have written: from another machine, from
/// a clock that was wrong, or edited by hand.
#[tokio::test(flavor = "multi_thread")]
async fn strange_numbers_and_times_are_lived_with() {
    let (pki, folder) = (Arc::new(TempPki::new()), tempfile::tempdir().unwrap());
    let start = Starting::new(&pki, folder.path());
    let door = start.start().await;
    assert_eq!(door.register("one", &spec(1)).await.status, 201);
    drop(door);
    let file = folder.path().join("registrations/apiservers/one.json");
    let good: serde_json::Value = serde_json::from_slice(&fs_err::read(&file).unwrap()).unwrap();
    for (number, (field, value)) in [
        ("creationTimestamp", json!("2100-01-01T00:00:00Z")),
        ("creationTimestamp", json!("0001-01-01T00:00:00Z")),
        ("creationTimestamp", json!("yesterday")),
        ("creationTimestamp", json!(null)),
        ("resourceVersion", json!("18446744073709551615")),
        ("resourceVersion", json!("-1")),
        ("resourceVersion", json!("0")),
        ("generation", json!(i64::MAX)),
        ("generation", json!(-5)),
        ("uid", json!("")),
        ("labels", json!({ "a": "x".repeat(100_000) })),
    ]
    .into_iter()
    .enumerate()
    {
        let mut strange = good.clone();
        strange["metadata"][field] = value.clone();
        fs_err::write(&file, strange.to_string()).unwrap();
        let door = start.start().await;
        let other = format!("other-{number}");
        assert_eq!(door.register(&other, &spec(2)).await.status, 201, "{field}={value}: {}", door.log());
        let mut admin = door.admin().await;
        let path = format!("{}/one", crate::door::COLLECTION);
        let patch = json!({ "spec": spec(100 + number) }).to_string();
        let patched =
            admin.request("PATCH", &path, &[("content-type", "application/merge-patch+json")], patch).await;
        assert_eq!(patched.status, 200, "{field}={value}: {}\n{}", patched.text(), door.log());
        let object = admin.get(&path, &[]).await.json();
        assert_eq!(object["spec"], spec(100 + number), "{field}={value}");
        let versions = [&object, &patched.json()].map(|object| {
            object["metadata"]["resourceVersion"].as_str().and_then(|version| version.parse::<u64>().ok())
        });
        assert!(versions[0] >= versions[1] && versions[1].is_some(), "{field}={value}: {versions:?}");
        drop(admin);
        drop(door);
        assert!(super::registered(&start.start().await).await.contains_key(&other), "{field}={value}");
    }
}

async fn judge(pki: &Arc<TempPki>, state: &Path, file: &Path, damaged: &[u8]) -> Result<(), String> {
    let start = Starting::self_made(pki, state);
    let (mut process, log_file) = start.spawn();
    let read = move || fs_err::read_to_string(&log_file).unwrap_or_default();
    let mut code = None;
    for _ in 0..1200 {
        code = process.wait(Duration::from_millis(1));
        if code.is_some() || read().contains("ready: https://") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let log = read();
    if log.contains("panicked") {
        return Err(log);
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(status) = code {
        let explained = log.contains(&name) && status.code().is_some_and(|code| code != 101);
        return if explained { Ok(()) } else { Err(format!("{status}, and the file is not named: {log}")) };
    }
    let start = log.find("ready: https://").ok_or_else(|| format!("it never got ready: {log}"))?;
    let address = log[start + "ready: https://".len()..].split_ascii_whitespace().next().unwrap_or_default();
    let whole = whole(state, address.parse().map_err(|_| log.clone())?).await?;
    let spared =
        ["one", "two", "wardle"].iter().filter(|other| !name.starts_with(&format!("{other}."))).count();
    if whole.len() < spared {
        return Err(format!("only {whole:?} are left: {log}"));
    }
    let kept = fs_err::read(state.join(file)).unwrap_or_default();
    let is_registration = file.starts_with("registrations") && !name.ends_with(".last");
    if is_registration && kept == damaged && !log.contains(&name) && whole.len() < 3 {
        return Err(format!("a registration is gone without a word: {log}"));
    }
    Ok(())
}

/// The registrations that the door knows.
async fn whole(state: &Path, address: std::net::SocketAddr) -> Result<Vec<String>, String> {
    let pki = state.join("pki");
    let ca = fs_err::read(pki.join("server-ca.crt")).map_err(|error| error.to_string())?;
    let pair = pki::CertifiedKey::load(&pki.join("admin.crt"), &pki.join("admin.key"))
        .map_err(|error| error.to_string())?;
    let target = testkit::Target::tls(address, &ca).identity(pair);
    let mut client = testkit::Client::http2(&target).await.map_err(|error| error.to_string())?;
    let reply = client.get(crate::door::COLLECTION, &[]).await;
    if reply.status != 200 {
        return Err(format!("{}: {}", reply.status, reply.text()));
    }
    let list = reply.json();
    let items = list["items"].as_array().cloned().unwrap_or_default();
    Ok(items.iter().filter_map(|item| item["metadata"]["name"].as_str().map(str::to_owned)).collect())
}

/// Paths of all files, relative, in order.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs_err::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path.strip_prefix(folder).unwrap().to_owned()),
            }
        }
    }
    files.sort();
    files
}

fn copy_folder(from: &Path, to: &Path) {
    for file in files_below(from) {
        let target = to.join(&file);
        fs_err::create_dir_all(target.parent().unwrap()).unwrap();
        fs_err::copy(from.join(&file), target).unwrap();
    }
}
