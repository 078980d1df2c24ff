//! Who a caller is, as the door and a backend see it; and that nobody can say it for himself.

use catalog::IdentityMode;
use pki::Leaf;
use testkit::{Client, FakeServer, Recorded, Target, client::Raw};

use crate::door::{Backend, Door, FLUNDERS, backend, backend_http1};

/// Header lines.
type Lines<'a> = &'a [(&'a str, &'a str)];

/// Attempts to be somebody else in an ordinary run; more by `TRELLIS_SPOOFS`.
const SPOOFS: usize = 10_000;
/// Spoofed headers in one request.
const AT_ONCE: usize = 12;

/// `user|groups` as the backend's framework would tell them.
fn told(seen: &Recorded) -> String {
    let cgi = seen.cgi();
    let all = |name: &str| {
        let values = cgi.get(name).map(Vec::as_slice).unwrap_or_default();
        let values: Vec<_> = values.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect();
        values.join(",")
    };
    format!("{}|{}", all("HTTP_X_REMOTE_USER"), all("HTTP_X_REMOTE_GROUP"))
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_arrive_as_who_they_are() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let front = door.anonymous().identity(pki.front_proxy("front"));
    let root = ("x-remote-user", "root");
    let cases: &[(&str, Target, Lines, &str)] = &[
        ("certificate", door.alice(), &[], "alice|dev,system:authenticated"),
        (
            "certificate, and a wish",
            door.alice(),
            &[root, ("x_remote_user", "root")],
            "alice|dev,system:authenticated",
        ),
        (
            "token",
            door.anonymous(),
            &[("authorization", "Bearer secret-token")],
            "tokenuser|a,b,system:authenticated",
        ),
        (
            "front proxy",
            front.clone(),
            &[root, ("x-remote-group", "wheel")],
            "root|wheel,system:authenticated",
        ),
        (
            "impersonation",
            door.admin(),
            &[("impersonate-user", "ann"), ("impersonate-group", "ops")],
            "ann|ops,system:authenticated",
        ),
        (
            "front proxy that impersonates",
            front,
            &[root, ("x-remote-group", "system:masters"), ("impersonate-user", "ann")],
            "ann|system:authenticated",
        ),
    ];
    for (what, target, headers, expected) in cases {
        for mut client in [Client::http1(target).await.unwrap(), Client::http2(target).await.unwrap()] {
            let reply = client.get(FLUNDERS, headers).await;
            assert_eq!(reply.status, 200, "{what}: {}", reply.text());
            let seen = server.last_request();
            assert_eq!(told(&seen), *expected, "{what}");
            assert!(
                seen.headers.iter().all(|(name, _)| !name.contains("impersonate")),
                "{what}: {:?}",
                seen.headers
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_statuses() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let stranger = pki.unknown_ca.issue(&Leaf::client("alice").organization("system:masters")).unwrap();
    let stranger = door.anonymous().identity(stranger);
    let wrong = [("authorization", "Bearer wrong-token")];
    let cases: &[(&str, Target, Lines, u16, &str)] = &[
        ("nobody", door.anonymous(), &[], 401, "Unauthorized"),
        ("wrong token", door.anonymous(), &wrong, 401, "Unauthorized"),
        ("certificate of a stranger", stranger, &[], 401, "Unauthorized"),
        ("nobody who names himself", door.anonymous(), &[("x-remote-user", "root")], 401, "Unauthorized"),
        (
            "impersonation that is not allowed",
            door.alice(),
            &[("impersonate-user", "admin")],
            403,
            "users \"admin\" is forbidden: User \"alice\" cannot impersonate resource \"users\" in API group \"\" at the \
             cluster scope: without a core API server, only the group system:masters may",
        ),
        (
            "impersonation of nobody",
            door.admin(),
            &[("impersonate-group", "dev")],
            400,
            "requested impersonation of groups without impersonating a user name",
        ),
        (
            "unknown impersonation",
            door.admin(),
            &[("impersonate-user", "ann"), ("impersonate-role", "x")],
            400,
            "unknown impersonation header \"impersonate-role\"",
        ),
    ];
    for (what, target, headers, code, message) in cases {
        for mut client in [Client::http1(target).await.unwrap(), Client::http2(target).await.unwrap()] {
            for path in [FLUNDERS, "/apis"] {
                let reply = client.get(path, headers).await;
                assert_eq!(reply.status.as_u16(), *code, "{what}: {}", reply.text());
                let status = reply.json();
                assert_eq!(
                    (&status["kind"], &status["message"]),
                    (&"Status".into(), &(*message).into()),
                    "{what}"
                );
                assert_eq!(reply.headers.contains_key("www-authenticate"), *code == 401, "{what}");
            }
        }
    }
    assert!(server.requests().is_empty(), "nothing of this reached the server");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_passes_a_token_through_passes_the_wish_to_act_as_another_too() {
    let (pki, server) = backend().await;
    let backend =
        Backend::wardle(&pki, &[&server]).changed(|server| server.identity = IdentityMode::PassThrough);
    let door = Door::start(&pki, vec![backend]).await;
    let mut client = Client::http2(&door.admin()).await.unwrap();
    let headers = [("authorization", "Bearer own"), ("impersonate-user", "ann"), ("x-remote-user", "root")];
    assert_eq!(client.get(FLUNDERS, &headers).await.status, 200);
    let seen = server.last_request();
    assert_eq!(
        (seen.header("authorization"), seen.header("impersonate-user")),
        ("Bearer own".into(), "ann".into())
    );
    assert_eq!(told(&seen), "|");
}

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    /// A header name that somebody could take for one of the door's.
    fn spoof(&mut self) -> String {
        let word = self.of(&[
            "x-remote-user",
            "x-remote-group",
            "x-remote-uid",
            "x-remote-extra-scopes",
            "x-remote-extra-a%2fb",
            "authorization",
            "proxy-authorization",
            "proxy",
            "x-remote-user",
        ]);
        let mut name = String::new();
        for c in word.chars() {
            match (c, self.below(12)) {
                ('-', 0..=5) => {
                    name.push_str(self.of(&["_", ".", "-", "~", "%2d", "%2D", "--", "-_", "%252d", "|"]))
                }
                (c, 0) if c.is_ascii_alphanumeric() => name.push_str(&format!("%{:02x}", u32::from(c))),
                (c, 1..=4) => name.push(c.to_ascii_uppercase()),
                (c, _) => name.push(c),
            }
        }
        name
    }
}

/// Everything that a server could take for an identity is what the door said of alice.
fn judge(seen: &Recorded, spoofs: &[String]) {
    let expected =
        [("HTTP_X_REMOTE_USER", vec!["alice"]), ("HTTP_X_REMOTE_GROUP", vec!["dev", "system:authenticated"])];
    for (name, values) in seen.cgi() {
        let values: Vec<_> = values.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect();
        assert!(!values.iter().any(|value| value.contains("evil")), "{name}: {values:?} of {spoofs:?}");
        let protected = ["HTTP_X_REMOTE", "HTTP_IMPERSONATE", "HTTP_AUTHORIZATION", "HTTP_PROXY"];
        if !protected.iter().any(|prefix| name.starts_with(prefix))
            || name.starts_with("HTTP_X_REMOTE_EXTRA_AUTHENTICATION")
        {
            continue;
        }
        let right = expected.iter().find(|(own, _)| *own == name);
        assert!(right.is_some_and(|(_, own)| *own == values), "{name}: {values:?} of {spoofs:?}");
    }
    assert_eq!(told(seen), "alice|dev,system:authenticated");
}

fn attempts() -> usize {
    std::env::var("TRELLIS_SPOOFS").ok().and_then(|number| number.parse().ok()).unwrap_or(SPOOFS)
}

async fn spoof(server: &FakeServer, mut client: Client, http1: bool, random: &mut Random, rounds: usize) {
    for round in 0..rounds {
        let spoofs: Vec<String> = (0..AT_ONCE).map(|_| random.spoof()).collect();
        let mut headers: Vec<(&str, &str)> = spoofs.iter().map(|name| (name.as_str(), "evil")).collect();
        // HTTP/2 has no such header; there it would only end the connection.
        if round % 4 == 0 && http1 {
            headers.push(("connection", "X-Remote-User, X-Remote-Group, authorization"));
        }
        let reply = client.get(FLUNDERS, &headers).await;
        assert_eq!(reply.status, 200, "{spoofs:?}: {}", reply.text());
        judge(&server.last_request(), &spoofs);
        server.forget_requests();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_who_he_says() {
    let mut random = Random(20_160_126);
    let rounds = attempts().div_ceil(4 * AT_ONCE);
    for (pki, server) in [backend().await, backend_http1().await] {
        let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
        spoof(&server, door.http1().await, true, &mut random, rounds).await;
        spoof(&server, door.http2().await, false, &mut random, rounds).await;
    }
}

/// Requests in which two readers may find another end, each with a second request of root's inside.
#[tokio::test(flavor = "multi_thread")]
async fn no_request_hides_in_another() {
    let hidden = format!(
        "GET {FLUNDERS} HTTP/1.1\r\nHost: x\r\nX-Remote-User: evil\r\nX-Remote-Group: system:masters\r\n\r\n"
    );
    let length = hidden.len();
    let heads = [
        format!("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Content-Length: 0\r\nContent-Length: {length}\r\n\r\n{hidden}"),
        format!("Content-Length: +{length}\r\n\r\n{hidden}"),
        format!("Content-Length: {length}, 0\r\n\r\n{hidden}"),
        format!("Content-Length: {length}\r\n\r\n{hidden}"),
        format!("X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("X-A: b\r\n X-Remote-User: evil\r\nContent-Length: {length}\r\n\r\n{hidden}"),
        "Transfer-Encoding: chunked\r\nTrailer: X-Remote-User\r\n\r\n3\r\nabc\r\n0\r\nX-Remote-User: evil\r\nX_Remote_Group: evil\r\n\r\n".to_owned(),
    ];
    for (pki, server) in [backend().await, backend_http1().await] {
        let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
        for head in &heads {
            let mut raw = Raw::connect(&door.alice()).await.unwrap();
            let bytes = format!("POST {FLUNDERS} HTTP/1.1\r\nHost: x\r\n{head}");
            // A door that has closed meanwhile has refused.
            let _ = raw.write(bytes.as_bytes()).await;
            let _ = raw.read_all(std::time::Duration::from_millis(300)).await;
        }
        for seen in server.requests() {
            judge(&seen, &[]);
        }
    }
}
