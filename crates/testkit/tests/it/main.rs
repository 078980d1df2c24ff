//! The test servers and clients against each other.

// Helpers of tests may panic as the tests do.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod faults;
mod serving;
mod tools;
mod upgrades;
