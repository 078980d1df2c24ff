//! Bodies, both ways.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited, combinators::UnsyncBoxBody};
use kube_wire::Status;

use super::{
    audit::{AuditEvent, AuditSink},
    metrics::Running,
};

/// Why the body of a request broke off.
#[derive(Debug, thiserror::Error)]
#[error("the body of the request broke off: {0}")]
pub struct BodyError(pub String);
/// What clients are sent.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;
/// What clients send.
pub type Incoming = UnsyncBoxBody<Bytes, BodyError>;

/// Any body as that of an answer.
pub fn boxed(body: impl http_body::Body<Data = Bytes, Error = Infallible> + Send + 'static) -> Body {
    UnsyncBoxBody::new(body)
}

/// Bytes as a body.
pub(super) fn full(bytes: impl Into<Bytes>) -> Body {
    boxed(Full::new(bytes.into()))
}

/// The whole body of a request.
///
/// # Errors
/// 413 when it is longer than `limit`, 400 when it breaks off.
pub(super) async fn collect(body: Incoming, limit: usize) -> Result<Bytes, Status> {
    let too_large = || Status::request_too_large(&format!("limit is {limit}"));
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    match Limited::new(body, limit).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(error) => {
            tracing::debug!(%error, "cannot read a request");
            Err(Status::bad_request("the body of the request broke off"))
        }
    }
}

/// An answer with what has to happen when it has been sent, or its client has left.
pub(super) struct Tracked {
    body: Body,
    /// Counts the request as running.
    _running: Running,
    record: Option<(Arc<dyn AuditSink>, AuditEvent)>,
}

impl Tracked {
    pub(super) fn new(
        body: Body,
        running: Running,
        record: Option<(Arc<dyn AuditSink>, AuditEvent)>,
    ) -> Self {
        Self { body, _running: running, record }
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        if let Some((sink, event)) = self.record.take() {
            sink.record(event.complete());
        }
    }
}

impl http_body::Body for Tracked {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
