//! Bodies both ways: streamed, whole, with their trailers, and cancelled from either side.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use testkit::{
    Act, Client, FakeServer,
    client::{OutBody, Raw},
};
use tokio::sync::mpsc;

use crate::door::{Backend, Door, FLUNDERS, backend, backend_http1};

const MEGABYTES: usize = 5 << 20;

/// A body that is sent piece by piece, for as long as the sender lives.
fn fed() -> (mpsc::Sender<Frame<Bytes>>, OutBody) {
    let (feed, pieces) = mpsc::channel::<Frame<Bytes>>(1);
    let stream = futures_util::stream::unfold(pieces, |mut pieces| async {
        pieces.recv().await.map(|frame| (Ok(frame), pieces))
    });
    (feed, OutBody::new(StreamBody::new(stream)))
}

/// Every client protocol against every backend protocol.
async fn for_all_protocols(check: impl AsyncFn(&FakeServer, Client, &str)) {
    for (pki, server) in [backend().await, backend_http1().await] {
        let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
        check(&server, door.http1().await, "h1").await;
        check(&server, door.http2().await, "h2").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn large_bodies_arrive_whole_both_ways() {
    for_all_protocols(async |server, mut client, what| {
        let got = client.get(&format!("{FLUNDERS}?act=bytes:{MEGABYTES}"), &[]).await;
        assert_eq!(got.status, 200, "{what}: {}", got.text());
        assert_eq!(got.body.len(), MEGABYTES, "{what}");
        let pattern = got.body.clone();
        let sent = client.request("POST", &format!("{FLUNDERS}?act=echo"), &[], pattern.clone()).await;
        assert_eq!(sent.status, 200, "{what}: {}", sent.text());
        let seen = server.last_request();
        assert_eq!((seen.body_len as usize, seen.complete), (MEGABYTES, true), "{what}");
        assert_eq!(seen.header("content-length"), MEGABYTES.to_string(), "{what}");
        assert!(seen.body == pattern[..seen.body.len()], "{what}");
    })
    .await;
}

/// The answer begins before the request has ended, and pieces arrive as they are sent.
#[tokio::test(flavor = "multi_thread")]
async fn bodies_stream_both_ways_at_once() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    for mut client in [door.http1().await, door.http2().await] {
        let (feed, body) = fed();
        feed.send(Frame::data("first".into())).await.unwrap();
        let request = Request::post(format!("{FLUNDERS}?act=mirror")).body(body).unwrap();
        let mut answer = client.open(request).await.unwrap().into_body();
        for piece in ["second", "third"] {
            let got = answer.frame().await.unwrap().unwrap().into_data().unwrap();
            assert!(!got.is_empty());
            feed.send(Frame::data(piece.into())).await.unwrap();
        }
        drop(feed);
        let rest = answer.collect().await.unwrap().to_bytes();
        assert!(rest.ends_with(b"third"), "{rest:?}");
    }
    drop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn trailers_pass_and_cannot_carry_an_identity() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut client = door.http2().await;
    let reply = client.get(&format!("{FLUNDERS}?act=trailers"), &[]).await;
    assert_eq!(reply.trailers.get("x-trailer").unwrap(), "done");

    let (feed, body) = fed();
    let names = ["x-checksum", "x-remote-user", "x_remote_group", "impersonate-user", "authorization"];
    let trailers: HeaderMap =
        names.iter().map(|name| (name.parse().unwrap(), HeaderValue::from_static("evil"))).collect();
    let sending = tokio::spawn(async move {
        feed.send(Frame::data("body".into())).await.unwrap();
        feed.send(Frame::trailers(trailers)).await.unwrap();
    });
    let request = Request::post(format!("{FLUNDERS}?act=echo")).body(body).unwrap();
    client.send(request).await.unwrap();
    sending.await.unwrap();
    let seen = server.last_request();
    let names: Vec<_> = seen.trailers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["x-checksum"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_cancels_at_the_server() {
    let mut cancelled = 0;
    for (pki, server) in [backend().await, backend_http1().await] {
        let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
        for act in ["hang", "events:20"] {
            for http2 in [false, true] {
                let mut client = if http2 { door.http2().await } else { door.http1().await };
                let started = server.requests().len();
                let path = format!("{FLUNDERS}?watch=true&act={act}");
                let request = Request::get(path).body(testkit::client::out("")).unwrap();
                let asking = tokio::spawn(async move {
                    let answer = client.open(request).await?;
                    answer.into_body().frame().await;
                    Ok::<_, hyper::Error>(())
                });
                server.wait_received(started + 1).await;
                asking.abort();
                let _ = asking.await;
                cancelled += 1;
                server.wait_cancelled(cancelled).await;
            }
        }
        cancelled = 0;
    }
}

/// A server that breaks off must not look like one that has finished.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_breaks_off_for_the_client() {
    for_all_protocols(async |_, mut client, what| {
        let request =
            Request::get(format!("{FLUNDERS}?act=truncate")).body(testkit::client::out("")).unwrap();
        let answer = client.open(request).await.unwrap();
        // The end may overtake the head of the answer.
        if ![502, 503].contains(&answer.status().as_u16()) {
            assert_eq!(answer.status(), 200, "{what}");
            assert!(answer.into_body().collect().await.is_err(), "{what}");
        }
    })
    .await;
}

/// `Expect: 100-continue`: the door asks for the body when the backend is there to take it.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_waits_for_permission_gets_it() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut raw = Raw::connect(&door.alice()).await.unwrap();
    let head = format!(
        "POST {FLUNDERS}?act=echo HTTP/1.1\r\nHost: door\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
    );
    raw.write(head.as_bytes()).await.unwrap();
    let told = raw.read_until(b"\r\n\r\n").await.unwrap();
    assert!(told.starts_with(b"HTTP/1.1 100 "), "{}", String::from_utf8_lossy(&told));
    raw.write(b"body").await.unwrap();
    let answer = raw.read_until(b"\r\n\r\n").await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&answer));
    assert_eq!(server.last_request().body_len, 4);

    // Somebody unknown is refused without having to send it.
    let mut raw = Raw::connect(&door.anonymous()).await.unwrap();
    raw.write(head.as_bytes()).await.unwrap();
    let answer = raw.read_until(b"\r\n\r\n").await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 401 "), "{}", String::from_utf8_lossy(&answer));
}

/// The head of an answer is sent on when it comes, not with the first bytes of the body.
#[tokio::test(flavor = "multi_thread")]
async fn heads_do_not_wait_for_bodies() {
    for_all_protocols(async |server, mut client, _| {
        let started = server.requests().len();
        let path = format!("{FLUNDERS}?watch=true");
        let request = Request::get(path).body(testkit::client::out("")).unwrap();
        let answer = client.open(request).await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(server.requests().len(), started + 1);
    })
    .await;
}

/// What two parsers may understand differently is refused, or sent on in one unmistakable form; and
/// nothing that follows it on the connection counts as a request.
#[tokio::test(flavor = "multi_thread")]
async fn ambiguous_framing_smuggles_nothing() {
    let (pki, server) = backend_http1().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let cases = [
        (true, "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        (true, "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"),
        (false, "Content-Length: 4\r\nContent-Length: 5\r\n\r\nbodyx"),
        (false, "Transfer-Encoding: gzip\r\n\r\nbody"),
        (false, "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
        (false, "Content-Length: +4\r\n\r\nbody"),
        (false, "Content-Length : 4\r\n\r\nbody"),
        (false, "X-A: a\r\n Content-Length: 4\r\n\r\nbody"),
    ];
    for (passes, case) in cases {
        server.forget_requests();
        let smuggled =
            format!("GET {FLUNDERS}/smuggled HTTP/1.1\r\nHost: door\r\nX-Remote-User: evil\r\n\r\n");
        let request = format!("POST {FLUNDERS}?act=echo HTTP/1.1\r\nHost: door\r\n{case}{smuggled}");
        let mut raw = Raw::connect(&door.alice()).await.unwrap();
        raw.write(request.as_bytes()).await.unwrap();
        let answer = raw.read_all(std::time::Duration::from_secs(2)).await;
        let text = String::from_utf8_lossy(&answer);
        let status = if passes { "HTTP/1.1 200 " } else { "HTTP/1.1 400 " };
        assert!(text.starts_with(status), "{case:?}: {text}");
        assert_eq!(text.matches("\nHTTP/1.1 ").count(), 0, "{case:?}: {text}");
        let seen = server.requests();
        assert_eq!(seen.len(), usize::from(passes), "{case:?}: {seen:?}");
        for seen in seen {
            assert_eq!((seen.header("content-length").as_str(), seen.body_len), ("", 0), "{case:?}");
            assert_eq!(seen.header("transfer-encoding"), "chunked", "{case:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_early_answer_does_not_wait_for_the_rest_of_the_body() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut client = door.http2().await;
    let (feed, body) = fed();
    feed.send(Frame::data("some".into())).await.unwrap();
    server.act(FLUNDERS, Act::Mirror);
    let answer = client.open(Request::post(FLUNDERS).body(body).unwrap()).await.unwrap();
    assert_eq!(answer.status(), 200);
    drop(answer);
    drop(feed);
}
