//! Connections to backends: one pool per server and revision, and per endpoint one set of connections for
//! each worker.

mod backends;
mod choose;
mod dialing;
mod endpoint;
mod http1;
mod http2;
mod keepalive;
mod local;
mod queue;
mod recovery;
mod resets;
mod server;

use std::sync::Arc;

use catalog::Service;

pub use backends::Backends;
pub(crate) use dialing::connect;
pub(crate) use endpoint::EndpointPool;
pub(crate) use http1::Http1Lease;
pub(crate) use http1::builder as http1_builder;
pub(crate) use http2::{Http2Lease, Waiting};
pub(crate) use server::ServerPool;

/// A way to send one request.
pub(crate) enum Channel {
    /// A stream of a shared connection.
    Http2(Http2Lease),
    /// A connection of its own, for now.
    Http1(Http1Lease),
    /// A call in this process.
    InProcess(Arc<dyn Service>),
}

/// What a request needs of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Over within the request timeout: a dead connection must be noticed quickly.
    Ordinary,
    /// A watch and the like: may be silent for hours.
    LongRunning,
}
