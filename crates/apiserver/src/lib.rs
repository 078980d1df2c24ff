//! A library to write a Kubernetes-style API server in Rust.
//!
//! What is here is the lowest layer: [`storage`], where objects are kept with revisions, compared and
//! swapped, listed as they were, and watched without a gap.

pub mod storage;
