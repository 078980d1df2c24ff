//! Connections of HTTP/2: many requests at a time, and pings that say whether anybody is there.

use std::{
    future::Future as _,
    pin::Pin,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use catalog::{BodyError, Cause, Failure};
use dial::Io;
use h2::{RecvStream, client::ResponseFuture};
use http::Response;
use tokio::sync::Notify;

use super::{
    Class, EndpointPool, keepalive,
    resets::{Abandoned, Resets},
};

/// Until the peer has said how many streams it takes.
const ASSUMED_STREAMS: usize = 100;

/// A connection, as its users see it; a task of its own drives it.
pub(crate) struct Http2Connection {
    sender: h2::client::SendRequest<Bytes>,
    streams: AtomicUsize,
    max_streams: AtomicUsize,
    /// Requests that wait: ordinary ones until they are over, others until their head is there.
    pub(super) waiting: AtomicUsize,
    /// Requests that were ever begun: tells whether there was any since the last look.
    pub(super) begun: AtomicUsize,
    /// Nobody pings; whoever begins a request must wake the pinging.
    pub(super) asleep: AtomicBool,
    pub(super) wake: Notify,
    closed: AtomicBool,
    failure: OnceLock<Failure>,
    resets: Resets<Unanswered>,
}

impl Http2Connection {
    pub(super) fn new(sender: h2::client::SendRequest<Bytes>) -> Arc<Self> {
        Arc::new(Self {
            sender,
            streams: AtomicUsize::new(0),
            max_streams: AtomicUsize::new(ASSUMED_STREAMS),
            waiting: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            asleep: AtomicBool::new(false),
            wake: Notify::new(),
            closed: AtomicBool::new(false),
            failure: OnceLock::new(),
            resets: Resets::new(),
        })
    }

    pub(super) fn streams(&self) -> usize {
        self.streams.load(Ordering::Relaxed)
    }

    pub(super) fn has_room(&self) -> bool {
        if self.closed.load(Ordering::Relaxed) {
            return false;
        }
        let max = self.max_streams.load(Ordering::Relaxed);
        if self.streams() < max {
            return true;
        }
        // The peer may have changed its mind; asking takes a lock, so it is not done on every request.
        let now = self.sender.current_max_send_streams();
        self.max_streams.store(now, Ordering::Relaxed);
        self.streams() < now
    }

    /// How many streams are many for this connection. Never one: each request would open another one.
    pub(super) fn grow_at(&self, many: usize) -> usize {
        grow_at(many, self.max_streams.load(Ordering::Relaxed))
    }

    /// No new streams; the connection closes when those that are there are over.
    pub(super) fn retire(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    pub(super) fn is_retired(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Learns how many streams the peer takes.
    pub(super) fn refresh(&self) {
        self.max_streams.store(self.sender.current_max_send_streams(), Ordering::Relaxed);
    }

    /// Drives the connection until it ends, and tells its endpoint.
    pub(super) async fn drive(
        self: Arc<Self>,
        mut connection: h2::client::Connection<Io, Bytes>,
        endpoint: Weak<EndpointPool>,
        home: usize,
    ) {
        let ping = connection.ping_pong();
        let surplus = || endpoint.upgrade().is_some_and(|endpoint| endpoint.has_others(home));
        let dead = tokio::select! {
            ended = connection => {
                let why = ended.err().map_or_else(|| "it closed the connection".to_owned(), |e| e.to_string());
                let _ = self.failure.set(Failure::new(Cause::ConnectionLost, why));
                None
            }
            failure = keepalive::watch(&self, ping, surplus) => {
                if let Some(failure) = &failure {
                    let _ = self.failure.set(failure.clone());
                }
                failure
            }
        };
        self.closed.store(true, Ordering::Relaxed);
        if let Some(endpoint) = endpoint.upgrade() {
            endpoint.shared.metrics.connections(-1);
            endpoint.closed_http2(&self, home, dead);
        }
    }
}

/// `max` is the largest number there is when the peer has named no limit, or not yet.
fn grow_at(many: usize, max: usize) -> usize {
    many.min(max - max / 4).max(2)
}

/// One stream of a connection. A watch holds it for hours: keep it small.
pub(crate) struct Http2Lease {
    connection: Arc<Http2Connection>,
    endpoint: Arc<EndpointPool>,
    class: Class,
    waits: bool,
}

impl Http2Lease {
    pub(super) fn new(
        connection: &Arc<Http2Connection>,
        endpoint: &Arc<EndpointPool>,
        class: Class,
    ) -> Option<Self> {
        let max = connection.max_streams.load(Ordering::Relaxed);
        if connection.streams.fetch_add(1, Ordering::Relaxed) >= max {
            connection.streams.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        endpoint.enter();
        connection.begun.fetch_add(1, Ordering::Relaxed);
        connection.waiting.fetch_add(1, Ordering::SeqCst);
        if connection.asleep.load(Ordering::SeqCst) && connection.asleep.swap(false, Ordering::SeqCst) {
            connection.wake.notify_one();
        }
        Some(Self { connection: connection.clone(), endpoint: endpoint.clone(), class, waits: true })
    }

    /// The sending side, for one request.
    pub(crate) fn sender(&self) -> h2::client::SendRequest<Bytes> {
        self.connection.sender.clone()
    }

    /// The head of the answer is there.
    pub(crate) fn answered(&mut self) {
        if self.class == Class::LongRunning {
            self.wait_no_more();
        }
    }

    /// The peer takes no new streams here (GOAWAY, or the connection is dead).
    pub(crate) fn exhausted(&self) {
        self.connection.closed.store(true, Ordering::Relaxed);
    }

    /// Why a stream broke: what is known of the connection, else of the stream.
    pub(crate) fn failure(&self, error: &h2::Error) -> Failure {
        if let Some(failure) = self.connection.failure.get() {
            return failure.clone();
        }
        let cause =
            if error.is_io() || error.is_go_away() { Cause::ConnectionLost } else { Cause::ProtocolError };
        Failure::new(cause, format!("{}: {error}", self.endpoint.address))
    }

    /// The same for a body that breaks off.
    pub(crate) fn explain(&self, error: h2::Error) -> BodyError {
        Box::new(self.failure(&error))
    }

    fn wait_no_more(&mut self) {
        if std::mem::take(&mut self.waits) {
            self.connection.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Http2Lease {
    fn drop(&mut self) {
        self.wait_no_more();
        let last = self.connection.streams.fetch_sub(1, Ordering::Relaxed) == 1;
        if last && self.connection.is_retired() {
            self.connection.wake.notify_one();
        }
        self.endpoint.leave();
        self.endpoint.freed();
    }
}

/// A request whose answer has not begun. One that is dropped leaves its stream to the connection, which
/// resets it when that does not harm others.
pub(crate) struct Waiting(Option<Unanswered>);

struct Unanswered {
    response: ResponseFuture,
    lease: Http2Lease,
}

impl Waiting {
    pub(crate) fn new(lease: Http2Lease, response: ResponseFuture) -> Self {
        Self(Some(Unanswered { response, lease }))
    }

    /// The head of the answer, with the lease. Not to be asked again after that.
    pub(crate) fn poll_answer(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<(Http2Lease, Result<Response<RecvStream>, h2::Error>)> {
        let Some(unanswered) = &mut self.0 else { return Poll::Pending };
        let Poll::Ready(answer) = Pin::new(&mut unanswered.response).poll(cx) else { return Poll::Pending };
        match self.0.take() {
            Some(Unanswered { lease, .. }) => Poll::Ready((lease, answer)),
            None => Poll::Pending,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(mut unanswered) = self.0.take()
            && !unanswered.is_over()
        {
            let connection = unanswered.lease.connection.clone();
            connection.resets.give_up(unanswered);
        }
    }
}

impl Abandoned for Unanswered {
    fn is_over(&mut self) -> bool {
        Pin::new(&mut self.response).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_crowded_at_three_quarters_of_whatever_limit() {
        let cases = [(50, usize::MAX, 50), (50, 100, 50), (50, 40, 30), (50, 1, 2), (50, 0, 2), (1, 100, 2)];
        for (many, max, expected) in cases {
            assert_eq!(grow_at(many, max), expected, "{many} of {max}");
        }
    }
}
