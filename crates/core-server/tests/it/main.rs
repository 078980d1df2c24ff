//! What the embedded core does, compared with what kube-apiserver did.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod rbac;
