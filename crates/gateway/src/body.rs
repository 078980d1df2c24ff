//! Bodies: what clients are sent, and what they send.

mod answer;
mod overdue;
mod upload;

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use catalog::BodyError;
use http_body::{Frame, SizeHint};

pub(crate) use answer::{Held, Proxied, Source};
pub(crate) use overdue::Deadlines;
pub(crate) use upload::{RequestBody, SharedUpload, Upload, UploadFailure, UploadLimits};

/// What a client is sent: nothing, bytes of the door's own, or the stream of a backend.
#[derive(Default)]
pub struct Body(Kind);

#[derive(Default)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all bodies are proxied; a box would be one more allocation each"
)]
enum Kind {
    #[default]
    Empty,
    Full(Bytes),
    Proxied(Proxied),
    /// The door's own answer, with what must live until it is sent.
    Held(Bytes, Box<Held>),
}

impl Body {
    /// No body.
    pub fn empty() -> Self {
        Self::default()
    }

    pub(crate) fn proxied(stream: Proxied) -> Self {
        Self(Kind::Proxied(stream))
    }

    /// The door's own bytes are left out; a backend sends none by itself.
    pub(crate) fn without_bytes(self) -> Self {
        match self.0 {
            Kind::Full(_) => Self::empty(),
            Kind::Held(_, held) => Self(Kind::Held(Bytes::new(), held)),
            other => Self(other),
        }
    }

    /// Keeps `held` until this body has been sent.
    pub(crate) fn hold(self, held: Held) -> Self {
        match self.0 {
            Kind::Full(bytes) => Self(Kind::Held(bytes, Box::new(held))),
            Kind::Empty => Self(Kind::Held(Bytes::new(), Box::new(held))),
            other => Self(other),
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self(if bytes.is_empty() { Kind::Empty } else { Kind::Full(bytes) })
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Bytes::from_static(text.as_bytes()).into()
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut self.0 {
            Kind::Empty => Poll::Ready(None),
            Kind::Proxied(stream) => stream.poll_frame(cx),
            Kind::Full(bytes) => {
                let frame = Frame::data(std::mem::take(bytes));
                self.0 = Kind::Empty;
                Poll::Ready(Some(Ok(frame)))
            }
            Kind::Held(bytes, held) => {
                let bytes = std::mem::take(bytes);
                held.sent(bytes.len());
                held.complete();
                self.0 = Kind::Empty;
                Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Empty => true,
            Kind::Full(bytes) | Kind::Held(bytes, _) => bytes.is_empty(),
            Kind::Proxied(stream) => stream.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Empty => SizeHint::with_exact(0),
            Kind::Full(bytes) | Kind::Held(bytes, _) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Proxied(stream) => stream.size_hint(),
        }
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Kind::Empty => "Body(empty)",
            Kind::Full(_) | Kind::Held(..) => "Body(bytes)",
            Kind::Proxied(_) => "Body(proxied)",
        })
    }
}
