//! Watches: many, long, on few connections, and not in anybody's way.

use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use testkit::{Client, client::out};

use crate::door::{Backend, Door, FLUNDERS, backend, backend_http1};

async fn watch(client: &mut Client) -> Response<Incoming> {
    watch_every(client, 300).await
}

/// A watch with an event now and then one each `pause` milliseconds.
async fn watch_every(client: &mut Client, pause: u32) -> Response<Incoming> {
    let path = format!("{FLUNDERS}?watch=true&act=events:{pause}");
    let answer = client.open(Request::get(path).body(out("")).unwrap()).await.unwrap();
    assert_eq!(answer.status(), 200);
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn many_watches_share_connections_that_grow_with_them() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut clients = [door.http2().await, door.http2().await, door.http2().await];
    let mut watches = Vec::new();
    for client in &mut clients {
        for _ in 0..100 {
            // Seldom: the test's client closes connections whose frames it is not asked for.
            watches.push(watch_every(client, 60_000).await);
        }
    }
    let connections = server.accepted_connections();
    assert!((2..=20).contains(&connections), "{connections} connections for 300 watches");
    for answer in &mut watches {
        assert!(answer.body_mut().frame().await.unwrap().unwrap().is_data());
    }
    assert_eq!(clients[0].get(FLUNDERS, &[]).await.status, 200);
    drop(watches);
    server.wait_cancelled(300).await;
}

/// HTTP/1.1 gives each watch a connection. These have a limit of their own, sixteen times the other one.
#[tokio::test(flavor = "multi_thread")]
async fn watches_over_http1_leave_room_for_requests() {
    let (pki, server) = backend_http1().await;
    let limited = Backend::wardle(&pki, &[&server]).limits(|limits| {
        limits.max_connections = 1;
        limits.connect_timeout = Duration::from_millis(1500);
    });
    let door = Door::start(&pki, vec![limited]).await;
    let mut client = door.http2().await;
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let mut client = client.share();
        opening.spawn(async move { watch_every(&mut client, 60_000).await });
    }
    let mut watches = opening.join_all().await;
    assert_eq!(client.get(FLUNDERS, &[]).await.status, 200);
    let path = format!("{FLUNDERS}?watch=true&act=events:50");
    let refused = client.get(&path, &[]).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    drop(watches.pop());
    server.wait_cancelled(1).await;
    watches.push(watch(&mut client).await);
    assert_eq!(client.get(FLUNDERS, &[]).await.status, 200);
}

/// A new revision gets connections of its own; what is on the old ones goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_changed_or_removed_registration_does_not_end_what_is_in_flight() {
    let (pki, server) = backend().await;
    let backend = Backend::wardle(&pki, &[&server]);
    let mut door = Door::start(&pki, vec![backend.clone()]).await;
    let mut client = door.http2().await;
    let mut before = watch(&mut client).await;
    door.set(&[backend.clone().changed(|server| server.base_path = "/new".into())]);
    wait_for(&mut client, |text| text.contains("/new/")).await;
    assert_eq!(server.accepted_connections(), 2);
    before.body_mut().frame().await.unwrap().unwrap();

    door.set(&[]);
    wait_for(&mut client, |text| text.contains("404 page not found")).await;
    for _ in 0..2 {
        before.body_mut().frame().await.unwrap().unwrap();
    }
    drop(before);
    for _ in 0..500 {
        if server.open_connections() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{} connections are still open", server.open_connections());
}

async fn wait_for(client: &mut Client, wanted: impl Fn(&str) -> bool) {
    for _ in 0..500 {
        let reply = client.get(&format!("{FLUNDERS}?act=echo"), &[]).await;
        if wanted(&reply.text()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it never came");
}

/// Endpoints that stay keep their connections when others come and go.
#[tokio::test(flavor = "multi_thread")]
async fn endpoints_that_stay_keep_their_connections() {
    let (pki, server) = backend().await;
    let other = testkit::FakeServer::builder().tls(&pki, testkit::Serving::Good).start().await;
    let mut door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut client = door.http2().await;
    let mut stays = watch(&mut client).await;
    door.set(&[Backend::wardle(&pki, &[&other, &server])]);
    for _ in 0..500 {
        client.get(FLUNDERS, &[]).await;
        if !other.requests().is_empty() {
            break;
        }
    }
    assert!(!other.requests().is_empty(), "the new endpoint is used");
    door.set(&[Backend::wardle(&pki, &[&server])]);
    stays.body_mut().frame().await.unwrap().unwrap();
    assert_eq!(server.accepted_connections(), 1);
}

/// Nobody waits for a watch, so its connection is pinged at leisure; but it is pinged.
#[tokio::test(flavor = "multi_thread")]
async fn a_watch_on_a_dead_connection_ends() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut client = door.http2().await;
    let mut answer = watch(&mut client).await;
    answer.body_mut().frame().await.unwrap().unwrap();
    server.freeze(true);
    let ended = async { while let Some(Ok(_)) = answer.body_mut().frame().await {} };
    tokio::time::timeout(Duration::from_secs(60), ended).await.expect("the watch ends");
    let told = door.observer.all();
    assert!(told.iter().any(|(_, word)| *word == "ResponseTimeout"), "{told:?}");
}
