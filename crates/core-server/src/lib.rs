//! The embedded core: what a kube-apiserver owns, written with the library [`apiserver`].
//!
//! What is here so far is RBAC: its four kinds, the authorizer, the checks that nobody gives away more than it
//! has, upstream's default policy, and cluster roles that gather others. See [`rbac`].

#![allow(
    clippy::result_large_err,
    reason = "a failure is made once for each request, as the answer that the client gets"
)]

pub mod rbac;
