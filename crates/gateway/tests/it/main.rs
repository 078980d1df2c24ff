//! The gateway against scripted servers, over real sockets.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bodies;
mod door;
mod endpoints;
mod heads;
mod identity;
mod limits;
mod own;
mod retries;
mod spoofing;
mod stopping;
mod upgrades;
mod watches;
