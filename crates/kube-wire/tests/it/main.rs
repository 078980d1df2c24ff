//! The wire formats against upstream's own code: `tests/golden` holds what that code made of the same
//! inputs, written by the program in `tests/golden/generate`.

#![allow(clippy::unwrap_used)] // a test fails by panicking, helpers included

mod accept;
mod discovery;
mod discovery_document;
mod etag;
mod golden;
mod identity;
mod object;
mod properties;
mod protobuf;
mod request_info;
mod selector;
mod status;
mod version;
