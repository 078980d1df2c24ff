//! Upgrades: a tunnel only after both sides agreed, half-closed where one side ends, as whoever asked.

use std::time::Duration;

use testkit::{
    Act,
    client::{Raw, Upgraded, upgrade},
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::door::{Backend, Door, FLUNDERS, backend};

const EXEC: &str = "/api/v1/namespaces/default/pods/p/exec?command=ls&stdin=true";

#[tokio::test(flavor = "multi_thread")]
async fn bytes_go_both_ways_and_half_close_is_passed_on() {
    let (pki, server) = backend().await;
    server.act("/", Act::UpgradeEcho);
    let door =
        Door::start(&pki, vec![Backend::wardle(&pki, &[&server]), Backend::core(&pki, &[&server])]).await;
    let path = format!("{FLUNDERS}/x/proxy");
    for (path, protocol) in [(EXEC, "websocket"), (EXEC, "SPDY/3.1"), (path.as_str(), "websocket")] {
        let headers = [("sec-websocket-protocol", "v5.channel.k8s.io"), ("x-remote-user", "evil")];
        let upgraded = upgrade(&door.alice(), path, protocol, &headers).await.unwrap();
        let Upgraded::Accepted { mut io, headers } = upgraded else { panic!("{path} {protocol}: refused") };
        assert_eq!(headers["upgrade"], protocol);
        assert_eq!(headers["sec-websocket-protocol"], "v5.channel.k8s.io");
        let seen = server.last_request();
        assert_eq!((seen.target.as_str(), seen.version), (path, http::Version::HTTP_11));
        assert_eq!(seen.header_values("x-remote-user"), ["alice"]);
        assert_eq!(seen.header("upgrade"), protocol);
        assert_eq!(seen.header("connection").to_lowercase(), "upgrade");
        assert_eq!(seen.header("audit-id"), headers["audit-id"].to_str().unwrap());

        let sent: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
        let (mut from, mut to) = tokio::io::split(io);
        let writing = tokio::spawn({
            let sent = sent.clone();
            async move {
                to.write_all(&sent).await.unwrap();
                to.shutdown().await.unwrap();
                to
            }
        });
        let mut got = Vec::new();
        from.read_to_end(&mut got).await.unwrap();
        io = from.unsplit(writing.await.unwrap());
        drop(io);
        // The server says `bye` after our end, so our end did not end its side.
        assert_eq!(got.len(), sent.len() + 3);
        assert!(got.starts_with(&sent) && got.ends_with(b"bye"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_relayed_as_it_is() {
    let (pki, server) = backend().await;
    server.act("/", Act::UpgradeRefuse);
    let door = Door::start(&pki, vec![Backend::core(&pki, &[&server])]).await;
    let Upgraded::Refused(reply) = upgrade(&door.alice(), EXEC, "websocket", &[]).await.unwrap() else {
        panic!("accepted")
    };
    assert_eq!(reply.status, 403);
    assert_eq!(reply.json()["message"], "nope says the server");
    assert_eq!(reply.headers.get_all("audit-id").iter().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_neither_is_a_bad_gateway() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::core(&pki, &[&server])]).await;
    for act in [Act::Echo, Act::Redirect("https://elsewhere.example.com".into()), Act::PlainStatus(204)] {
        server.act("/", act.clone());
        let Upgraded::Refused(reply) = upgrade(&door.alice(), EXEC, "websocket", &[]).await.unwrap() else {
            panic!("accepted")
        };
        assert_eq!(reply.status, 502, "{act:?}: {}", reply.text());
        assert_eq!(reply.json()["kind"], "Status");
    }
    server.kill().await;
    let Upgraded::Refused(reply) = upgrade(&door.alice(), EXEC, "websocket", &[]).await.unwrap() else {
        panic!("accepted")
    };
    assert_eq!(reply.status, 503, "{}", reply.text());
}

/// CVE-2018-1002105: after a refused upgrade, what follows on the client's connection is a request of
/// the client's own, and reaches no backend raw.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_tunnelled_before_the_backend_agreed() {
    let (pki, server) = backend().await;
    server.act("/api", Act::UpgradeRefuse);
    let door =
        Door::start(&pki, vec![Backend::wardle(&pki, &[&server]), Backend::core(&pki, &[&server])]).await;
    let mut raw = Raw::connect(&door.alice()).await.unwrap();
    let asked =
        format!("GET {EXEC} HTTP/1.1\r\nHost: d\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    let evil = format!("GET {FLUNDERS}/secret HTTP/1.1\r\nHost: d\r\nX-Remote-User: system:admin\r\n\r\n");
    raw.write(format!("{asked}{evil}").as_bytes()).await.unwrap();
    let answers = raw.read_all(Duration::from_secs(2)).await;
    let text = String::from_utf8_lossy(&answers);
    assert!(text.starts_with("HTTP/1.1 403 "), "{text}");
    for seen in server.requests() {
        assert_eq!(seen.header_values("x-remote-user"), ["alice"], "{}", seen.target);
    }
}

/// A backend that would speak HTTP inside the tunnel must not be asked to: the client would write the
/// identity headers itself.
#[tokio::test(flavor = "multi_thread")]
async fn other_protocols_are_not_asked_for() {
    let (pki, server) = backend().await;
    server.act("/", Act::Echo);
    let door = Door::start(&pki, vec![Backend::core(&pki, &[&server])]).await;
    for protocol in ["h2c", "TLS/1.0", "HTTP/2.0", "websocket, h2c"] {
        let Upgraded::Refused(reply) = upgrade(&door.alice(), EXEC, protocol, &[]).await.unwrap() else {
            panic!("{protocol} was accepted")
        };
        assert_eq!(reply.status, 200, "{protocol}: answered as an ordinary request");
        let seen = server.last_request();
        assert_eq!(
            (seen.header("upgrade").as_str(), seen.header("connection").as_str()),
            ("", ""),
            "{protocol}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_callers_get_no_tunnel() {
    let (pki, server) = backend().await;
    server.act("/", Act::UpgradeEcho);
    let door = Door::start(&pki, vec![Backend::core(&pki, &[&server])]).await;
    let Upgraded::Refused(reply) = upgrade(&door.anonymous(), EXEC, "websocket", &[]).await.unwrap() else {
        panic!("accepted")
    };
    assert_eq!(reply.status, 401);
    assert!(server.requests().is_empty());
}

/// Either side that goes takes the other with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_broken_side_ends_the_tunnel() {
    let (pki, server) = backend().await;
    server.act("/", Act::UpgradeEcho);
    let door = Door::start(&pki, vec![Backend::core(&pki, &[&server])]).await;
    let open = async || {
        let Upgraded::Accepted { mut io, .. } = upgrade(&door.alice(), EXEC, "SPDY/3.1", &[]).await.unwrap()
        else {
            panic!("refused")
        };
        io.write_all(b"x").await.unwrap();
        let mut one = [0];
        io.read_exact(&mut one).await.unwrap();
        io
    };
    let before = server.open_connections();
    drop(open().await);
    for _ in 0..500 {
        if server.open_connections() == before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(server.open_connections(), before, "the backend's side ended");
    let mut io = open().await;
    server.kill().await;
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), io.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "the client's side ended");
}
