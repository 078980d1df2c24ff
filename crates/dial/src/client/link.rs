//! A connection that speaks HTTP.

use bytes::Bytes;
use catalog::{Cause, Failure};
use http::{Request, Response};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::{Connected, Protocol, failure_of};

/// Bound on the head of an answer, in bytes, with either protocol.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// The body of a request.
pub(super) type Outgoing = Full<Bytes>;

/// The sending half; a task of its own drives the rest and ends when this is dropped.
pub(super) enum Link {
    Http1(http1::SendRequest<Outgoing>),
    Http2(http2::SendRequest<Outgoing>),
}

/// Why a request brought no answer.
pub(super) struct SendError {
    pub(super) failure: Failure,
    /// Nothing of it was sent.
    pub(super) unsent: bool,
}

impl Link {
    pub(super) async fn new(connected: Connected) -> Result<Self, Failure> {
        let io = TokioIo::new(connected.io);
        match connected.protocol {
            Protocol::Http1 => {
                let mut builder = http1::Builder::new();
                builder.max_buf_size(MAX_HEAD_BYTES);
                let (sender, connection) = builder.handshake(io).await.map_err(|e| failure_of(&e))?;
                tokio::spawn(connection);
                Ok(Self::Http1(sender))
            }
            Protocol::Http2 => {
                let mut builder = http2::Builder::new(TokioExecutor::new());
                builder.max_header_list_size(MAX_HEAD_BYTES as u32);
                let (sender, connection) = builder.handshake(io).await.map_err(|e| failure_of(&e))?;
                tokio::spawn(connection);
                Ok(Self::Http2(sender))
            }
        }
    }

    pub(super) fn protocol(&self) -> Protocol {
        match self {
            Self::Http1(_) => Protocol::Http1,
            Self::Http2(_) => Protocol::Http2,
        }
    }

    /// False once the connection is known to be closed, or busy.
    pub(super) fn is_usable(&self) -> bool {
        match self {
            Self::Http1(sender) => sender.is_ready(),
            Self::Http2(sender) => sender.is_ready(),
        }
    }

    /// A second sender on the same connection, where the protocol allows it.
    pub(super) fn share(&self) -> Option<Self> {
        match self {
            Self::Http1(_) => None,
            Self::Http2(sender) => Some(Self::Http2(sender.clone())),
        }
    }

    pub(super) async fn send(&mut self, request: Request<Outgoing>) -> Result<Response<Incoming>, SendError> {
        let ready = match self {
            Self::Http1(sender) => sender.ready().await,
            Self::Http2(sender) => sender.ready().await,
        };
        ready.map_err(|error| SendError { failure: lost(&error), unsent: true })?;
        let sent = match self {
            Self::Http1(sender) => sender.try_send_request(request).await,
            Self::Http2(sender) => sender.try_send_request(request).await,
        };
        sent.map_err(|mut error| SendError {
            unsent: error.take_message().is_some(),
            failure: lost(error.error()),
        })
    }
}

fn lost(error: &hyper::Error) -> Failure {
    let failure = failure_of(error);
    match error.is_canceled() || error.is_closed() || error.is_incomplete_message() {
        // The connection's own error is gone with its task; what is left says only that it ended.
        true if failure.cause == Cause::ConnectionLost => {
            Failure::new(Cause::ConnectionLost, "it closed the connection")
        }
        _ => failure,
    }
}
