use std::time::Duration;

use http::Request;
use http_body_util::BodyExt as _;
use testkit::{Act, Client, FakeServer, Serving, Target, TempPki, client::out};

async fn clear() -> (FakeServer, Target) {
    let server = FakeServer::builder().start().await;
    let target = Target::clear(server.address());
    (server, target)
}

fn get(path: &str) -> Request<testkit::client::OutBody> {
    Request::get(path).body(out("")).unwrap()
}

#[tokio::test]
async fn scripted_answers() {
    let (server, target) = clear().await;
    let cases: [(&str, u16, &str, &str); 8] = [
        ("/?act=status:503", 503, "application/json", "ServiceUnavailable"),
        ("/?act=plain-status:500", 500, "text/plain; charset=utf-8", "the script"),
        ("/?act=wrong-content-type", 200, "text/html", "<html>"),
        ("/?act=invalid-json", 200, "application/json", "{\"kind\""),
        ("/?act=redirect:https://elsewhere/", 302, "text/plain", ""),
        ("/?act=drip:1", 200, "application/json", "Success"),
        ("/?act=bytes:5", 200, "application/octet-stream", "ahovc"),
        ("/?act=trailers", 200, "application/json", "{}"),
    ];
    for (path, status, content_type, part) in cases {
        let mut client = Client::http1(&target).await.unwrap();
        let reply = client.get(path, &[("te", "trailers")]).await;
        assert_eq!((reply.status.as_u16(), reply.header("content-type")), (status, content_type), "{path}");
        assert!(reply.text().contains(part), "{path}: {}", reply.text());
    }
    server.act("/apis", Act::Status(503));
    let mut client = Client::http1(&target).await.unwrap();
    assert_eq!(client.get("/apis", &[]).await.status, 503);
    assert_eq!(client.get("/healthz", &[]).await.status, 200);
    server.behave();
    assert_eq!(client.get("/apis", &[]).await.status, 200);
}

#[tokio::test]
async fn many_groups_are_valid_json_in_both_forms() {
    let (_server, target) = clear().await;
    let mut client = Client::http1(&target).await.unwrap();
    for (accept, list) in
        [("application/json;as=APIGroupDiscoveryList", "items"), ("application/json", "groups")]
    {
        let document = client.get("/apis?act=many-groups:2500", &[("accept", accept)]).await.json();
        assert_eq!(document[list].as_array().map(Vec::len), Some(2500));
    }
    let huge = client.get("/apis?act=huge-discovery:200000", &[]).await;
    assert!(huge.body.len() > 200_000);
    assert_eq!(huge.json()["items"][0]["metadata"]["name"], "huge.example.com");
}

#[tokio::test]
async fn hangs_end_when_the_client_gives_up() {
    let (server, target) = clear().await;
    for (round, path) in ["/?act=hang", "/?act=hang-body", "/?act=events:3600000"].iter().enumerate() {
        let mut client = Client::http1(&target).await.unwrap();
        let request = client.send(get(path));
        let given_up = tokio::select! {
            ended = request => panic!("{path} ended: {ended:?}"),
            () = server.wait_started(round + 1) => tokio::time::sleep(Duration::from_millis(50)),
        };
        given_up.await;
        drop(client);
        server.wait_cancelled(round + 1).await;
    }
}

#[tokio::test]
async fn bodies_without_end_and_cut_bodies() {
    let (_server, target) = clear().await;
    let mut client = Client::http1(&target).await.unwrap();
    let mut body = client.open(get("/?act=endless-body")).await.unwrap().into_body();
    let mut read = 0;
    while read < 10 << 20 {
        read += body.frame().await.unwrap().unwrap().into_data().unwrap().len();
    }
    let mut client = Client::http1(&target).await.unwrap();
    assert!(client.send(get("/?act=truncate")).await.is_err());
}

#[tokio::test]
async fn streams_are_refused_and_connections_wound_up() {
    let pki = TempPki::new();
    let server = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let target = Target::tls(server.address(), pki.server_ca.certificate_pem());
    let reason = |error: hyper::Error| {
        let source = std::error::Error::source(&error).expect("a source");
        source.downcast_ref::<h2::Error>().expect("an error of h2").reason()
    };
    let mut client = Client::http2(&target).await.unwrap();
    for (act, expected) in [("refuse", h2::Reason::REFUSED_STREAM), ("reset", h2::Reason::INTERNAL_ERROR)] {
        let error = client.send(get(&format!("/?act={act}"))).await.unwrap_err();
        assert_eq!(reason(error), Some(expected));
    }
    assert_eq!(client.get("/healthz", &[]).await.status, 200, "the connection lives on");

    server.goaway_every(2);
    let mut client = Client::http2(&target).await.unwrap();
    for _ in 0..2 {
        assert_eq!(client.get("/healthz", &[]).await.status, 200);
    }
    let mut left = 0;
    while client.send(get("/healthz")).await.is_ok() {
        left += 1;
        assert!(left < 100, "GOAWAY never came");
    }

    server.behave();
    server.goaway_first(1);
    let mut client = Client::http2(&target).await.unwrap();
    let received = server.requests().len();
    assert!(client.send(get("/healthz")).await.is_err());
    assert_eq!(server.requests().len(), received, "it was not processed");
    let mut client = Client::http2(&target).await.unwrap();
    assert_eq!(client.get("/healthz", &[]).await.status, 200);
}

#[tokio::test]
async fn killed_frozen_half_open_and_back() {
    let (server, target) = clear().await;
    let mut client = Client::http1(&target).await.unwrap();
    assert_eq!(client.get("/healthz", &[]).await.status, 200);
    server.kill().await;
    assert!(client.send(get("/healthz")).await.is_err());
    assert!(Client::http1(&target).await.is_err());
    server.restart().await;
    let mut client = Client::http1(&target).await.unwrap();
    assert_eq!(client.get("/healthz", &[]).await.status, 200);

    server.freeze(true);
    let frozen = client.send(get("/healthz"));
    let mut frozen = std::pin::pin!(frozen);
    assert!(tokio::time::timeout(Duration::from_millis(100), &mut frozen).await.is_err());
    server.freeze(false);
    assert_eq!(frozen.await.unwrap().status, 200);

    server.half_open(true);
    let mut silent = Client::http1(&target).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(100), silent.send(get("/healthz"))).await.is_err());
    server.behave();
    server.garbage(true);
    let mut confused = Client::http1(&target).await.unwrap();
    assert!(confused.send(get("/healthz")).await.is_err());
}
