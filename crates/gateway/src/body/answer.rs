//! A backend's answer on its way to the client, with everything that lives as long as it does.

use std::{
    future::Future as _,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use catalog::BodyError;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep};

use crate::{
    audit::AuditRecord,
    connection::LongRunning,
    drain::WatchTicket,
    limits::Permit,
    metrics::RequestMetrics,
    pool::{Http1Lease, Http2Lease},
};

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
    pub(crate) long_running: Option<LongRunning>,
    bytes: u64,
    complete: bool,
}

impl Held {
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
    source: Source,
    held: Held,
    deadline: Option<Deadline>,
    /// Set for watches: how a stopping door ends them.
    ticket: Option<WatchTicket>,
}

/// When an ordinary request must be over.
struct Deadline {
    at: Instant,
    /// Made only when the answer does not come at once.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Proxied {
    pub(crate) fn new(source: Source, held: Held, deadline: Option<Instant>) -> Self {
        Self { source, held, deadline: deadline.map(|at| Deadline { at, sleep: None }), ticket: None }
    }

    pub(crate) fn ended_by(mut self, ticket: WatchTicket) -> Self {
        self.ticket = Some(ticket);
        self
    }

    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some(ticket) = &self.ticket
            && ticket.poll_ended(cx)
        {
            self.held.complete();
            return Poll::Ready(None);
        }
        let Poll::Ready(next) = self.source.poll_frame(cx) else {
            return self.poll_deadline(cx);
        };
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

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(Deadline { at, sleep }) = &mut self.deadline else { return Poll::Pending };
        let sleep = sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(*at)));
        ready!(sleep.as_mut().poll(cx));
        Poll::Ready(Some(Err("the answer did not end within the time of the request".into())))
    }

    fn finish(&mut self) {
        self.held.complete();
        if let Source::Http1(_, lease) = &mut self.source {
            lease.give_back();
        }
    }

    pub(super) fn is_end_stream(&self) -> bool {
        self.source.is_end_stream()
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        match &self.source {
            // The length, where known, is in the headers; this one is only a hint.
            Source::Http2(stream, _) if stream.is_end_stream() => SizeHint::with_exact(0),
            Source::Http2(..) => SizeHint::default(),
            Source::Http1(incoming, _) => incoming.size_hint(),
            Source::InProcess(body) => body.size_hint(),
        }
    }
}

impl Drop for Proxied {
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
