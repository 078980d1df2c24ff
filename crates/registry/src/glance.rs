//! "Has anything changed?", asked of hundreds of servers every second: one conditional request over a kept
//! HTTP/1.1 connection of its own, written and read without a client library, because an answer of 304 is
//! all that is hoped for. With any other answer the question is put properly.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use catalog::{Endpoint, Server};
use dial::{Io, Offer, Protocol, TlsSetup, connect};
use http::HeaderMap;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Longest head of an answer; a 304 has a few hundred bytes.
const MAX_HEAD: usize = 4096;
/// After this many answers in a row that were no 304 the server is left alone with this for a while.
const PATIENCE: u32 = 3;
/// That while.
const PAUSE: Duration = Duration::from_secs(60);

/// The kept connection to one endpoint, lent out for one question at a time.
#[derive(Clone, Debug)]
pub(crate) struct Glances(Arc<Mutex<Kept>>);

#[derive(Debug)]
struct Kept {
    /// None while it is lent out, and for servers that cannot be asked like this.
    glance: Option<Glance>,
    certificate_end: Option<SystemTime>,
}

#[derive(Debug)]
struct Glance {
    endpoint: Endpoint,
    setup: Arc<TlsSetup>,
    connect_timeout: Duration,
    answer_timeout: Duration,
    base_path: String,
    /// Every header that does not change, each with its line end.
    headers: Vec<u8>,
    io: Option<Io>,
    certificate_end: Option<SystemTime>,
    failures: u32,
    paused_until: Option<Instant>,
}

impl Glances {
    /// For one endpoint of `server`, asked with these headers.
    pub(crate) fn new(
        server: &Server,
        endpoint: &Endpoint,
        setup: Arc<TlsSetup>,
        identity: &HeaderMap,
        answer_timeout: Duration,
    ) -> Self {
        let mut headers = format!("Host: {}\r\nUser-Agent: trellis\r\n", endpoint.address()).into_bytes();
        for (name, value) in identity {
            for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                headers.extend_from_slice(part);
            }
        }
        // Tokens and servers in this process are for the ordinary client.
        let plain = server.credentials.bearer_token.is_none() && matches!(endpoint, Endpoint::Network { .. });
        let glance = Glance {
            endpoint: endpoint.clone(),
            setup,
            // A registration may allow its clients more patience than the door has for a glance.
            connect_timeout: server.limits.connect_timeout.min(answer_timeout),
            answer_timeout,
            base_path: server.base_path.clone(),
            headers,
            io: None,
            certificate_end: None,
            failures: 0,
            paused_until: None,
        };
        let kept = Kept { glance: plain.then_some(glance), certificate_end: None };
        Self(Arc::new(Mutex::new(kept)))
    }

    /// When the certificate ends that the server showed last.
    pub(crate) fn certificate_end(&self) -> Option<SystemTime> {
        self.kept().certificate_end
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the document at `path` is certainly still the one with this ETag. False says nothing.
    pub(crate) async fn unchanged(&self, path: &str, accept: &str, etag: &str) -> bool {
        let Some(mut glance) = self.kept().glance.take() else { return false };
        let paused = glance.paused_until.is_some_and(|until| Instant::now() < until);
        let unchanged = !paused && glance.ask(path, accept, etag).await;
        if unchanged {
            glance.failures = 0;
        } else if !paused {
            glance.io = None;
            glance.failures += 1;
            glance.paused_until = (glance.failures >= PATIENCE).then(|| Instant::now() + PAUSE);
        }
        let mut kept = self.kept();
        kept.certificate_end = glance.certificate_end;
        kept.glance = Some(glance);
        unchanged
    }
}

impl Glance {
    async fn ask(&mut self, path: &str, accept: &str, etag: &str) -> bool {
        if etag.bytes().any(|byte| !(b' '..=b'~').contains(&byte)) {
            return false;
        }
        if self.io.is_none() {
            let connected = connect(&self.setup, &self.endpoint, Offer::Http1, self.connect_timeout).await;
            let Ok(connected) = connected else { return false };
            if connected.protocol != Protocol::Http1 {
                return false;
            }
            let leaf = connected.io.peer_certificate().and_then(|leaf| pki::Peer::parse(leaf).ok());
            self.certificate_end = leaf.map(|leaf| leaf.not_after);
            self.io = Some(connected.io);
        }
        let Some(io) = self.io.as_mut() else { return false };
        let mut request = Vec::with_capacity(512);
        for part in [
            "GET ",
            &self.base_path,
            path,
            " HTTP/1.1\r\nAccept: ",
            accept,
            "\r\nIf-None-Match: ",
            etag,
            "\r\n",
        ] {
            request.extend_from_slice(part.as_bytes());
        }
        request.extend_from_slice(&self.headers);
        request.extend_from_slice(b"\r\n");
        let exchange = async {
            io.write_all(&request).await.ok()?;
            io.flush().await.ok()?;
            read_head(io).await
        };
        let head = tokio::time::timeout(self.answer_timeout, exchange).await;
        head.ok().flatten().is_some_and(|head| is_not_modified(&head))
    }
}

/// Everything up to the empty line, if nothing follows it.
async fn read_head(io: &mut Io) -> Option<Vec<u8>> {
    let mut head = Vec::with_capacity(1024);
    loop {
        let read = io.read_buf(&mut head).await.ok()?;
        if head.ends_with(b"\r\n\r\n") {
            return Some(head);
        }
        if read == 0 || head.len() > MAX_HEAD {
            return None;
        }
    }
}

/// A 304 after which the connection stays, and nothing else.
fn is_not_modified(head: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(head) else { return false };
    let closes = |line: &str| {
        let (name, value) = line.split_once(':').unwrap_or_default();
        let value = value.trim();
        (name.eq_ignore_ascii_case("connection") && value.to_ascii_lowercase().contains("close"))
            || (name.eq_ignore_ascii_case("transfer-encoding"))
            || (name.eq_ignore_ascii_case("content-length") && value != "0")
    };
    text.starts_with("HTTP/1.1 304 ") && text.matches("\r\n\r\n").count() == 1 && !text.lines().any(closes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_a_plain_304_counts() {
        let cases = [
            ("HTTP/1.1 304 Not Modified\r\nEtag: \"a\"\r\n\r\n", true),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 0\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false),
            ("HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n", false),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false),
            ("HTTP/1.1 304 Not Modified\r\n\r\nHTTP/1.1 304 Not Modified\r\n\r\n", false),
            ("HTTP/1.0 304 Not Modified\r\n\r\n", false),
            ("", false),
        ];
        for (head, counts) in cases {
            assert_eq!(super::is_not_modified(head.as_bytes()), counts, "{head:?}");
        }
    }
}
