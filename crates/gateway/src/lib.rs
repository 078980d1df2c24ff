//! The door's data path: it moves bytes between clients and the backends of the catalog.
//!
//! A request is accepted, authenticated, routed by the catalog's current snapshot and streamed both
//! ways. No body is parsed. The life of a request, step by step, is in `docs/life-of-a-request.md`.

pub mod audit;
pub mod authn;
pub mod authz;
pub mod body;
mod config;
mod connection;
mod documents;
mod drain;
mod forward;
mod headers;
mod health;
pub mod identity;
mod limits;
mod listener;
pub mod metrics;
mod own;
mod pool;
mod proxy;
mod respond;
mod retry;
mod timeout;
mod upgrade;
mod workers;

pub use config::Config;
pub use drain::{Shutdown, ShutdownHandle};
pub use health::Check;
pub use limits::Limits;
pub use listener::Gateway;
pub use pool::Backends;
pub use workers::Workers;
