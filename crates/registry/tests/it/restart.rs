//! What is there before anybody is asked.

use catalog::Form;
use testkit::{Act, FakeServer};

use crate::support::{Door, discovery, routed};

const GROUP: &str = "wardle.example.com";

#[tokio::test(flavor = "multi_thread")]
async fn discovery_and_openapi_are_whole_although_all_servers_are_dead() {
    let server = FakeServer::builder().start().await;
    let door = Door::start();
    door.register("wardle", &server.url()).await;
    let path = format!("apis/{GROUP}/v1");
    let before = door.catalog_until(|c| c.openapi_v3(&path).is_some()).await;
    // The server's own list of the version follows shortly after its groups.
    door.condition_until("wardle", "Degraded", "AsExpected").await;
    server.kill().await;
    let door = door.restart().await;
    // Not waited for: this is what `start` returned with.
    let after = door.catalog();
    assert!(routed(&after, GROUP, "v1", "wardle"));
    for (path, form) in
        [("/apis", Form::Legacy), ("/apis", Form::Aggregated), ("/apis/wardle.example.com/v1", Form::Legacy)]
    {
        assert_eq!(discovery(&after, path, form), discovery(&before, path, form), "{path}");
    }
    assert!(discovery(&after, "/apis", Form::Aggregated).to_string().contains("Current"));
    let document = after.openapi_v3(&path).unwrap();
    assert_eq!(before.openapi_v3(&path), Some(document));
    assert!(door.registry.documents().get(document).is_ok());
    door.condition_until("wardle", "Available", "ConnectionRefused").await;
    assert!(routed(&door.catalog(), GROUP, "v1", "wardle"));

    server.restart().await;
    door.condition_until("wardle", "Available", "Passed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_never_seen_is_registered_nevertheless() {
    let server = FakeServer::builder().start().await;
    server.act("/", Act::Hang);
    let door = Door::start();
    door.register("hung", &server.url()).await;
    let door = door.restart().await;
    assert!(door.catalog().server(&catalog::ServerName::new("hung")).is_some());
    server.behave();
    door.catalog_until(|c| routed(c, GROUP, "v1", "hung")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_server_under_the_same_name_starts_from_nothing() {
    let (old, new) = (FakeServer::builder().start().await, FakeServer::builder().start().await);
    let door = Door::start();
    door.register("wardle", &old.url()).await;
    door.catalog_until(|c| routed(c, GROUP, "v1", "wardle")).await;
    new.act("/", Act::Hang);
    door.unregister("wardle").await;
    door.register("wardle", &new.url()).await;
    door.catalog_until(|c| !routed(c, GROUP, "v1", "wardle")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_records_are_fetched_again() {
    let server = FakeServer::builder().start().await;
    let door = Door::start();
    door.register("wardle", &server.url()).await;
    let path = format!("apis/{GROUP}/v1");
    door.catalog_until(|c| c.openapi_v3(&path).is_some()).await;
    door.registry.shutdown().await;
    std::fs::write(door.state().join("servers/wardle.json"), "{\"format\":").unwrap();
    std::fs::write(door.state().join("ownership.json"), "nonsense").unwrap();
    for entry in std::fs::read_dir(door.state().join("documents")).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let door = door.restart().await;
    let catalog = door.catalog_until(|c| c.openapi_v3(&path).is_some()).await;
    assert!(door.registry.documents().get(catalog.openapi_v3(&path).unwrap()).is_ok());
}
