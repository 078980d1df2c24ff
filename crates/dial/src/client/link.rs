//! A connection that speaks HTTP.

use std::{error::Error, time::Duration};

use bytes::Bytes;
use catalog::{Cause, Failure};
use http::{Request, Response};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::watch;

use crate::{Connected, Io, Protocol, failure_of};

/// Bound on the head of an answer, in bytes, with either protocol.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// A connection that ended tells why at once; this is only so that nobody waits on one that did not.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// The body of a request.
pub(super) type Outgoing = Full<Bytes>;

/// The sending half; a task of its own drives the rest and ends when this is dropped.
pub(super) struct Link {
    sender: Sender,
    /// Why the connection ended, once it did. Senders learn only that it did.
    ended: watch::Receiver<Option<Failure>>,
}

enum Sender {
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
        match connected.protocol {
            Protocol::Http1 => Self::http1(connected.io).await,
            Protocol::Http2 => Self::http2(connected.io).await,
        }
        .map_err(|error| failure_of(&error))
    }

    async fn http1(io: Io) -> hyper::Result<Self> {
        let mut builder = http1::Builder::new();
        builder.max_buf_size(MAX_HEAD_BYTES);
        let (sender, connection) = builder.handshake(TokioIo::new(io)).await?;
        Ok(Self { sender: Sender::Http1(sender), ended: drive(connection) })
    }

    async fn http2(io: Io) -> hyper::Result<Self> {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.max_header_list_size(MAX_HEAD_BYTES as u32);
        let (sender, connection) = builder.handshake(TokioIo::new(io)).await?;
        Ok(Self { sender: Sender::Http2(sender), ended: drive(connection) })
    }

    pub(super) fn protocol(&self) -> Protocol {
        match self.sender {
            Sender::Http1(_) => Protocol::Http1,
            Sender::Http2(_) => Protocol::Http2,
        }
    }

    /// False once the connection is known to be closed. One that is still finishing the last answer
    /// is waited for when it is used.
    pub(super) fn is_open(&self) -> bool {
        match &self.sender {
            Sender::Http1(sender) => !sender.is_closed(),
            Sender::Http2(sender) => !sender.is_closed(),
        }
    }

    /// A second sender on the same connection, where the protocol allows it.
    pub(super) fn share(&self) -> Option<Self> {
        match &self.sender {
            Sender::Http1(_) => None,
            Sender::Http2(sender) => {
                Some(Self { sender: Sender::Http2(sender.clone()), ended: self.ended.clone() })
            }
        }
    }

    pub(super) async fn send(&mut self, request: Request<Outgoing>) -> Result<Response<Incoming>, SendError> {
        let ready = match &mut self.sender {
            Sender::Http1(sender) => sender.ready().await,
            Sender::Http2(sender) => sender.ready().await,
        };
        if let Err(error) = ready {
            return Err(SendError { failure: self.lost(&error).await, unsent: true });
        }
        let sent = match &mut self.sender {
            Sender::Http1(sender) => sender.try_send_request(request).await,
            Sender::Http2(sender) => sender.try_send_request(request).await,
        };
        match sent {
            Ok(response) => Ok(response),
            Err(mut error) => {
                let unsent = error.take_message().is_some();
                Err(SendError { failure: self.lost(error.error()).await, unsent })
            }
        }
    }

    /// Why a request failed: its own error, or that of the connection when its own says no more than
    /// that there is none.
    async fn lost(&mut self, error: &hyper::Error) -> Failure {
        let failure = failure_of(error);
        let gone = error.is_canceled() || error.is_closed() || error.is_incomplete_message();
        if !gone || failure.cause != Cause::ConnectionLost {
            return failure;
        }
        let told = self.ended.wait_for(Option::is_some);
        if let Ok(Ok(why)) = tokio::time::timeout(LAST_WORDS, told).await
            && let Some(why) = why.as_ref()
        {
            return why.clone();
        }
        Failure::new(Cause::ConnectionLost, "it closed the connection")
    }
}

fn drive<C, E>(connection: C) -> watch::Receiver<Option<Failure>>
where
    C: Future<Output = Result<(), E>> + Send + 'static,
    E: Error + 'static,
{
    let (tell, ended) = watch::channel(None);
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tell.send_replace(Some(failure_of(&error)));
        }
    });
    ended
}
