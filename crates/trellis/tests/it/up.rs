//! `trellis up`: everything at once, and again on the same folder.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::program::{Running, Up, is_alive, run, trellis, wait_for};

const NOTES: &str = "/apis/example.trellis.dev/v1/namespaces/default/notes";
const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

fn note(name: &str, text: &str) -> String {
    json!({"metadata": {"name": name}, "spec": {"text": text}}).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_is_there_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let mut up = Up::start(&data);
    let mut door = up.kubeconfig.client().await;
    assert_eq!(door.request("POST", NOTES, JSON, note("kept", "still here")).await.status, 201);
    let mode = std::fs::metadata(data.join("admin.kubeconfig")).expect("written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the kubeconfig is for its owner alone");

    up.running.signal("INT");
    assert!(up.running.wait().success());
    assert!(!is_alive(up.example), "the example server goes with the door");

    let up = Up::start(&data);
    let mut door = up.kubeconfig.client().await;
    let reply = door.get(&format!("{NOTES}/kept"), &[]).await;
    assert_eq!(reply.json()["spec"]["text"], "still here", "{}", reply.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_never_outlives_the_door() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut up = Up::start(folder.path());
    assert!(is_alive(up.example));
    up.running.signal("KILL");
    up.running.wait();
    wait_for("the example server to end", || (!is_alive(up.example)).then_some(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_example_that_dies_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let up = Up::start(folder.path());
    let mut door = up.kubeconfig.client().await;
    assert_eq!(door.request("POST", NOTES, JSON, note("kept", "still here")).await.status, 201);
    let killed = std::process::Command::new("kill").args(["-KILL", &up.example.to_string()]).status();
    assert!(killed.expect("kill").success());
    wait_for("the example server to end", || (!is_alive(up.example)).then_some(()));
    let end = std::time::Instant::now() + crate::program::PATIENCE;
    loop {
        let reply = door.get(&format!("{NOTES}/kept"), &[]).await;
        if reply.status == 200 {
            assert_eq!(reply.json()["spec"]["text"], "still here");
            break;
        }
        assert_eq!(reply.status, 503, "known all the time: {}", reply.text());
        assert!(std::time::Instant::now() < end, "it did not come back: {}", reply.text());
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_door_does_not_get_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let _up = Up::start(folder.path());
    let second = run(trellis().args(["up", "--listen", "127.0.0.1:0", "--data"]).arg(folder.path()));
    assert_eq!(second.code, 5, "{}", second.stderr);
    assert!(second.stderr.contains("in use by another door"), "{}", second.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn ephemeral_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut running = Running::start(
        trellis().args(["up", "--ephemeral", "--listen", "127.0.0.1:0"]).env("TMPDIR", folder.path()),
    );
    running.line("Ctrl-C stops it");
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 1);
    running.signal("TERM");
    assert!(running.wait().success());
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_work_through_the_door() {
    let folder = tempfile::tempdir().expect("a folder");
    let up = Up::start(folder.path());
    let mut door = up.kubeconfig.client().await;

    let made = door.request("POST", NOTES, JSON, note("one", "two words")).await;
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(made.json()["status"], json!({"author": "trellis-admin", "words": 2}));
    let again = door.request("POST", NOTES, JSON, note("one", "x")).await;
    assert_eq!((again.status.as_u16(), &again.json()["reason"]), (409, &json!("AlreadyExists")));

    let table = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let listed = door.get(NOTES, &table).await.json();
    assert_eq!(listed["kind"], "Table");
    let cells = listed["rows"][0]["cells"].as_array().expect("cells");
    assert_eq!(cells[..4], [json!("one"), json!("two words"), json!(""), json!("trellis-admin")]);

    let stale =
        json!({"metadata": {"name": "one", "resourceVersion": "1"}, "spec": {"text": "y"}}).to_string();
    let refused = door.request("PUT", &format!("{NOTES}/one"), JSON, stale).await;
    assert_eq!((refused.status.as_u16(), &refused.json()["reason"]), (409, &json!("Conflict")));

    let apply = [("content-type", "application/apply-patch+yaml")];
    let path = format!("{NOTES}/one?fieldManager=other");
    let config =
        "apiVersion: example.trellis.dev/v1\nkind: Note\nmetadata: {name: one}\nspec: {text: mine}\n";
    let conflict = door.request("PATCH", &path, &apply, config).await;
    assert_eq!(conflict.json()["details"]["causes"][0]["field"], ".spec.text", "{}", conflict.text());
    let forced = door.request("PATCH", &format!("{path}&force=true"), &apply, config).await;
    assert_eq!(forced.json()["spec"]["text"], "mine", "{}", forced.text());

    let impersonated = [("impersonate-user", "jane"), ("content-type", "application/json")];
    let hers = door.request("POST", NOTES, &impersonated, note("hers", "x")).await;
    assert_eq!(hers.json()["status"]["author"], "jane", "{}", hers.text());

    let gone = door.request("DELETE", &format!("{NOTES}/one"), &[], "").await;
    assert_eq!(gone.json()["status"], "Success", "{}", gone.text());
    let absent: Value = door.get(&format!("{NOTES}/one"), &[]).await.json();
    assert_eq!(absent["message"], "notes.example.trellis.dev \"one\" not found");
}
