//! Time and room: what takes too long or too much is refused, for whoever asked and for nobody else.

use std::{sync::Arc, time::Duration};

use gateway::Limits;
use http::Request;
use testkit::{
    Act, Client, FakeServer, Serving, TempPki,
    client::{Raw, out},
};

use crate::door::{Backend, Door, FLUNDERS, backend, backend_http1};

const LONG: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread")]
async fn ordinary_requests_end_with_their_time_and_watches_do_not() {
    let limits = Limits { request_timeout: Duration::from_millis(300), ..Limits::default() };
    for (pki, server) in [backend().await, backend_http1().await] {
        let door = Door::with_limits(&pki, vec![Backend::wardle(&pki, &[&server])], limits.clone()).await;
        for mut client in [door.http1().await, door.http2().await] {
            let late = client.get(&format!("{FLUNDERS}?act=hang"), &[]).await;
            assert_eq!(late.status, 504);
            assert_eq!(late.json()["reason"], "Timeout");
            server.wait_cancelled(1).await;
            let path = format!("{FLUNDERS}?watch=true&act=events:20");
            let watched = tokio::time::timeout(Duration::from_secs(1), client.get(&path, &[])).await;
            assert!(watched.is_err(), "a watch does not end by itself");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_end_in_time_breaks_off() {
    let limits = Limits { request_timeout: Duration::from_millis(300), ..Limits::default() };
    let (pki, server) = backend().await;
    let door = Door::with_limits(&pki, vec![Backend::wardle(&pki, &[&server])], limits).await;
    for mut client in [door.http1().await, door.http2().await] {
        let request = Request::get(format!("{FLUNDERS}?act=hang-body")).body(out("")).unwrap();
        let answer = client.open(request).await.unwrap();
        assert_eq!(answer.status(), 200);
        let body = tokio::time::timeout(LONG, http_body_util::BodyExt::collect(answer.into_body())).await;
        assert!(body.expect("an end").is_err());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_may_ask_for_less_time() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut client = door.http2().await;
    let late = client.get(&format!("{FLUNDERS}?timeout=200ms&act=hang"), &[]).await;
    assert_eq!((late.status.as_u16(), late.json()["reason"].as_str()), (504, Some("Timeout")));
    let bad = client.get(&format!("{FLUNDERS}?timeout=abc"), &[]).await;
    assert_eq!(bad.status, 400);
    let words = "invalid timeout specified in the request URL - time: invalid duration \"abc\"";
    assert_eq!(bad.json()["message"], words);
}

/// Requests in flight: reading and writing ones apart, masters and watches not counted.
#[tokio::test(flavor = "multi_thread")]
async fn too_many_in_flight_are_told_to_come_back() {
    let limits = Limits { max_in_flight: 1, max_mutating_in_flight: 1, ..Limits::default() };
    let (pki, server) = backend().await;
    let door = Door::with_limits(&pki, vec![Backend::wardle(&pki, &[&server])], limits).await;
    let mut client = door.http2().await;
    let mut hanging = client.share();
    let hang = tokio::spawn(async move { hanging.get(&format!("{FLUNDERS}?act=hang"), &[]).await });
    server.wait_received(1).await;

    let refused = client.get(FLUNDERS, &[]).await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "1"));
    assert_eq!(refused.json()["message"], "Too many requests, please try again later.");
    let written = client.request("POST", &format!("{FLUNDERS}?act=echo"), &[], "{}").await;
    assert_eq!(written.status, 200, "writing has its own places");
    let request = Request::get(format!("{FLUNDERS}?watch=true")).body(out("")).unwrap();
    assert_eq!(client.open(request).await.unwrap().status(), 200, "a watch takes no place");
    let mut admin = Client::http2(&door.admin()).await.unwrap();
    assert_eq!(admin.get(FLUNDERS, &[]).await.status, 200, "masters are never refused");

    hang.abort();
    let _ = hang.await;
    server.wait_cancelled(1).await;
    assert_eq!(eventually(&mut client).await, 200, "the place is free again");
}

/// The status of a GET once it is not 429 any more.
async fn eventually(client: &mut Client) -> u16 {
    for _ in 0..200 {
        let status = client.get(FLUNDERS, &[]).await.status.as_u16();
        if status != 429 {
            return status;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    429
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servers_own_limits_refuse_for_that_server_alone() {
    let pki = Arc::new(TempPki::new());
    let small = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let other = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let limited = Backend::wardle(&pki, &[&small]).limits(|limits| {
        limits.max_in_flight = 1;
        limits.max_body_bytes = Some(10);
    });
    let backends = vec![limited, Backend::federated("other", "other.example.com", &pki, &[&other])];
    let door = Door::start(&pki, backends).await;
    let mut client = door.http2().await;
    let mut hanging = client.share();
    let hang = tokio::spawn(async move { hanging.get(&format!("{FLUNDERS}?act=hang"), &[]).await });
    small.wait_received(1).await;
    let refused = client.get(FLUNDERS, &[]).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert_eq!(refused.header("retry-after"), "1");
    assert!(refused.text().contains("wardle"), "{}", refused.text());
    let elsewhere = client.get("/apis/other.example.com/v1/things", &[]).await;
    assert_eq!(elsewhere.status, 404, "the other server answered");
    assert_eq!(other.requests().len(), 1);
    hang.abort();
    let _ = hang.await;
    small.wait_cancelled(1).await;
    assert_eq!(eventually(&mut client).await, 200);

    let too_large = client.request("POST", FLUNDERS, &[], "more than ten bytes").await;
    assert_eq!(
        (too_large.status.as_u16(), too_large.json()["reason"].as_str()),
        (413, Some("RequestEntityTooLarge"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_and_large_heads_and_bodies_are_dropped() {
    let limits = Limits {
        handshake_timeout: Duration::from_millis(300),
        header_timeout: Duration::from_millis(300),
        body_stall_timeout: Duration::from_millis(300),
        max_head_bytes: 8192,
        ..Limits::default()
    };
    let (pki, server) = backend().await;
    let door = Door::with_limits(&pki, vec![Backend::wardle(&pki, &[&server])], limits).await;

    let silent = testkit::Target::clear(door.address);
    let mut raw = Raw::connect(&silent).await.unwrap();
    assert!(raw.is_closed_within(LONG).await, "a handshake that never begins");

    let mut raw = Raw::connect(&door.alice()).await.unwrap();
    raw.write(b"GET / HTTP/1.1\r\nHost: door\r\nX-Slow: ").await.unwrap();
    assert!(raw.is_closed_within(LONG).await, "a head that never ends");

    let mut raw = Raw::connect(&door.alice()).await.unwrap();
    let head = format!("POST {FLUNDERS} HTTP/1.1\r\nHost: door\r\nContent-Length: 100\r\n\r\nsome");
    raw.write(head.as_bytes()).await.unwrap();
    let answer = raw.read_all(LONG).await;
    let text = String::from_utf8_lossy(&answer);
    assert!(text.starts_with("HTTP/1.1 504 "), "a body that never ends: {text}");

    let mut raw = Raw::connect(&door.alice()).await.unwrap();
    let head = format!("GET {FLUNDERS} HTTP/1.1\r\nHost: door\r\nX-Large: {}\r\n\r\n", "x".repeat(20_000));
    let _ = raw.write(head.as_bytes()).await;
    let answer = raw.read_all(LONG).await;
    let text = String::from_utf8_lossy(&answer);
    assert!(text.is_empty() || text.starts_with("HTTP/1.1 431 "), "a head that is too large: {text}");
    assert!(server.requests().iter().all(|seen| !seen.complete), "{:?}", server.requests());
}

#[tokio::test(flavor = "multi_thread")]
async fn more_connections_than_allowed_wait() {
    let limits = Limits { max_connections: 1, ..Limits::default() };
    let (pki, server) = backend().await;
    let door = Door::with_limits(&pki, vec![Backend::wardle(&pki, &[&server])], limits).await;
    let first = door.http1().await;
    let target = door.alice();
    let mut second = tokio::spawn(async move { Client::http1(&target).await });
    let waited = tokio::time::timeout(Duration::from_millis(500), &mut second).await;
    assert!(waited.is_err(), "there is no place");
    drop(first);
    let mut second = second.await.unwrap().unwrap();
    assert_eq!(second.get(FLUNDERS, &[]).await.status, 200);
}

/// A client that does not read its answer holds nobody else up.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_costs_only_itself() {
    let limits = Limits { write_stall_timeout: Duration::from_millis(500), ..Limits::default() };
    let (pki, server) = backend().await;
    let door = Door::with_limits(&pki, vec![Backend::wardle(&pki, &[&server])], limits).await;
    server.act(&format!("{FLUNDERS}/large"), Act::EndlessBody);
    let mut lazy = Vec::new();
    for _ in 0..8 {
        let mut raw = Raw::connect(&door.alice()).await.unwrap();
        let head = format!("GET {FLUNDERS}/large HTTP/1.1\r\nHost: door\r\n\r\n");
        raw.write(head.as_bytes()).await.unwrap();
        lazy.push(raw);
    }
    server.wait_received(8).await;
    let mut client = door.http2().await;
    assert_eq!(client.get(FLUNDERS, &[]).await.status, 200);
    server.wait_cancelled(8).await;
}
