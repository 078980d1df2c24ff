//! What a test server received.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request, Version};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use crate::fold_cgi;

/// Bytes of a body that are kept; its hash is over all of it.
const KEPT_BODY: usize = 256 << 10;

/// One request as it was received.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// HTTP version.
    pub version: Version,
    /// Method.
    pub method: String,
    /// Path and query, as sent. With HTTP/2 without scheme and authority.
    pub target: String,
    /// `Host`, or `:authority` with HTTP/2.
    pub authority: String,
    /// Header fields in their order; names as hyper gives them, in lower case.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Trailer fields.
    pub trailers: Vec<(String, Vec<u8>)>,
    /// The first 256 KiB of the body.
    pub body: Bytes,
    /// Length of the whole body in bytes.
    pub body_len: u64,
    /// SHA-256 of the whole body, lower-case hexadecimal.
    pub body_sha256: String,
    /// Whether the body came to its end.
    pub complete: bool,
    /// Common name of the client certificate, when there was one.
    pub peer: Option<String>,
    /// Which connection it came on, counted from zero.
    pub connection: usize,
}

impl Recorded {
    /// All values of a header, joined by commas; empty when there is none.
    pub fn header(&self, name: &str) -> String {
        self.header_values(name).join(",")
    }

    /// The values of a header.
    pub fn header_values(&self, name: &str) -> Vec<String> {
        let named = self.headers.iter().filter(|(found, _)| found.eq_ignore_ascii_case(name));
        named.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect()
    }

    /// Headers and trailers as CGI folds them.
    pub fn cgi(&self) -> BTreeMap<String, Vec<Vec<u8>>> {
        let all = self.headers.iter().chain(&self.trailers);
        fold_cgi(all.map(|(name, value)| (name.as_str(), value.as_slice())))
    }

    pub(crate) fn new(request: &Request<Incoming>, peer: Option<String>, connection: usize) -> Self {
        let host =
            request.headers().get(http::header::HOST).map(|host| String::from_utf8_lossy(host.as_bytes()));
        let authority = request.uri().authority().map(ToString::to_string);
        Self {
            version: request.version(),
            method: request.method().to_string(),
            target: request
                .uri()
                .path_and_query()
                .map_or_else(|| request.uri().to_string(), ToString::to_string),
            authority: authority.or(host.map(Into::into)).unwrap_or_default(),
            headers: fields(request.headers()),
            trailers: Vec::new(),
            body: Bytes::new(),
            body_len: 0,
            body_sha256: String::new(),
            complete: false,
            peer,
            connection,
        }
    }

    /// Reads the body to its end.
    pub(crate) async fn read(&mut self, mut body: Incoming) {
        let mut hash = Sha256::new();
        let mut kept = BytesMut::new();
        self.complete = true;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                self.complete = false;
                break;
            };
            match frame.into_data() {
                Ok(data) => {
                    hash.update(&data);
                    self.body_len += data.len() as u64;
                    kept.extend_from_slice(&data[..data.len().min(KEPT_BODY - kept.len())]);
                }
                Err(frame) => self.trailers = frame.trailers_ref().map(fields).unwrap_or_default(),
            }
        }
        self.body = kept.freeze();
        self.body_sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    }

    pub(crate) fn to_json(&self) -> Value {
        let pairs = |fields: &[(String, Vec<u8>)]| -> Vec<Value> {
            fields.iter().map(|(name, value)| json!([name, String::from_utf8_lossy(value)])).collect()
        };
        json!({
            "version": format!("{:?}", self.version), "method": self.method, "target": self.target,
            "authority": self.authority, "headers": pairs(&self.headers), "trailers": pairs(&self.trailers),
            "body": String::from_utf8_lossy(&self.body), "bodyLength": self.body_len,
            "bodySha256": self.body_sha256, "peer": self.peer,
        })
    }
}

fn fields(headers: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec())).collect()
}

/// All requests of a server.
pub(crate) struct Log {
    requests: Mutex<Vec<Recorded>>,
    /// Requests whose head has come.
    pub(crate) started: watch::Sender<usize>,
    /// Requests that have come whole.
    pub(crate) received: watch::Sender<usize>,
}

impl Default for Log {
    fn default() -> Self {
        let counter = || watch::channel(0).0;
        Self { requests: Mutex::default(), started: counter(), received: counter() }
    }
}

impl Log {
    pub(crate) fn push(&self, recorded: Recorded) {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(recorded);
        self.received.send_modify(|count| *count += 1);
    }

    pub(crate) fn all(&self) -> Vec<Recorded> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn clear(&self) {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
