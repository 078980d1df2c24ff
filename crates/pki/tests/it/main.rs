//! Certificates made, stored, shown and judged.

// Helpers of tests may panic as the tests do.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod authorities;
mod files;
mod kubeconfig;
mod peers;
mod reloading;
mod signing;
mod tls;
