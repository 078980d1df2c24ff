//! `kill -9` at any moment.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Value, json};
use testkit::{Client, TempPki, client::out};

use super::{registered, spec};
use crate::{
    door::{COLLECTION, Starting},
    full,
    random::{Random, seed},
};

/// What one client was told: by name, the URL that stands there; none when it was removed.
type Told = BTreeMap<String, Option<String>>;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost_when_the_door_is_killed() {
    let rounds = if full() { 100 } else { 6 };
    let (pki, state) = (Arc::new(TempPki::new()), tempfile::tempdir().unwrap());
    let start = Starting::new(&pki, state.path());
    let mut told = Told::new();
    for round in 0..rounds {
        let mut door = start.start().await;
        let mut writers = Vec::new();
        for writer in 0..4 {
            let client = door.admin().await;
            let mine = of_writer(&told, writer);
            writers.push(tokio::spawn(write(client, writer, round, mine)));
        }
        let mut random = Random::of(seed(), round as u64);
        tokio::time::sleep(Duration::from_millis(50 + random.below(700) as u64)).await;
        door.process().kill();
        let mut open = Vec::new();
        for writer in writers {
            let (mine, unanswered) = writer.await.unwrap();
            told.extend(mine);
            open.push(unanswered);
        }
        let door = start.start().await;
        let there = registered(&door).await;
        for (name, url) in
            told.iter().filter(|(name, _)| !open.iter().any(|unanswered| *unanswered == **name))
        {
            let found = there.get(name).and_then(|object| object["spec"]["url"].as_str());
            assert_eq!(found, url.as_deref(), "round {round}: {name}\n{}", door.log());
        }
        // What was not answered is there as a whole or not at all.
        for name in open {
            match there.get(&name) {
                None => told.insert(name, None),
                Some(object) => told.insert(name, Some(object["spec"]["url"].as_str().unwrap().to_owned())),
            };
        }
        assert_eq!(there.len(), told.values().flatten().count(), "{:?}", there.keys());
    }
    println!("{} registrations after {rounds} kills", told.values().flatten().count());
}

fn of_writer(told: &Told, writer: usize) -> Told {
    let prefix = format!("w{writer}-");
    told.iter()
        .filter(|(name, _)| name.starts_with(&prefix))
        .map(|(name, url)| (name.clone(), url.clone()))
        .collect()
}

/// Registers, changes and removes until the door is gone; what was acknowledged, and the name of the
/// object whose change was not.
async fn write(mut client: Client, writer: usize, round: usize, mut told: Told) -> (Told, String) {
    for number in 0.. {
        let name = match number % 3 {
            // Again and again the same one, and new ones.
            0 => format!("w{writer}-same"),
            _ => format!("w{writer}-{round}-{}", number / 3),
        };
        let url = format!("https://127.0.0.1:{}", 1000 + number);
        let known = told.get(&name).is_some_and(Option::is_some);
        let request = match (known, number % 3) {
            (false, _) => {
                request("POST", COLLECTION.to_owned(), "json", &object(&name, &spec(1000 + number)))
            }
            (true, 2) => request("DELETE", format!("{COLLECTION}/{name}"), "json", &json!({})),
            (true, _) => {
                let patch = json!({ "spec": spec(1000 + number) });
                request("PATCH", format!("{COLLECTION}/{name}"), "merge-patch+json", &patch)
            }
        };
        let removes = request.method() == "DELETE";
        let Ok(reply) = client.send(request).await else { return (told, name) };
        assert!(reply.status.is_success(), "{name}: {}", reply.text());
        told.insert(name, (!removes).then_some(url));
    }
    (told, String::new())
}

fn object(name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "federation.trellis.dev/v1alpha1", "kind": "APIServer",
        "metadata": { "name": name }, "spec": spec,
    })
}

fn request(method: &str, path: String, kind: &str, body: &Value) -> http::Request<testkit::client::OutBody> {
    let builder = http::Request::builder().method(method).uri(path);
    builder.header("content-type", format!("application/{kind}")).body(out(body.to_string())).unwrap()
}

/// Signals that are not meant to end it.
#[tokio::test(flavor = "multi_thread")]
async fn a_hangup_costs_no_request() {
    let (pki, state) = (Arc::new(TempPki::new()), tempfile::tempdir().unwrap());
    let audit = pki.dir().join("audit.log");
    let start = Starting::new(&pki, state.path()).with("audit-log", audit.display());
    let mut door = start.start().await;
    let mut client = door.admin().await;
    for number in 0..50 {
        if number % 5 == 0 {
            // As logrotate does.
            let _ = std::fs::rename(&audit, audit.with_extension("old"));
            door.process().signal("HUP");
        }
        let reply = client.get(COLLECTION, &[]).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
    door.process().signal("TERM");
    let ended = door.process().wait(Duration::from_secs(60));
    assert!(ended.is_some_and(|status| status.success()), "{}", door.log());
    let lines = fs_err::read_to_string(&audit).unwrap_or_default();
    assert!(lines.contains("apiservers"), "the audit log goes on in the new file: {lines:?}");
}
