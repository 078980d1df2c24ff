//! An API server that follows a script.
//!
//! It serves discovery, OpenAPI and a small in-memory store for the groups it is told of, over TLS or
//! clear text, HTTP/1.1 or HTTP/2. What goes wrong is an [`Act`]: set for a path prefix with
//! [`FakeServer::act`], or asked for by a request itself with the query parameter `act`. Faults of the
//! connection are methods: [`FakeServer::kill`], [`FakeServer::freeze`], [`FakeServer::half_open`].

mod act;
mod answer;
mod api;
mod body;
mod builder;
mod connection;
mod discovery;
mod gate;
mod goaway;
mod openapi;
mod record;
mod routes;
mod server;
mod store;
mod upgrade;

pub use act::Act;
pub use api::{Group, Resource};
pub use body::{Answer, AnswerBody, BoxError, full, json};
pub use builder::{Builder, Handler};
pub use record::Recorded;
pub use server::FakeServer;

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU32, AtomicUsize},
};

use tokio::sync::watch;

/// What all connections of one server share.
pub(crate) struct Shared {
    pub(crate) script: Mutex<Script>,
    pub(crate) store: store::Store,
    pub(crate) log: record::Log,
    pub(crate) gate: gate::Gate,
    pub(crate) connections: AtomicUsize,
    pub(crate) accepted: AtomicUsize,
    /// Accept, then do nothing at all.
    pub(crate) half_open: AtomicBool,
    /// Answer every connection with something that is not HTTP.
    pub(crate) garbage: AtomicBool,
    /// Graceful GOAWAY after so many requests of a connection; zero: never.
    pub(crate) goaway_every: AtomicU32,
    /// So many of the next HTTP/2 connections refuse their first request by GOAWAY.
    pub(crate) goaway_first: AtomicU32,
    /// Requests that the client gave up, or that were cut off.
    pub(crate) cancelled: watch::Sender<usize>,
    /// Changes when the server is killed; ends what outlives its connection's task.
    pub(crate) killed: watch::Sender<usize>,
}

/// What is served, and what goes wrong; may change while the server runs.
#[derive(Clone, Default)]
pub(crate) struct Script {
    pub(crate) groups: Vec<Group>,
    /// Path prefix of everything, without trailing slash.
    pub(crate) prefix: String,
    pub(crate) legacy_only: bool,
    pub(crate) openapi_v3: bool,
    pub(crate) openapi_padding: usize,
    pub(crate) acts: Vec<(String, Act)>,
    pub(crate) handler: Option<builder::Handler>,
}

impl Shared {
    pub(crate) fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) type SharedRef = Arc<Shared>;

/// A `Status` object of failure.
pub(crate) fn api_status(code: u16, message: &str) -> Answer {
    let reason = match code {
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        409 => "AlreadyExists",
        503 => "ServiceUnavailable",
        _ => "",
    };
    let value = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    json(answer::status(code), &value)
}
