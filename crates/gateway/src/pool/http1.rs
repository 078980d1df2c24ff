//! Connections of HTTP/1.1: one request at a time.

use std::{sync::Arc, time::Duration};

use http::{Request, Response};
use hyper::{
    body::Incoming,
    client::conn::{TrySendError, http1},
};
use tokio::time::Instant;

use super::{Class, EndpointPool};
use crate::body::RequestBody;

/// Servers close idle connections, often after 90 s or more: we are earlier.
const IDLE_LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn builder() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.max_buf_size(256 * 1024);
    builder
}

/// A connection without a request.
pub(super) struct Idle {
    sender: http1::SendRequest<RequestBody>,
    since: Instant,
    home: usize,
}

impl Idle {
    pub(super) fn new(sender: http1::SendRequest<RequestBody>, home: usize) -> Self {
        Self { sender, since: Instant::now(), home }
    }

    /// The place of the worker that drives it.
    pub(super) fn home(&self) -> usize {
        self.home
    }

    pub(super) fn is_usable(&self) -> bool {
        !self.sender.is_closed() && self.since.elapsed() < IDLE_LIMIT
    }
}

/// A connection while it carries a request; dropped before the answer is over, it closes.
pub(crate) struct Http1Lease {
    endpoint: Arc<EndpointPool>,
    sender: Option<http1::SendRequest<RequestBody>>,
    class: Class,
    /// Whether its body was sent, so that it can carry the next request.
    body: RequestBody,
    /// The place of the worker that drives it; none when it is not of the pool, so does not go there.
    home: Option<usize>,
}

impl Http1Lease {
    /// The lease of an idle connection, unless it closed meanwhile.
    pub(super) async fn ready(endpoint: &Arc<EndpointPool>, idle: Idle, class: Class) -> Option<Self> {
        endpoint.enter();
        let mut lease = Self {
            endpoint: endpoint.clone(),
            sender: Some(idle.sender),
            class,
            body: RequestBody::Empty,
            home: Some(idle.home),
        };
        // It has taken note of the end of the last answer in a moment, if it has not already.
        lease.sender.as_mut()?.ready().await.ok()?;
        Some(lease)
    }

    /// A connection for one request, that no pool knows.
    pub(crate) fn single(endpoint: &Arc<EndpointPool>, sender: http1::SendRequest<RequestBody>) -> Self {
        endpoint.enter();
        let sender = Some(sender);
        Self {
            endpoint: endpoint.clone(),
            sender,
            class: Class::Ordinary,
            body: RequestBody::Empty,
            home: None,
        }
    }

    /// Sends a request. The error holds it when nothing of it was sent.
    pub(crate) async fn send(
        &mut self,
        request: Request<RequestBody>,
    ) -> Result<Response<Incoming>, TrySendError<Request<RequestBody>>> {
        self.body = request.body().clone();
        match &mut self.sender {
            Some(sender) => sender.try_send_request(request).await,
            None => unreachable!("a lease gives its connection back only after its answer"),
        }
    }

    /// The answer is over: the connection may carry the next request.
    pub(crate) fn give_back(&mut self) {
        let body = std::mem::replace(&mut self.body, RequestBody::Empty);
        if let Some(sender) = self.sender.take()
            && let Some(home) = self.home
            && http_body::Body::is_end_stream(&body)
        {
            self.endpoint.push_idle(Idle::new(sender, home));
        }
    }
}

impl Drop for Http1Lease {
    fn drop(&mut self) {
        self.endpoint.leave();
        if self.class == Class::LongRunning {
            self.endpoint.long_running_ended();
        }
    }
}
