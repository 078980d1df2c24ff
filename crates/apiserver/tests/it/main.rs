//! The storage: what it must do, and that it does so when the power fails.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod conformance;
mod crash;
mod damage;
mod disk;
mod full_disk;
mod kill;
mod model;
mod support;
