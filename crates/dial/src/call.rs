//! A request of the door's own and its answer.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header::HeaderName};

/// A request that the door makes on its own account.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// `GET`, or `POST` for reviews.
    pub method: Method,
    /// Path and query, below the base path of the server; starts with a slash.
    pub path: &'a str,
    /// Headers: `Accept`, identity, conditions. `Authorization` is added from the server's
    /// credentials when it is absent; `Host` always.
    pub headers: HeaderMap,
    /// Body, with its content type among the headers.
    pub body: Bytes,
    /// Bytes of the answer's body that are accepted.
    pub limit: usize,
    /// Until the answer's head must be there, a new connection not counted.
    pub head_timeout: Duration,
    /// Until all of it must be there, a new connection not counted.
    pub timeout: Duration,
}

impl<'a> Call<'a> {
    /// A GET with moderate bounds: 32 MiB, 5 s for the head, 30 s in all.
    pub fn get(path: &'a str) -> Self {
        Self {
            method: Method::GET,
            path,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            limit: 32 << 20,
            head_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(30),
        }
    }

    /// A POST of `body` with the same bounds.
    pub fn post(path: &'a str, body: impl Into<Bytes>) -> Self {
        Self { method: Method::POST, body: body.into(), ..Self::get(path) }
    }

    /// Sets a header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets the bound on the answer's body, in bytes.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Sets the two timeouts: for the head, and for all of it.
    #[must_use]
    pub fn timeouts(mut self, head: Duration, all: Duration) -> Self {
        (self.head_timeout, self.timeout) = (head, all);
        self
    }
}

/// An answer, complete.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Any status but a redirect.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Body, within the limit.
    pub body: Bytes,
}

impl Answer {
    /// The content type without its parameters, or nothing.
    pub fn media_type(&self) -> &str {
        let value = self.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        value.and_then(|value| value.split(';').next()).unwrap_or("").trim()
    }
}
