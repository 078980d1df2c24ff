//! Everybody else, while broken servers let their clients wait.

use std::sync::Arc;

use serde_json::Value;
use testkit::{Client, FakeServer, Serving, TempPki};

use super::{Held, rows::NEIGHBOUR, things};
use crate::door::{COLLECTION, Door, get_until, register};

const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// Asks the door for everything that does not concern a broken server. Each answer has to be there
/// while all of `held` are still waiting for theirs: who waits on a broken server comes after them.
pub(crate) async fn others_are_served(door: &Door, pki: &Arc<TempPki>, held: &[Held], round: usize) {
    let alice = door.user("alice", &["dev"]);
    for mut client in [Client::http1(&alice).await.unwrap(), Client::http2(&alice).await.unwrap()] {
        for (path, accept, expected) in [
            (format!("/apis/{NEIGHBOUR}/v1/things"), "application/json", "items"),
            ("/apis".to_owned(), "application/json", NEIGHBOUR),
            ("/apis".to_owned(), AGGREGATED, NEIGHBOUR),
            (format!("/apis/{NEIGHBOUR}/v1"), "application/json", "things"),
            ("/openapi/v3".to_owned(), "application/json", NEIGHBOUR),
            (format!("/openapi/v3/apis/{NEIGHBOUR}/v1"), "application/json", "paths"),
            ("/openapi/v2".to_owned(), "application/json", NEIGHBOUR),
            ("/readyz".to_owned(), "*/*", "ok"),
            ("/version".to_owned(), "*/*", "gitVersion"),
        ] {
            let reply = client.get(&path, &[("accept", accept)]).await;
            assert_eq!(reply.status, 200, "{path}: {}", reply.text());
            assert!(reply.text().contains(expected), "{path}: {}", reply.text());
            still_waiting(held, &path);
        }
    }
    a_server_comes_and_goes(door, pki, held, round).await;
}

async fn a_server_comes_and_goes(door: &Door, pki: &Arc<TempPki>, held: &[Held], round: usize) {
    let (name, group) = (format!("newcomer-{round}"), format!("newcomer-{round}.example.com"));
    let server = FakeServer::builder().tls(pki, Serving::Good).group(things(&group)).start().await;
    let (mut admin, mut alice) = (door.admin().await, door.alice().await);
    let reply = register(&mut admin, &name, &door.spec_of(&server)).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    still_waiting(held, "to register a server");
    get_until(&mut alice, &format!("/apis/{group}/v1/things"), 200).await;
    still_waiting(held, "the first answer of a new server");
    let discovery: Value = alice.get("/apis", &[("accept", AGGREGATED)]).await.json();
    assert!(discovery.to_string().contains(&group));
    assert!(!discovery.to_string().contains("Stale"), "what was seen once stays current: {discovery}");
    let reply = admin.request("DELETE", &format!("{COLLECTION}/{name}"), &[], "").await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    get_until(&mut alice, &format!("/apis/{group}/v1/things"), 404).await;
    still_waiting(held, "to unregister a server");
}

fn still_waiting(held: &[Held], what: &str) {
    let answered: Vec<_> = held.iter().filter(|held| held.task.is_finished()).map(|held| held.name).collect();
    assert!(answered.is_empty(), "{what} came only after the answers of {answered:?}");
}
