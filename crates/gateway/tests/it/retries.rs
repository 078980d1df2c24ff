//! What is sent again, and what is not.

use std::sync::Arc;

use testkit::{Act, FakeServer, Serving, TempPki};

use crate::door::{Backend, Door, FLUNDERS, backend, backend_http1};

/// GOAWAY on new connections before they have looked at a request: bodies up to the limit are sent again.
#[tokio::test(flavor = "multi_thread")]
async fn goaway_is_not_seen_by_clients() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    for size in [0, 1, 100_000, 256 * 1024] {
        server.goaway_first(2);
        let mut client = door.http2().await;
        let body = vec![b'x'; size];
        let reply = client.request("POST", &format!("{FLUNDERS}?act=echo"), &[], body).await;
        assert_eq!(reply.status, 200, "{size} bytes: {}", reply.text());
        assert_eq!(reply.json()["bodyLength"], size);
        server.restart().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_end_after_every_few_requests_lose_none() {
    // With HTTP/1.1 a connection may close just when a request is sent; only reading ones are sent again.
    for (method, (pki, server)) in [("POST", backend().await), ("GET", backend_http1().await)] {
        server.goaway_every(3);
        let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
        let client = door.http2().await;
        let mut asking = tokio::task::JoinSet::new();
        for worker in 0..4 {
            let mut client = client.share();
            asking.spawn(async move {
                for n in 0..25 {
                    let body = format!("{worker}-{n}");
                    let path = format!("{FLUNDERS}?act=echo&body={body}");
                    let reply = client.request(method, &path, &[], body.clone()).await;
                    assert_eq!(reply.status, 200, "{}", reply.text());
                    assert_eq!(reply.json()["target"], path);
                }
            });
        }
        while let Some(done) = asking.join_next().await {
            done.unwrap();
        }
        // Four at a time, so that a connection may carry a few more than three.
        assert!(server.accepted_connections() >= 100 / 7, "{}", server.accepted_connections());
    }
}

/// A refused stream was not looked at: sent again a few times, then given up with a Status.
#[tokio::test(flavor = "multi_thread")]
async fn refused_streams_are_sent_again_to_a_limit() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut client = door.http2().await;
    let reply = client.request("POST", &format!("{FLUNDERS}?act=refuse"), &[], "{}").await;
    assert_eq!(reply.status, 502, "{}", reply.text());
    assert_eq!(reply.json()["kind"], "Status");
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_was_reset_is_sent_again_only_when_it_reads() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut client = door.http2().await;
    for (method, times) in [("GET", 2), ("HEAD", 2), ("POST", 1), ("PUT", 1), ("PATCH", 1), ("DELETE", 1)] {
        server.forget_requests();
        let reply = client.request(method, &format!("{FLUNDERS}/x?act=reset"), &[], "").await;
        assert_eq!(reply.status, 502, "{method}");
        assert_eq!(server.requests().len(), times, "{method}");
    }
}

/// A server that was restarted: connections that nobody knew to be dead cost reading requests nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_between_requests_is_not_noticed() {
    for (pki, server) in [backend().await, backend_http1().await] {
        let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
        let mut client = door.http1().await;
        for _ in 0..5 {
            assert_eq!(client.get(FLUNDERS, &[]).await.status, 200);
            server.restart().await;
        }
    }
}

/// Nothing was sent, so whatever the method: the next endpoint is asked.
#[tokio::test(flavor = "multi_thread")]
async fn writes_go_to_another_endpoint_when_the_first_is_not_there() {
    let pki = Arc::new(TempPki::new());
    let dead = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let alive = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    dead.kill().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&dead, &alive])]).await;
    let mut client = door.http2().await;
    for n in 0..20 {
        let reply = client.request("POST", &format!("{FLUNDERS}?act=echo"), &[], format!("{n}")).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
    assert_eq!(alive.requests().len(), 20);
}

/// Each failure of a server has its words, and none names an address.
#[tokio::test(flavor = "multi_thread")]
async fn failures_are_statuses_that_say_why() {
    let cases = [
        (Serving::WrongName, "has a certificate for another name"),
        (Serving::Expired, "has a certificate that is expired or not valid yet"),
        (Serving::UnknownAuthority, "has a certificate signed by an unknown authority"),
    ];
    for (serving, words) in cases {
        let pki = Arc::new(TempPki::new());
        let server = FakeServer::builder().tls(&pki, serving).start().await;
        check_failure(&pki, &server, words).await;
    }
    let (pki, server) = backend().await;
    server.kill().await;
    check_failure(&pki, &server, "refuses connections").await;
    let pki = Arc::new(TempPki::new());
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[])]).await;
    let reply = door.http1().await.get(FLUNDERS, &[]).await;
    assert_eq!(reply.status, 503);
    assert!(reply.text().contains("has no endpoints"), "{}", reply.text());
}

async fn check_failure(pki: &Arc<TempPki>, server: &FakeServer, words: &str) {
    let door = Door::start(pki, vec![Backend::wardle(pki, &[server])]).await;
    let reply = door.http1().await.get(FLUNDERS, &[("accept", "application/json")]).await;
    let text = reply.text();
    assert_eq!(reply.status, 503, "{text}");
    assert_eq!(reply.header("retry-after"), "1", "{text}");
    assert_eq!(reply.json()["reason"], "ServiceUnavailable");
    assert_eq!(reply.json()["details"]["retryAfterSeconds"], 1);
    for word in [words, "wardle.example.com/v1", "\\\"wardle\\\""] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(!text.contains("127.0.0.1"), "{text}");
}

/// A server that says 401 does not accept the door: told once, and taken back when it does.
#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_identity_is_told() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut client = door.http2().await;
    server.act("/", Act::Status(401));
    for _ in 0..3 {
        assert_eq!(client.get(FLUNDERS, &[]).await.status, 401);
    }
    server.behave();
    assert_eq!(client.get(FLUNDERS, &[]).await.status, 200);
    let told = door.observer.all();
    let words: Vec<_> = told.iter().map(|(server, word)| (server.as_str(), *word)).collect();
    assert_eq!(words, [("wardle", "IdentityRejected"), ("wardle", "Answered")]);
}

/// A backend that takes one stream at a time gets one connection more for each that waits, and no
/// connection that nobody needs.
#[tokio::test(flavor = "multi_thread")]
async fn requests_one_after_the_other_need_one_connection() {
    for (pki, server) in [backend().await, backend_http1().await] {
        let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
        let mut client = door.http2().await;
        for _ in 0..50 {
            assert_eq!(client.get(FLUNDERS, &[]).await.status, 200);
        }
        assert_eq!(server.accepted_connections(), 1);
    }
}
