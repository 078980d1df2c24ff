//! What tests are made with: a temporary PKI, servers that follow a script (faults included), clients
//! that may misbehave, golden files.
//!
//! Used in tests and benchmarks only, so a helper here panics, with the reason, when the machine
//! does not give what it needs.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cgi;
pub mod client;
pub mod fake;
mod golden;
pub mod real;
mod temp_pki;
mod test_host;

pub use cgi::{fold_cgi, fold_cgi_name};
pub use client::{Client, Reply, Target};
pub use fake::{Act, FakeServer, Group, Recorded, Resource};
pub use golden::golden;
pub use temp_pki::{Serving, TempPki};
pub use test_host::TestHost;
