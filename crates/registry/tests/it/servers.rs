//! Servers that do what they should.

use std::sync::Arc;

use catalog::{Cause, Form, Observation, ServerName};
use serde_json::json;
use testkit::{Act, FakeServer, Group, Resource, Serving, TempPki};

use crate::support::{Door, discovery, routed};

const GROUP: &str = "wardle.example.com";

#[tokio::test(flavor = "multi_thread")]
async fn a_registered_server_is_in_discovery_and_openapi() {
    let server = FakeServer::builder().start().await;
    let door = Door::start();
    door.register("wardle", &server.url()).await;
    let catalog = door.catalog_until(|c| routed(c, GROUP, "v1", "wardle")).await;
    assert_eq!(discovery(&catalog, &format!("/apis/{GROUP}"), Form::Legacy)["versions"][0]["version"], "v1");
    let lists = discovery(&catalog, &format!("/apis/{GROUP}/v1"), Form::Legacy);
    assert_eq!(lists["resources"][0]["name"], "flunders");

    let path = format!("apis/{GROUP}/v1");
    let catalog = door.catalog_until(|c| c.openapi_v3(&path).is_some()).await;
    let document = door.registry.documents().get(catalog.openapi_v3(&path).unwrap()).unwrap();
    assert!(serde_json::from_slice::<serde_json::Value>(&document).unwrap()["openapi"].is_string());
    let health = door.health_until("wardle", |h| h.group_versions == [format!("{GROUP}/v1")]).await;
    assert_eq!(health.source, "APIServer");
    assert!(health.last_discovery.text().is_some());
    door.condition_until("wardle", "Available", "Passed").await;
    door.condition_until("wardle", "Degraded", "AsExpected").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_server_is_understood() {
    let pki = TempPki::new();
    let ca = pki.server_ca.certificate_pem().to_vec();
    let kinds = [
        ("legacy", FakeServer::builder().legacy_discovery_only().start().await),
        ("v2-only", FakeServer::builder().openapi_v2_only().start().await),
        ("h1", FakeServer::builder().tls(&pki, Serving::Good).http1_only().start().await),
        ("h2", FakeServer::builder().tls(&pki, Serving::Good).http2_only().start().await),
    ];
    for (name, server) in kinds {
        let door = Door::start();
        let mut spec = json!({ "url": server.url() });
        if server.url().starts_with("https") {
            spec["caBundle"] = base64(&ca).into();
        }
        door.register_with(name, spec).await;
        let catalog = door.catalog_until(|c| routed(c, GROUP, "v1", name)).await;
        let legacy = discovery(&catalog, &format!("/apis/{GROUP}/v1"), Form::Legacy);
        assert_eq!(legacy["resources"][0]["name"], "flunders", "{name}");
        let aggregated = discovery(&catalog, "/apis", Form::Aggregated);
        assert!(aggregated.to_string().contains("flunders"), "{name}: {aggregated}");
        door.condition_until(name, "Available", "Passed").await;
        // Also where there is only the v2 document.
        let path = format!("apis/{GROUP}/v1");
        let catalog = door.catalog_until(|c| c.openapi_v3(&path).is_some()).await;
        let document = door.registry.documents().get(catalog.openapi_v3(&path).unwrap()).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
        assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.0")), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_that_a_server_adds_and_drops_are_followed() {
    let server = FakeServer::builder().start().await;
    let door = Door::start();
    door.register("wardle", &server.url()).await;
    door.catalog_until(|c| routed(c, GROUP, "v1", "wardle")).await;
    let things = Group::new("things.example.com", "v2", [Resource::cluster("things", "Thing")]);
    server.set_groups([things.clone()]);
    door.catalog_until(|c| {
        routed(c, "things.example.com", "v2", "wardle") && !routed(c, GROUP, "v1", "wardle")
    })
    .await;
    let path = "apis/things.example.com/v2";
    door.catalog_until(|c| c.openapi_v3(path).is_some()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unchanged_servers_are_asked_with_conditions() {
    let pki = TempPki::new();
    let server = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let door = Door::start();
    let ca = base64(pki.server_ca.certificate_pem());
    door.register_with("wardle", json!({ "url": server.url(), "caBundle": ca })).await;
    let path = format!("apis/{GROUP}/v1");
    door.catalog_until(|c| c.openapi_v3(&path).is_some()).await;
    let generation = door.catalog().generation();
    server.forget_requests();
    server.wait_received(6).await;
    let asked = server.requests();
    let conditional = asked.iter().filter(|request| !request.header("if-none-match").is_empty()).count();
    assert!(conditional * 2 >= asked.len(), "{asked:#?}");
    assert_eq!(door.catalog().generation(), generation, "nothing changed, so nothing is built");
    assert_eq!(server.accepted_connections(), 2, "one for documents, one to be kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unregistered_server_is_gone_at_once() {
    let server = FakeServer::builder().start().await;
    let door = Door::start();
    door.register("wardle", &server.url()).await;
    door.catalog_until(|c| routed(c, GROUP, "v1", "wardle")).await;
    door.unregister("wardle").await;
    let catalog = door.catalog_until(|c| c.server(&ServerName::new("wardle")).is_none()).await;
    assert!(catalog.discovery(&format!("/apis/{GROUP}"), Form::Legacy).is_none());
    let mut reports = door.registry.health();
    let gone = reports.wait_for(|report| !report.servers.iter().any(|s| s.name.as_str() == "wardle"));
    tokio::time::timeout(crate::support::PATIENCE, gone).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_dead_endpoint_of_two_degrades() {
    let server = FakeServer::builder().start().await;
    let dead = FakeServer::builder().start().await;
    let door = Door::start();
    dead.kill().await;
    let endpoints = json!([server.url(), dead.url()]);
    door.register_with("wardle", json!({ "endpoints": endpoints })).await;
    door.catalog_until(|c| routed(c, GROUP, "v1", "wardle")).await;
    let condition = door.condition_until("wardle", "Degraded", "EndpointsFailing").await;
    assert!(condition.message.contains("ConnectionRefused"), "{}", condition.message);
    door.condition_until("wardle", "Available", "Passed").await;

    dead.restart().await;
    door.condition_until("wardle", "Degraded", "AsExpected").await;
    server.kill().await;
    door.condition_until("wardle", "Degraded", "EndpointsFailing").await;
    door.condition_until("wardle", "Available", "Passed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_data_path_sees_leads_to_a_probe() {
    let server = FakeServer::builder().start().await;
    let door = Door::with(|config| config.polling.discovery = std::time::Duration::from_secs(3600));
    door.register("wardle", &server.url()).await;
    door.condition_until("wardle", "Available", "Passed").await;
    server.kill().await;
    let failure = catalog::Failure::new(Cause::ConnectionRefused, "seen by a request");
    let observation = Observation::Failed { endpoint: server.address().to_string(), failure };
    door.registry.observer().observe(&ServerName::new("wardle"), observation);
    door.condition_until("wardle", "Available", "ConnectionRefused").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_identity_of_the_door_travels_as_registered() {
    for (mode, present, absent) in [
        ("requestHeader", "x-remote-user", "impersonate-user"),
        ("impersonate", "impersonate-user", "x-remote-user"),
        ("passThrough", "accept", "x-remote-user"),
    ] {
        let server = FakeServer::builder().start().await;
        let door = Door::start();
        door.register_with("wardle", json!({ "url": server.url(), "identity": mode })).await;
        door.catalog_until(|c| routed(c, GROUP, "v1", "wardle")).await;
        let first = server.requests().into_iter().find(|request| request.target == "/apis").unwrap();
        assert!(!first.header(present).is_empty() && first.header(absent).is_empty(), "{mode}: {first:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_refuses_impersonation_says_so_and_keeps_its_discovery() {
    let server = FakeServer::builder()
        .handler(|request| {
            let impersonates = !request.header("impersonate-user").is_empty();
            impersonates.then(|| {
                testkit::fake::json(
                    http::StatusCode::FORBIDDEN,
                    &json!({ "kind": "Status", "message": "User \"door\" cannot impersonate resource \"users\"" }),
                )
            })
        })
        .start()
        .await;
    let door = Door::start();
    door.register_with("wardle", json!({ "url": server.url(), "identity": "impersonate" })).await;
    door.catalog_until(|c| routed(c, GROUP, "v1", "wardle")).await;
    let condition = door.condition_until("wardle", "IdentityRejected", "IdentityRejected").await;
    assert!(condition.message.contains("cannot impersonate"), "{}", condition.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_slow_server_keeps_nobody_waiting() {
    let slow = FakeServer::builder().start().await;
    slow.act("/", Act::Hang);
    let server = FakeServer::builder().start().await;
    let door = Door::with(|config| {
        config.polling.head_timeout = std::time::Duration::from_secs(3600);
        config.polling.discovery_timeout = std::time::Duration::from_secs(3600);
    });
    door.register("slow", &slow.url()).await;
    slow.wait_started(1).await;
    door.register("wardle", &server.url()).await;
    // The slow one would be waited for during an hour.
    door.catalog_until(|c| routed(c, GROUP, "v1", "wardle")).await;
    door.unregister("slow").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn own_certificates_reach_servers_and_are_replaced() {
    let pki = TempPki::new();
    let ca = pki.server_ca.certificate_pem().to_vec();
    let server = FakeServer::builder()
        .tls(&pki, Serving::Good)
        .require_client(pki.client_ca.certificate_pem())
        .start()
        .await;
    let own = pki.user("door", &[]);
    let (sender, receiver) = tokio::sync::watch::channel(None);
    let door = Door::with(|config| config.client_certificate = receiver);
    door.register_with("wardle", json!({ "url": server.url(), "caBundle": base64(&ca) })).await;
    door.health_until("wardle", |h| h.endpoints.iter().any(|e| e.failure.is_some())).await;
    let before = door.catalog().server(&ServerName::new("wardle")).map(|s| s.revision);
    sender.send_replace(Some(catalog::ClientCertificate {
        chain: Arc::from(own.chain_pem()),
        key: catalog::Secret::new(own.key_pem()),
    }));
    door.catalog_until(|c| routed(c, GROUP, "v1", "wardle")).await;
    let after = door.catalog().server(&ServerName::new("wardle")).map(|s| s.revision);
    assert_ne!(before, after, "connections with the old certificate are not used any more");
}

pub fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
