//! Many at once.

use std::sync::Arc;

use serde_json::json;
use testkit::TempPki;

use super::{registered, spec};
use crate::door::{COLLECTION, Starting, register};

/// Of many that register the same name one succeeds, and the others are told so.
#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_gets_a_name() {
    let (pki, state) = (Arc::new(TempPki::new()), tempfile::tempdir().unwrap());
    let start = Starting::new(&pki, state.path());
    let door = start.start().await;
    let client = door.admin().await;
    let mut winners = Vec::new();
    for name in ["one", "two", "three"] {
        let mut tasks = Vec::new();
        for number in 0..60 {
            let mut client = client.share();
            tasks.push(tokio::spawn(async move {
                let reply = register(&mut client, name, &spec(2000 + number)).await;
                (number, reply)
            }));
        }
        let mut won = Vec::new();
        for task in tasks {
            let (number, reply) = task.await.unwrap();
            match reply.status.as_u16() {
                201 => won.push(number),
                409 => assert_eq!(reply.json()["reason"], "AlreadyExists", "{}", reply.text()),
                _ => panic!("{}: {}", reply.status, reply.text()),
            }
        }
        assert_eq!(won.len(), 1, "{name}: {won:?}");
        winners.push((name, won[0]));
    }
    let check = |there: std::collections::BTreeMap<String, serde_json::Value>| {
        for (name, number) in &winners {
            assert_eq!(there[*name]["spec"], spec(2000 + number), "{name}");
        }
    };
    check(registered(&door).await);
    drop(door);
    check(registered(&start.start().await).await);
}

/// Of many that change what they read one succeeds, and the others are told that it has changed.
#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_changes_what_it_read() {
    let (pki, state) = (Arc::new(TempPki::new()), tempfile::tempdir().unwrap());
    let door = Starting::new(&pki, state.path()).start().await;
    let mut client = door.admin().await;
    let reply = register(&mut client, "one", &spec(1)).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    let path = format!("{COLLECTION}/one");
    for round in 0..5 {
        // The status may change between, and with it the version: that is a change like any other.
        let mut read = client.get(&path, &[]).await.json();
        let mut tasks = Vec::new();
        for number in 0..20 {
            let mut client = client.share();
            let (path, port) = (path.clone(), 3000 + 100 * round + number);
            read["spec"] = spec(port);
            let body = read.to_string();
            tasks.push(tokio::spawn(async move {
                client.request("PUT", &path, &[("content-type", "application/json")], body).await
            }));
        }
        let mut changed = 0;
        for task in tasks {
            let reply = task.await.unwrap();
            match reply.status.as_u16() {
                200 => changed += 1,
                409 => assert_eq!(reply.json()["reason"], "Conflict", "{}", reply.text()),
                _ => panic!("{}: {}", reply.status, reply.text()),
            }
        }
        assert!(changed <= 1, "{changed} of them changed the same version");
    }
    // Without a version the last one wins, and none is refused.
    let mut tasks = Vec::new();
    for number in 0..20 {
        let (mut client, path) = (client.share(), path.clone());
        let patch = json!({ "metadata": { "labels": { format!("l{number}"): "x" } } }).to_string();
        tasks.push(tokio::spawn(async move {
            client.request("PATCH", &path, &[("content-type", "application/merge-patch+json")], patch).await
        }));
    }
    for task in tasks {
        let reply = task.await.unwrap();
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
    let labels = client.get(&path, &[]).await.json()["metadata"]["labels"].clone();
    assert_eq!(labels.as_object().map(serde_json::Map::len), Some(20), "{labels}");
}
