//! The door as a program of its own, among servers and clients that mean it no good: broken servers,
//! forged identities, slow clients, and a machine that fails under it.
//!
//! `TRELLIS_FULL=1` makes the generated parts longer by two orders of magnitude; `TRELLIS_SEED` starts
//! them elsewhere.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod door;
mod faults;
mod frames;
mod random;
mod slow;
mod spoof;
mod state;

/// Whether the long form was asked for.
fn full() -> bool {
    std::env::var_os("TRELLIS_FULL").is_some()
}
