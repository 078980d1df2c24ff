//! Bodies of answers: whole, made while they are sent, or never ending.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header::CONTENT_TYPE};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use serde_json::Value;
use tokio::sync::{mpsc, watch};

/// Error of a body that ends badly on purpose.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a test server's answer.
pub type AnswerBody = UnsyncBoxBody<Bytes, BoxError>;

/// The answer of a test server.
pub type Answer = Response<AnswerBody>;

/// An answer of this type and content.
pub fn full(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    with_body(status, content_type, AnswerBody::new(Full::new(body.into()).map_err(|never| match never {})))
}

/// A JSON answer.
pub fn json(status: StatusCode, value: &Value) -> Answer {
    full(status, "application/json", value.to_string())
}

pub(crate) fn with_body(status: StatusCode, content_type: &'static str, body: AnswerBody) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

/// A body from an iterator that makes its parts when they are wanted.
pub(crate) struct Made<I>(pub(crate) I);

impl<I: Iterator<Item = Result<Frame<Bytes>, BoxError>> + Unpin> Body for Made<I> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Poll::Ready(self.0.next())
    }
}

/// Parts of data as a body.
pub(crate) fn made(parts: impl Iterator<Item = Bytes> + Send + Unpin + 'static) -> AnswerBody {
    AnswerBody::new(Made(parts.map(|data| Ok(Frame::data(data)))))
}

/// A body that another task sends; it ends when the sender is dropped.
pub(crate) struct Sent(mpsc::Receiver<Frame<Bytes>>);

pub(crate) fn sent() -> (mpsc::Sender<Frame<Bytes>>, AnswerBody) {
    let (tx, rx) = mpsc::channel(16);
    (tx, AnswerBody::new(Sent(rx)))
}

impl Body for Sent {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.0.poll_recv(cx).map(|frame| frame.map(Ok))
    }
}

/// Counts as cancelled when it is dropped before it was finished.
pub(crate) struct Unfinished(Option<watch::Sender<usize>>);

impl Unfinished {
    pub(crate) fn new(counter: watch::Sender<usize>) -> Self {
        Self(Some(counter))
    }

    pub(crate) fn finish(&mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(counter) = self.0.take() {
            counter.send_modify(|count| *count += 1);
        }
    }
}

/// A body with the watch over its end.
pub(crate) struct Tracked {
    pub(crate) body: AnswerBody,
    pub(crate) unfinished: Unfinished,
}

impl Body for Tracked {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.unfinished.finish();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
