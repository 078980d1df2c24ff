//! Stopping: nothing in flight breaks, and nothing waits for ever.

use std::{sync::Arc, time::Duration};

use gateway::Limits;
use http::{Request, Version};
use http_body_util::BodyExt as _;
use testkit::{
    Client,
    client::{Raw, out},
};

use crate::door::{Backend, Door, FLUNDERS, backend};

const LONG: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_flight_finishes_and_connections_close() {
    let (pki, server) = backend().await;
    let mut door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let (mut first, second) = (door.http1().await, door.http2().await);
    let mut sharing = second.share();
    let path = format!("{FLUNDERS}?act=delay:500");
    let (a, b) = (path.clone(), path.clone());
    let one = tokio::spawn(async move { first.get(&a, &[]).await });
    let two = tokio::spawn(async move { sharing.get(&b, &[]).await });
    server.wait_received(2).await;
    door.shutdown.signal();
    let (one, two) = (one.await.unwrap(), two.await.unwrap());
    assert_eq!((one.status.as_u16(), two.status.as_u16()), (200, 200));
    assert_eq!((one.version, one.header("connection")), (Version::HTTP_11, "close"));
    tokio::time::timeout(LONG, &mut door.served).await.expect("the door stops").unwrap();
    assert!(Client::http1(&door.alice()).await.is_err(), "nobody listens any more");
}

/// Watches end properly, a few at a time.
#[tokio::test(flavor = "multi_thread")]
async fn watches_are_ended_at_a_rate() {
    let limits = Limits { watch_drain_rate: 40, ..Limits::default() };
    let (pki, server) = backend().await;
    let mut door = Door::with_limits(&pki, vec![Backend::wardle(&pki, &[&server])], limits).await;
    let mut client = door.http2().await;
    let mut watches = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let path = format!("{FLUNDERS}?watch=true&act=events:20");
        let answer = client.open(Request::get(path).body(out("")).unwrap()).await.unwrap();
        watches.spawn(async move {
            answer.into_body().collect().await.expect("a watch ends without an error");
            tokio::time::Instant::now()
        });
    }
    door.shutdown.signal();
    let mut ends = Vec::new();
    while let Some(end) = watches.join_next().await {
        ends.push(end.unwrap());
    }
    let spread = ends.iter().max().unwrap().duration_since(*ends.iter().min().unwrap());
    assert!(spread >= Duration::from_millis(300), "20 watches at 40 a second: {spread:?}");
    drop(client);
    tokio::time::timeout(LONG, &mut door.served).await.expect("the door stops").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_at_once() {
    let (pki, server) = backend().await;
    let mut door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut client = door.http1().await;
    let hanging = tokio::spawn(async move {
        let request = Request::get(format!("{FLUNDERS}?act=hang")).body(out("")).unwrap();
        client.send(request).await.is_err()
    });
    server.wait_received(1).await;
    door.shutdown.signal();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!door.served.is_finished());
    door.shutdown.signal();
    tokio::time::timeout(LONG, &mut door.served).await.expect("the door stops").unwrap();
    assert!(hanging.await.unwrap(), "it was cut off");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_end_is_cut_off_at_the_deadline() {
    let limits = Limits { drain_timeout: Duration::from_millis(300), ..Limits::default() };
    let (pki, server) = backend().await;
    let mut door = Door::with_limits(&pki, vec![Backend::wardle(&pki, &[&server])], limits).await;
    let mut client = door.http2().await;
    let hanging = tokio::spawn(async move {
        let request = Request::get(format!("{FLUNDERS}?act=hang")).body(out("")).unwrap();
        client.send(request).await.is_err()
    });
    server.wait_received(1).await;
    door.shutdown.signal();
    tokio::time::timeout(LONG, &mut door.served).await.expect("the door stops").unwrap();
    assert!(hanging.await.unwrap(), "it was cut off");
}

/// HTTP/2 waits for an answer between the two steps of its goodbye; a client that never answers, and has
/// no request, holds nothing up.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_client_that_answers_no_ping_is_left() {
    let (pki, server) = backend().await;
    let mut door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut raw = Raw::connect_with(&door.alice(), b"h2").await.unwrap();
    raw.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    // Its own settings, and the acknowledgement of ours.
    raw.read_until(b"\0\0\0\x04\x01\0\0\0\0").await.unwrap();
    door.shutdown.signal();
    tokio::time::timeout(LONG, &mut door.served).await.expect("the door stops").unwrap();
}

/// Before anything closes, the door says for a while that it is not ready.
#[tokio::test(flavor = "multi_thread")]
async fn unready_first() {
    let limits = Limits { shutdown_delay: Duration::from_secs(3600), ..Limits::default() };
    let (pki, server) = backend().await;
    let door = Door::with_limits(&pki, vec![Backend::wardle(&pki, &[&server])], limits).await;
    let mut client = door.http1().await;
    assert_eq!(client.get("/readyz", &[]).await.status, 200);
    door.shutdown.signal();
    let readyz = client.get("/readyz", &[]).await;
    assert_eq!(readyz.status, 500, "{}", readyz.text());
    assert_eq!(client.get("/livez", &[]).await.status, 200);
    assert_eq!(client.get(FLUNDERS, &[]).await.status, 200);
    let mut fresh = door.http2().await;
    assert_eq!(fresh.get(FLUNDERS, &[]).await.status, 200, "new connections are still taken");
}

/// Certificates are changed without dropping anything: the next handshake sees the new one.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_certificate_counts_from_the_next_connection_on() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut old = door.http1().await;
    assert_eq!(old.get(FLUNDERS, &[]).await.status, 200);
    let certificate = pki.serving(testkit::Serving::UnknownAuthority);
    let chain = pki::certificates(certificate.chain_pem(), "a certificate").unwrap();
    let key = pki::private_key(certificate.key_pem(), "a key").unwrap();
    let changed = rustls::ServerConfig::builder_with_provider(pki::provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    door.tls.store(Arc::new(changed));
    assert!(Client::http1(&door.alice()).await.is_err(), "the new certificate is of a CA unknown to alice");
    assert_eq!(old.get(FLUNDERS, &[]).await.status, 200);
}
