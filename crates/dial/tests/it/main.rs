//! Against real servers of the test kit.

// Helpers of tests may panic as the tests do.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod calls;
mod causes;
mod connections;
mod world;
