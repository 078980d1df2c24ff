//! A backend's answer on its way to the client, with everything that lives as long as it does.

use std::{
    future::Future as _,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use catalog::BodyError;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep};

use super::overdue::{self, Deadlines, Entry, SharedFlow};
use crate::{
    audit::AuditRecord,
    connection::OpenRequest,
    drain::WatchTicket,
    limits::Permit,
    metrics::RequestMetrics,
    pool::{Http1Lease, Http2Lease},
};

const TOO_LATE: &str = "the answer did not end within the time of the request";

/// Where the bytes come from, with the connection that they come over.
pub(crate) enum Source {
    Http2(h2::RecvStream, Http2Lease),
    Http1(Incoming, Http1Lease),
    InProcess(catalog::Body),
}

/// What ends with the answer. A watch keeps it for hours: keep it small.
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) metrics: Option<RequestMetrics>,
    pub(crate) audit: Option<Box<AuditRecord>>,
    pub(crate) permits: [Option<Permit>; 2],
    pub(crate) open: Option<OpenRequest>,
    bytes: u64,
    complete: bool,
}

impl Held {
    /// For a request that begins.
    pub(crate) fn new(open: OpenRequest) -> Self {
        let mut held = Self::default();
        held.open = Some(open);
        held
    }

    pub(crate) fn sent(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// The answer went out whole; else the request counts as aborted.
    pub(crate) fn complete(&mut self) {
        self.complete = true;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let (true, Some(metrics)) = (self.complete, self.metrics.take()) {
            metrics.finish(self.bytes);
        }
    }
}

/// The stream itself.
pub(crate) struct Proxied {
    flow: Passage,
    deadline: Option<Deadline>,
    /// Set for watches: how a stopping door ends them.
    ticket: Option<WatchTicket>,
}

/// Where an answer is kept.
#[expect(clippy::large_enum_variant, reason = "a box for each watch, or for each small answer, costs more")]
enum Passage {
    Own(Flow),
    /// Where [`Deadlines`] can end it too.
    Shared(SharedFlow, #[expect(dead_code, reason = "the entry lives as long as the answer")] Entry),
}

/// The bytes, and what ends with them.
pub(super) struct Flow {
    source: Source,
    held: Held,
}

/// When an ordinary request must be over.
struct Deadline {
    at: Instant,
    /// Made only when the answer does not come at once.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Proxied {
    pub(crate) fn new(source: Source, held: Held, deadline: Option<Instant>) -> Self {
        let deadline = deadline.map(|at| Deadline { at, sleep: None });
        Self { flow: Passage::Own(Flow { source, held }), deadline, ticket: None }
    }

    /// A watch, that a stopping door ends.
    pub(crate) fn ended_by(mut self, ticket: WatchTicket) -> Self {
        self.ticket = Some(ticket);
        self
    }

    /// For a client that may leave this answer alone unread: its deadline holds all the same.
    pub(crate) fn watched_by(self, deadlines: &Arc<Deadlines>) -> Self {
        let (flow, deadline) = match (self.flow, self.deadline) {
            (Passage::Own(flow), Some(deadline)) if !flow.source.is_end_stream() => (flow, deadline),
            (flow, deadline) => return Self { flow, deadline, ..self },
        };
        let shared = Arc::new(Mutex::new(Some(flow)));
        let entry = deadlines.enter(deadline.at, shared.clone());
        Self { flow: Passage::Shared(shared, entry), deadline: Some(deadline), ticket: self.ticket }
    }

    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = match &mut self.flow {
            Passage::Own(flow) => {
                if let Some(ticket) = &self.ticket
                    && ticket.poll_ended(cx)
                {
                    flow.held.complete();
                    return Poll::Ready(None);
                }
                flow.poll_frame(cx)
            }
            Passage::Shared(shared, _) => match &mut *overdue::lock(shared) {
                Some(flow) => flow.poll_frame(cx),
                None => Poll::Ready(Some(Err(TOO_LATE.into()))),
            },
        };
        if polled.is_ready() { polled } else { self.poll_deadline(cx) }
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(Deadline { at, sleep }) = &mut self.deadline else { return Poll::Pending };
        let sleep = sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(*at)));
        ready!(sleep.as_mut().poll(cx));
        Poll::Ready(Some(Err(TOO_LATE.into())))
    }

    pub(super) fn is_end_stream(&self) -> bool {
        self.with_source(|source| source.is_end_stream()).unwrap_or(false)
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        self.with_source(Source::size_hint).unwrap_or_default()
    }

    /// None when the answer was ended from outside.
    fn with_source<T>(&self, f: impl FnOnce(&Source) -> T) -> Option<T> {
        match &self.flow {
            Passage::Own(flow) => Some(f(&flow.source)),
            Passage::Shared(shared, _) => overdue::lock(shared).as_ref().map(|flow| f(&flow.source)),
        }
    }
}

impl Flow {
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let next = ready!(self.source.poll_frame(cx));
        match &next {
            Some(Ok(frame)) => {
                self.held.sent(frame.data_ref().map_or(0, Bytes::len));
                if self.source.is_end_stream() {
                    self.finish();
                }
            }
            Some(Err(_)) => {}
            None => self.finish(),
        }
        Poll::Ready(next)
    }

    fn finish(&mut self) {
        self.held.complete();
        if let Source::Http1(_, lease) = &mut self.source {
            lease.give_back();
        }
    }
}

impl Drop for Flow {
    /// A body that is over before it was asked for (HEAD, 204) is never polled.
    fn drop(&mut self) {
        if !self.held.complete && self.source.is_end_stream() {
            self.finish();
        }
    }
}

impl Source {
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match self {
            Self::Http2(stream, lease) => poll_http2(stream, cx).map_err(|e| lease.explain(e)),
            Self::Http1(incoming, _) => Pin::new(incoming).poll_frame(cx).map_err(Into::into),
            Self::InProcess(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            // The length, where known, is in the headers; this one is only a hint.
            Self::Http2(stream, _) if stream.is_end_stream() => SizeHint::with_exact(0),
            Self::Http2(..) => SizeHint::default(),
            Self::Http1(incoming, _) => incoming.size_hint(),
            Self::InProcess(body) => body.size_hint(),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Http2(stream, _) => stream.is_end_stream(),
            Self::Http1(incoming, _) => incoming.is_end_stream(),
            Self::InProcess(body) => body.is_end_stream(),
        }
    }
}

fn poll_http2(
    stream: &mut h2::RecvStream,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
    match ready!(stream.poll_data(cx)) {
        Some(Ok(data)) => {
            // What was taken may be sent anew: the client's pace is the backend's pace.
            let _ = stream.flow_control().release_capacity(data.len());
            Poll::Ready(Some(Ok(Frame::data(data))))
        }
        Some(Err(error)) => Poll::Ready(Some(Err(error))),
        None => Poll::Ready(match ready!(stream.poll_trailers(cx)) {
            Ok(trailers) => trailers.map(|trailers| Ok(Frame::trailers(trailers))),
            Err(error) => Some(Err(error)),
        }),
    }
}
