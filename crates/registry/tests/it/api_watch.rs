//! The registration API: watches.

use http::StatusCode;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::support::{COLLECTION, Door, PATIENCE, request};

const URL: &str = "https://127.0.0.1:1";

/// A watch, read event by event.
struct Watch {
    body: catalog::Body,
    buffer: Vec<u8>,
    seen: std::collections::HashMap<String, (Value, Value)>,
}

impl Watch {
    async fn open(door: &Door, query: &str, accept: &str) -> Self {
        let path = format!("{COLLECTION}?watch=true{query}");
        let response = door.open(request("GET", &path, &[("accept", accept)], &Value::Null)).await;
        assert_eq!(response.status(), StatusCode::OK);
        Self { body: response.into_body(), buffer: Vec::new(), seen: Default::default() }
    }

    /// The next event that is no change of status alone.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                let event: Value = serde_json::from_slice(&line).unwrap();
                let object = &event["object"];
                let said = (object["spec"].clone(), object["metadata"]["labels"].clone());
                let before = self.seen.insert(object["metadata"]["name"].to_string(), said.clone());
                if event["type"] == "MODIFIED" && before.is_none_or(|before| before == said) {
                    continue;
                }
                return Some(event);
            }
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await.expect("no event")?;
            self.buffer.extend_from_slice(&frame.unwrap().into_data().unwrap());
        }
    }

    async fn expect(&mut self, kind: &str, name: &str) -> Value {
        let event = self.next().await.expect("the watch ended");
        assert_eq!(
            (event["type"].as_str(), event["object"]["metadata"]["name"].as_str()),
            (Some(kind), Some(name)),
            "{event}"
        );
        event
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_tells_every_change_once() {
    let door = Door::start();
    door.register("one", URL).await;
    let mut from_now = Watch::open(&door, "", "application/json").await;
    from_now.expect("ADDED", "one").await;
    let version = door.get(COLLECTION).await.1["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let mut from_list = Watch::open(&door, &format!("&resourceVersion={version}"), "application/json").await;
    door.register("two", URL).await;
    door.send("PATCH", &format!("{COLLECTION}/two"), &json!({ "metadata": { "labels": { "a": "b" } } }))
        .await;
    door.unregister("one").await;
    for watch in [&mut from_now, &mut from_list] {
        watch.expect("ADDED", "two").await;
        let changed = watch.expect("MODIFIED", "two").await;
        assert_eq!(changed["object"]["metadata"]["labels"]["a"], "b");
        watch.expect("DELETED", "one").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_for_one_name_sees_no_other() {
    let door = Door::start();
    let mut watch = Watch::open(&door, "&fieldSelector=metadata.name%3Dtwo", "application/json").await;
    door.register("one", URL).await;
    door.register("two", URL).await;
    watch.expect("ADDED", "two").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_too_old_is_gone() {
    let door = Door::start();
    let (status, answer) = door.get(&format!("{COLLECTION}?watch=1&resourceVersion=5")).await;
    assert_eq!((status, answer["reason"].as_str()), (StatusCode::GONE, Some("Expired")));
    assert!(answer["message"].as_str().unwrap().starts_with("too old resource version: 5 ("), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_streaming_list_ends_with_its_bookmark() {
    let door = Door::start();
    door.register("one", URL).await;
    let query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut watch = Watch::open(&door, query, "application/json").await;
    watch.expect("ADDED", "one").await;
    let bookmark = watch.next().await.unwrap();
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert_eq!(bookmark["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_ends_after_its_timeout() {
    let door = Door::start();
    let mut watch = Watch::open(&door, "&timeoutSeconds=1", "application/json").await;
    assert_eq!(watch.next().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_name_their_columns_once() {
    let door = Door::start();
    for name in ["one", "two"] {
        door.register(name, URL).await;
    }
    let mut watch =
        Watch::open(&door, "", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json").await;
    let (first, second) = (watch.next().await.unwrap(), watch.next().await.unwrap());
    assert!(!first["object"]["columnDefinitions"].as_array().unwrap().is_empty());
    assert!(second["object"]["columnDefinitions"].as_array().unwrap().is_empty());
    assert_eq!(second["object"]["rows"][0]["cells"][0], "two");
}
