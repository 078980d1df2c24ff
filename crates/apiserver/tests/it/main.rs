//! The storage: what it must do, and that it does so when the power fails; and what requests are answered.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod answers;
mod applies;
mod conformance;
mod crash;
mod damage;
mod delegate;
mod disk;
mod example;
mod full_disk;
mod hostile;
mod kill;
#[path = "../kinds.rs"]
mod kinds;
mod model;
mod operations;
mod patches;
mod recordings;
mod requests;
mod schemas;
mod support;
mod verbs;
