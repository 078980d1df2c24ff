//! Printing: tables, documents, progress.

pub(crate) mod age;
mod document;
mod progress;
mod table;

pub(crate) use document::{json, one_line, yaml};
pub(crate) use progress::Progress;
pub(crate) use table::Columns;
