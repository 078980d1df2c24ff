//! Nobody can say for himself who he is: spoofed headers and hidden requests, judged at a server that
//! folds header names as CGI does.
//!
//! Here the gateway alone, under every push; the whole program, with other senders, tokens and trailers, is
//! tried in `tests/hostile/spoof.rs`. Each draws its attempts from a table of its own: what one lacks, the
//! other may have.

use testkit::{Client, FakeServer, Recorded, client::Raw};

use crate::{
    door::{Backend, Door, FLUNDERS, backend, backend_http1},
    identity::told,
};

/// Attempts to be somebody else in an ordinary run.
const SPOOFS: usize = 10_000;
/// Attempts in a full run.
const SPOOFS_IN_FULL: usize = 1_000_000;
/// Spoofed headers in one request.
const AT_ONCE: usize = 12;

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
    if std::env::var_os("TRELLIS_FULL").is_some() { SPOOFS_IN_FULL } else { SPOOFS }
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
