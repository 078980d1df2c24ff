//! The machine fails under the door: it is killed, the disk is full, its files are damaged, many write
//! at once. What was acknowledged is there afterwards.

mod damage;
mod disk;
mod kill;
mod races;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::door::{COLLECTION, Door};

/// A registration of a server that nobody needs to reach.
fn spec(port: usize) -> Value {
    json!({ "url": format!("https://127.0.0.1:{port}") })
}

/// All registrations by name.
async fn registered(door: &Door) -> BTreeMap<String, Value> {
    let reply = door.admin().await.get(COLLECTION, &[]).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let list = reply.json();
    let items = list["items"].as_array().cloned().unwrap_or_default();
    items
        .into_iter()
        .map(|item| (item["metadata"]["name"].as_str().unwrap_or_default().to_owned(), item))
        .collect()
}
