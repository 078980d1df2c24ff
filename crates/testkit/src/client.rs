//! Clients of tests: one connection each, so that a test knows what travels on it.

mod http_client;
mod raw;
mod target;
mod upgrade;

pub use http_client::{Client, OutBody, Reply, out};
pub use raw::Raw;
pub use target::{Stream, Target};
pub use upgrade::{Upgraded, upgrade};
