//! The object from text to decisions.

mod fails;
mod published;
mod resolved;
mod succeeds;
mod support;
