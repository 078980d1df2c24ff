//! Server-side apply: who set which field, what an applier may change, and `metadata.managedFields`.
//!
//! From the bottom up: [`FieldSet`] is a set of paths and its encoding `FieldsV1`; the typed layer merges,
//! compares and cuts values by their [`Types`](crate::schema::types::Types); the updater moves
//! ownership between managers and finds conflicts; [`FieldManager`] does what kube-apiserver does around
//! that, for applies and for all other writes. Nothing here reads a clock or does I/O.

mod conflict;
mod error;
mod fields;
mod last_applied;
mod managed;
mod manager;
mod times;
mod typed;
mod updater;
mod value;

pub use conflict::{Conflict, Conflicts};
pub use error::ApplyError;
pub use fields::{FieldSet, InvalidFields, PathElement};
pub use managed::manager_from_user_agent;
pub use manager::{Applied, FieldManager, Request};
pub use times::keep_times;
pub use typed::{TypeError, TypeErrors};
pub use updater::{Conversion, ConversionError, NoConversion};

/// Entries in the managed fields of updates that are kept apart; the oldest beyond that become one.
pub const MAX_UPDATE_MANAGERS: usize = 10;
/// Bytes in the name of a manager.
pub const MAX_MANAGER: usize = 128;
