//! A library to write a Kubernetes-style API server in Rust.
//!
//! From the bottom up: [`storage`], where objects are kept with revisions, compared and swapped, listed as
//! they were, and watched without a gap; [`validation`], which says what is wrong with an object;
//! [`patch`], which changes it as a client says; [`apply`], which does so by who owns which field;
//! [`schema`], which knows its shape; [`resource`], which describes a kind of objects; [`decode`] and [`options`], which read requests;
//! [`engine`], the verbs; [`answer`], which writes answers; [`service`], which is all of it as a function from
//! request to response; and [`listen`], which puts that behind HTTPS. [`delegate`] asks the core beside it.

#![allow(
    clippy::result_large_err,
    reason = "a failure is made once for each request, as the answer that the client gets"
)]

pub mod answer;
pub mod apply;
pub mod authn;
pub mod decode;
pub mod delegate;
pub mod discovery;
pub mod engine;
pub mod form;
pub mod hooks;
pub mod listen;
mod managed;
pub mod object;
pub mod openapi;
pub mod options;
pub mod patch;
pub mod resource;
pub mod schema;
pub mod service;
pub mod serving;
pub mod storage;
pub mod validation;
