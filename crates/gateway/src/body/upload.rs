//! A client's request body on its way to a backend, small ones kept so that they can be sent again.

use std::{
    fmt,
    future::Future as _,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use catalog::BodyError;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep};

use crate::headers;

/// Why a client's body could not be sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UploadFailure {
    /// The connection broke or its framing is wrong.
    #[error("the request body broke off")]
    Broken,
    /// Nothing came for too long.
    #[error("the request body stalled")]
    Stalled,
    /// More than the registration allows.
    #[error("the request body is larger than the registration allows")]
    TooLarge,
}

/// How much of a body a client may send and how slowly, and how much of it is kept for a second try.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UploadLimits {
    pub(crate) replay_bytes: usize,
    pub(crate) max_bytes: Option<u64>,
    /// None for what is long-running.
    pub(crate) stall: Option<Duration>,
}

/// The body, and what was already taken from it.
pub(crate) struct Upload {
    source: Incoming,
    limits: UploadLimits,
    /// What was sent, while it is little enough to be kept.
    kept: Option<Vec<Bytes>>,
    kept_bytes: usize,
    /// How many of `kept` went out in the present try.
    replayed: usize,
    total: u64,
    trailers: Option<http::HeaderMap>,
    trailers_sent: bool,
    ended: bool,
    failure: Option<UploadFailure>,
    stall: Option<Pin<Box<Sleep>>>,
}

impl Upload {
    pub(crate) fn new(source: Incoming, limits: UploadLimits) -> Self {
        Self {
            ended: source.is_end_stream(),
            source,
            limits,
            kept: Some(Vec::new()),
            kept_bytes: 0,
            replayed: 0,
            total: 0,
            trailers: None,
            trailers_sent: false,
            failure: None,
            stall: None,
        }
    }

    /// Starts from the beginning again; false when too much was sent to be kept.
    pub(crate) fn rewind(&mut self) -> bool {
        self.replayed = 0;
        self.trailers_sent = false;
        self.kept.is_some() && self.failure.is_none()
    }

    /// Whether everything went out in the present try.
    pub(crate) fn is_done(&self) -> bool {
        self.ended && self.nothing_to_replay() && (self.trailers.is_none() || self.trailers_sent)
    }

    /// Why the client's side failed, if it did.
    pub(crate) fn failure(&self) -> Option<UploadFailure> {
        self.failure
    }

    fn nothing_to_replay(&self) -> bool {
        self.kept.as_ref().is_none_or(|kept| self.replayed == kept.len())
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        if self.total == 0 { self.source.size_hint() } else { SizeHint::default() }
    }

    /// The next piece, from what is kept or from the client.
    pub(crate) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, UploadFailure>>> {
        if let Some(failure) = self.failure {
            return Poll::Ready(Some(Err(failure)));
        }
        if let Some(piece) = self.kept.as_ref().and_then(|kept| kept.get(self.replayed)) {
            let piece = piece.clone();
            self.replayed += 1;
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        if self.ended {
            return Poll::Ready(self.end());
        }
        let Poll::Ready(next) = Pin::new(&mut self.source).poll_frame(cx) else {
            return self.poll_stall(cx);
        };
        self.stall = None;
        Poll::Ready(match next {
            Some(Ok(frame)) => self.take(frame),
            Some(Err(_)) => Some(Err(self.fail(UploadFailure::Broken))),
            None => {
                self.ended = true;
                self.end()
            }
        })
    }

    fn take(&mut self, frame: Frame<Bytes>) -> Option<Result<Frame<Bytes>, UploadFailure>> {
        let data = match frame.into_data() {
            Ok(data) => data,
            Err(frame) => {
                if let Ok(mut trailers) = frame.into_trailers() {
                    headers::sanitize_trailers(&mut trailers);
                    self.trailers = Some(trailers).filter(|trailers| !trailers.is_empty());
                }
                self.ended = true;
                return self.end();
            }
        };
        self.ended = self.source.is_end_stream();
        self.total += data.len() as u64;
        if self.limits.max_bytes.is_some_and(|max| self.total > max) {
            return Some(Err(self.fail(UploadFailure::TooLarge)));
        }
        self.keep(&data);
        Some(Ok(Frame::data(data)))
    }

    fn keep(&mut self, data: &Bytes) {
        let Some(kept) = &mut self.kept else { return };
        self.kept_bytes += data.len();
        if self.kept_bytes > self.limits.replay_bytes {
            self.kept = None;
            return;
        }
        kept.push(data.clone());
        self.replayed = kept.len();
    }

    fn end(&mut self) -> Option<Result<Frame<Bytes>, UploadFailure>> {
        if self.trailers_sent {
            return None;
        }
        self.trailers_sent = true;
        self.trailers.clone().map(|trailers| Ok(Frame::trailers(trailers)))
    }

    fn fail(&mut self, failure: UploadFailure) -> UploadFailure {
        self.failure = Some(failure);
        failure
    }

    fn poll_stall(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, UploadFailure>>> {
        let Some(limit) = self.limits.stall else { return Poll::Pending };
        let sleep =
            self.stall.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + limit)));
        ready!(sleep.as_mut().poll(cx));
        Poll::Ready(Some(Err(self.fail(UploadFailure::Stalled))))
    }
}

/// An upload that a connection of HTTP/1.1 sends, and that the sender keeps for a second try.
#[derive(Clone)]
pub(crate) struct SharedUpload(Arc<Mutex<Upload>>);

impl SharedUpload {
    pub(crate) fn new(upload: Upload) -> Self {
        Self(Arc::new(Mutex::new(upload)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Upload> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What goes over a connection of HTTP/1.1, or to a backend in this process.
#[derive(Clone)]
pub(crate) enum RequestBody {
    Empty,
    Full(Bytes),
    Upload(SharedUpload),
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut *self {
            Self::Empty => Poll::Ready(None),
            Self::Full(bytes) => {
                let frame = Frame::data(std::mem::take(bytes));
                *self = Self::Empty;
                Poll::Ready(Some(Ok(frame)))
            }
            Self::Upload(upload) => upload.lock().poll_next(cx).map_err(Into::into),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Full(bytes) => bytes.is_empty(),
            Self::Upload(upload) => upload.lock().is_done(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty => SizeHint::with_exact(0),
            Self::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Upload(upload) => upload.lock().size_hint(),
        }
    }
}

impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestBody")
    }
}
