//! The door's own requests to one endpoint, over one kept connection.

mod exchange;
mod link;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use catalog::{Cause, Endpoint, Failure, Server};

use self::{
    exchange::{collect, head, in_process, request},
    link::{Link, SendError},
};
use crate::{Answer, Call, Offer, TlsSetup, connect};

/// Requests of the door's own to one endpoint. One connection is kept between them; HTTP/2 carries
/// several at once, with HTTP/1.1 each concurrent one opens a connection of its own.
pub struct Client {
    server: Arc<Server>,
    endpoint: Endpoint,
    setup: Arc<TlsSetup>,
    /// Held for a take or a put only, never while anything is awaited.
    kept: Mutex<Option<Link>>,
    /// Of the certificate that was shown last.
    certificate_end: Mutex<Option<SystemTime>>,
}

impl Client {
    /// For this endpoint of `server`; `setup` is that of its revision. Nothing is connected yet.
    pub fn new(server: Arc<Server>, endpoint: Endpoint, setup: Arc<TlsSetup>) -> Self {
        Self { server, endpoint, setup, kept: Mutex::new(None), certificate_end: Mutex::new(None) }
    }

    /// The endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// When the certificate ends that the endpoint showed last; none before the first connection, and
    /// without TLS.
    pub fn certificate_end(&self) -> Option<SystemTime> {
        *lock(&self.certificate_end)
    }

    /// Lets go of the kept connection; the next call opens a new one.
    pub fn disconnect(&self) {
        self.take();
    }

    /// Makes one request. When a kept connection turns out to be dead, a request that did no harm is
    /// made once more on a new one.
    ///
    /// # Errors
    /// When no connection comes about, on a redirect ([`Cause::RedirectRefused`]), when the head or
    /// the whole does not come in time, when the body is over the limit, or does not end well.
    pub async fn call(&self, call: &Call<'_>) -> Result<Answer, Failure> {
        if let Endpoint::InProcess(service) = &self.endpoint {
            return in_process(&**service, &self.server, call).await;
        }
        if let Some(link) = self.take().filter(Link::is_open) {
            match self.exchange(link, call).await {
                Err(lost) if lost.may_repeat(call) => {}
                ended => return ended.map_err(|lost| lost.failure),
            }
        }
        let link = self.connect(call).await?;
        self.exchange(link, call).await.map_err(|lost| lost.failure)
    }

    /// A registration may allow its clients more patience than the door has for its own requests.
    async fn connect(&self, call: &Call<'_>) -> Result<Link, Failure> {
        let timeout = self.server.limits.connect_timeout.min(call.head_timeout).min(call.timeout);
        let connected = connect(&self.setup, &self.endpoint, Offer::Any, timeout).await?;
        let certificate = connected.io.peer_certificate().and_then(|leaf| pki::Peer::parse(leaf).ok());
        *lock(&self.certificate_end) = certificate.map(|peer| peer.not_after);
        match tokio::time::timeout(timeout, Link::new(connected)).await {
            Ok(link) => link.map_err(|failure| self.at(failure)),
            Err(_) => {
                Err(self.at(Failure::new(Cause::ConnectTimeout, format!("no HTTP within {timeout:?}"))))
            }
        }
    }

    async fn exchange(&self, mut link: Link, call: &Call<'_>) -> Result<Answer, Lost> {
        let request = request(&self.server, &self.endpoint, link.protocol(), call)?;
        // HTTP/2 is shared from now on; a connection that fails below is taken out again.
        if let Some(shared) = link.share() {
            self.put(shared);
        }
        let ended = self.finish(&mut link, request, call).await;
        match &ended {
            Ok(_) => self.put_back(link),
            Err(lost) if lost.breaks_connection() => self.disconnect(),
            Err(_) => {}
        }
        ended
    }

    async fn finish(
        &self,
        link: &mut Link,
        request: http::Request<link::Outgoing>,
        call: &Call<'_>,
    ) -> Result<Answer, Lost> {
        let deadline = tokio::time::Instant::now() + call.timeout;
        let head_timeout = call.head_timeout.min(call.timeout);
        let response = tokio::time::timeout(head_timeout, link.send(request))
            .await
            .map_err(|_| self.too_late(&format!("no answer within {head_timeout:?}")))?
            .map_err(|SendError { failure, unsent }| Lost { failure: self.at(failure), unsent })?;
        let (parts, body) = response.into_parts();
        head(&parts, call).map_err(|failure| self.at(failure))?;
        let body = tokio::time::timeout_at(deadline, collect(body, call.limit))
            .await
            .map_err(|_| self.too_late(&format!("the answer did not end within {:?}", call.timeout)))?
            .map_err(|failure| self.at(failure))?;
        Ok(Answer { status: parts.status, headers: parts.headers, body })
    }

    fn too_late(&self, detail: &str) -> Failure {
        self.at(Failure::new(Cause::ResponseTimeout, detail))
    }

    fn at(&self, failure: Failure) -> Failure {
        Failure::new(failure.cause, format!("{}: {}", self.endpoint.address(), failure.detail))
    }

    fn take(&self) -> Option<Link> {
        lock(&self.kept).take()
    }

    fn put(&self, link: Link) {
        *lock(&self.kept) = Some(link);
    }

    /// An HTTP/1.1 connection that has given its whole answer can carry the next.
    fn put_back(&self, link: Link) {
        if link.protocol() == crate::Protocol::Http1 && link.is_open() {
            self.put(link);
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Client({} at {})", self.server.name, self.endpoint.address())
    }
}

/// Nothing panics while it holds one of these.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A call that brought no answer.
struct Lost {
    failure: Failure,
    /// Nothing of it reached the server.
    unsent: bool,
}

impl From<Failure> for Lost {
    fn from(failure: Failure) -> Self {
        Self { failure, unsent: false }
    }
}

impl Lost {
    fn may_repeat(&self, call: &Call<'_>) -> bool {
        let harmless = call.method.is_safe() && self.failure.cause == Cause::ConnectionLost;
        self.unsent || harmless
    }

    /// A stream that was refused or was too large leaves an HTTP/2 connection as good as before.
    fn breaks_connection(&self) -> bool {
        matches!(
            self.failure.cause,
            Cause::ConnectionLost | Cause::ResponseTimeout | Cause::ProtocolError | Cause::TlsFailed
        )
    }
}
