//! A library to write a Kubernetes-style API server in Rust.
//!
//! What is here are the lowest layers: [`storage`], where objects are kept with revisions, compared and
//! swapped, listed as they were, and watched without a gap; and [`validation`], which says what is wrong with
//! an object.

pub mod storage;
pub mod validation;
