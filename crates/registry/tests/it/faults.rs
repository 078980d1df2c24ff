//! Servers that do not do what they should: each fault has its reason, one sentence of advice, and costs
//! nobody else anything.

use std::time::Duration;

use serde_json::json;
use testkit::{Act, FakeServer, Serving, TempPki};

use crate::{
    servers::base64,
    support::{Door, routed},
};

const GROUP: &str = "wardle.example.com";

/// What a server does, and the reason that its condition `Available` gets.
fn acts() -> Vec<(Act, &'static str)> {
    vec![
        (Act::Hang, "ResponseTimeout"),
        (Act::HangBody, "ResponseTimeout"),
        (Act::Drip(Duration::from_millis(200)), "ResponseTimeout"),
        (Act::WrongContentType, "WrongContentType"),
        (Act::EndlessBody, "DocumentTooLarge"),
        (Act::HugeDiscovery(1 << 30), "DocumentTooLarge"),
        (Act::ManyGroups(2_001), "TooManyGroups"),
        (Act::Redirect("https://elsewhere.example.com/".to_owned()), "RedirectRefused"),
        (Act::InvalidJson, "InvalidDocument"),
        (Act::Status(500), "UnexpectedStatus"),
        (Act::PlainStatus(503), "UnexpectedStatus"),
        (Act::Status(401), "IdentityRejected"),
        (Act::Status(403), "Forbidden"),
        (Act::Truncate, "ConnectionLost"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_an_answer_has_its_reason() {
    let door = Door::with(|config| config.polling.discovery_bytes = 512 << 10);
    let mut servers = Vec::new();
    for (number, (act, reason)) in acts().into_iter().enumerate() {
        let server = FakeServer::builder().start().await;
        server.act("/", act.clone());
        let name = format!("server-{number}");
        door.register(&name, &server.url()).await;
        servers.push((server, name, act, reason));
    }
    let good = FakeServer::builder().start().await;
    door.register("good", &good.url()).await;
    door.catalog_until(|c| routed(c, GROUP, "v1", "good")).await;
    for (server, name, act, reason) in &servers {
        let health = door
            .health_until(name, |h| {
                h.conditions.iter().any(|c| c.kind == "Available" && c.status == Some(false))
            })
            .await;
        let condition = health.conditions.iter().find(|c| c.kind == "Available").unwrap();
        assert_eq!(condition.reason, *reason, "{act:?}: {}", condition.message);
        assert!(condition.message.ends_with('.'), "{act:?}: {}", condition.message);
        server.behave();
        door.condition_until(name, "Available", "Passed").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_tls_has_its_reason() {
    let pki = TempPki::new();
    let ca = base64(pki.server_ca.certificate_pem());
    let cases = [
        (Serving::WrongName, "CertificateNameMismatch"),
        (Serving::Expired, "CertificateExpired"),
        (Serving::NotYetValid, "CertificateExpired"),
        (Serving::UnknownAuthority, "UnknownAuthority"),
    ];
    let door = Door::start();
    for (number, (serving, reason)) in cases.into_iter().enumerate() {
        let server = FakeServer::builder().tls(&pki, serving).start().await;
        let name = format!("server-{number}");
        door.register_with(&name, json!({ "url": server.url(), "caBundle": ca })).await;
        let condition = door.condition_until(&name, "Available", reason).await;
        assert!(condition.message.len() > 40, "{}", condition.message);
    }
    let server = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    door.register_with("good", json!({ "url": server.url(), "caBundle": ca })).await;
    door.condition_until("good", "Available", "Passed").await;
    door.condition_until("good", "CertificateExpiring", "Valid").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_ends_soon_is_reported() {
    let pki = TempPki::new();
    let ca = base64(pki.server_ca.certificate_pem());
    let server = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let door = Door::with(|config| config.polling.expiry_warning = Duration::from_secs(10 * 365 * 24 * 3600));
    door.register_with("wardle", json!({ "url": server.url(), "caBundle": ca })).await;
    let condition = door.condition_until("wardle", "CertificateExpiring", "EndsSoon").await;
    assert_eq!(condition.status, Some(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_servers_are_told_apart() {
    let killed = FakeServer::builder().start().await;
    killed.kill().await;
    let garbage = FakeServer::builder().start().await;
    garbage.garbage(true);
    let half_open = FakeServer::builder().start().await;
    half_open.half_open(true);
    let door = Door::start();
    for (name, url, reason) in [
        ("killed", killed.url(), "ConnectionRefused"),
        ("garbage", garbage.url(), "ProtocolError"),
        ("half-open", half_open.url(), "ResponseTimeout"),
        ("nowhere", "https://nowhere.invalid".to_owned(), "NameNotResolved"),
    ] {
        door.register(name, &url).await;
        door.condition_until(name, "Available", reason).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_openapi_degrades_and_keeps_the_last_good_copy() {
    let server = FakeServer::builder().start().await;
    let door = Door::start();
    door.register("wardle", &server.url()).await;
    let path = format!("apis/{GROUP}/v1");
    let catalog = door.catalog_until(|c| c.openapi_v3(&path).is_some()).await;
    let before = catalog.openapi_v3(&path).unwrap().clone();
    for (act, reason) in [
        (Act::EndlessBody, "DocumentTooLarge"),
        (Act::WrongContentType, "WrongContentType"),
        (Act::Status(500), "UnexpectedStatus"),
    ] {
        server.act("/openapi", act);
        door.condition_until("wardle", "Degraded", reason).await;
        door.condition_until("wardle", "Available", "Passed").await;
        assert_eq!(door.catalog().openapi_v3(&path), Some(&before));
        server.behave();
        door.condition_until("wardle", "Degraded", "AsExpected").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn discovery_stays_whole_when_a_server_goes_bad() {
    let server = FakeServer::builder().start().await;
    let door = Door::start();
    door.register("wardle", &server.url()).await;
    door.catalog_until(|c| routed(c, GROUP, "v1", "wardle")).await;
    door.condition_until("wardle", "Degraded", "AsExpected").await;
    let before = door.catalog().generation();
    server.act("/", Act::InvalidJson);
    door.condition_until("wardle", "Available", "InvalidDocument").await;
    let catalog = door.catalog();
    assert!(routed(&catalog, GROUP, "v1", "wardle"));
    let aggregated = crate::support::discovery(&catalog, "/apis", catalog::Form::Aggregated).to_string();
    assert!(aggregated.contains("flunders") && !aggregated.contains("Stale"), "{aggregated}");
    assert!(catalog.generation() <= before + 1, "the health of a server is no matter of the catalog");
}
