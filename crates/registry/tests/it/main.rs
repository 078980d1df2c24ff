//! The registry as a whole, against servers that follow a script.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod api;
mod api_patch;
mod api_watch;
mod core;
mod effort;
mod faults;
mod files;
mod fixtures;
mod ownership;
mod restart;
mod servers;
mod state;
mod support;
