//! The test clients, for code that blocks.

use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::{Builder, Runtime};

use crate::{Client, Reply, Target, client::out};

/// Which HTTP version to speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2.
    Http2,
}

/// A client that makes a connection for each request.
pub struct Http {
    runtime: Runtime,
}

impl Http {
    /// A client.
    ///
    /// # Panics
    /// When the machine has no thread left.
    pub fn new() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Self { runtime: runtime.expect("a runtime") }
    }

    /// Sends one request and waits at most `limit` for the whole answer; a reason when there is none.
    ///
    /// # Errors
    /// When no connection comes about, or no whole answer in time.
    pub fn send(
        &self,
        target: &Target,
        protocol: Protocol,
        request: (&str, &str),
        headers: &[(String, String)],
        body: impl Into<Bytes>,
        limit: Duration,
    ) -> Result<Reply, String> {
        let (method, path) = request;
        let mut builder = ::http::Request::builder().method(method).uri(path);
        for (name, value) in headers {
            builder = builder.header(name, value);
        }
        let request = builder.body(out(body)).map_err(|error| error.to_string())?;
        self.runtime.block_on(async {
            let exchange = async {
                let mut client = match protocol {
                    Protocol::Http1 => Client::http1(target).await,
                    Protocol::Http2 => Client::http2(target).await,
                }
                .map_err(|error| error.to_string())?;
                client.send(request).await.map_err(|error| format!("{error:?}"))
            };
            tokio::time::timeout(limit, exchange).await.map_err(|_| format!("no answer within {limit:?}"))?
        })
    }

    /// A GET; a reason when there is no answer.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn get(&self, target: &Target, path: &str) -> Result<Reply, String> {
        self.send(target, Protocol::Http1, ("GET", path), &[], "", Duration::from_secs(30))
    }

    /// Whether a GET is answered with 200.
    pub fn is_ok(&self, target: &Target, path: &str) -> bool {
        let limit = Duration::from_secs(5);
        let reply = self.send(target, Protocol::Http1, ("GET", path), &[], "", limit);
        reply.is_ok_and(|reply| reply.status == ::http::StatusCode::OK)
    }
}

impl Default for Http {
    fn default() -> Self {
        Self::new()
    }
}
