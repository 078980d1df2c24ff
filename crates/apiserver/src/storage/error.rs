//! Why a store did not do what it was asked for.

use std::path::PathBuf;

use super::{Item, Key, Revision};

/// What a call to a store can end with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something else is stored than the caller thinks.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// The past that was asked for is forgotten.
    #[error("revision {requested} is forgotten, the oldest that is known is {oldest}")]
    Compacted {
        /// What was asked for.
        requested: Revision,
        /// What can be asked for.
        oldest: Revision,
    },
    /// The revision that was asked for has not come yet.
    #[error("revision {requested} has not come yet, the last is {current}")]
    Ahead {
        /// What was asked for.
        requested: Revision,
        /// The last write.
        current: Revision,
    },
    /// A value is larger than the store takes.
    #[error("{key}: {len} bytes are more than the {limit} that an object may have")]
    TooLarge {
        /// Where it was to be stored.
        key: Key,
        /// Its length in bytes.
        len: usize,
        /// The longest that is taken.
        limit: usize,
    },
    /// The disk refused a write before it began; nothing has changed.
    #[error("{file} cannot be written: {reason}; what is stored can still be read")]
    ReadOnly {
        /// The file of the store.
        file: PathBuf,
        /// What the disk said.
        reason: String,
    },
    /// The disk failed in the middle of a write: a later read says whether it took place.
    #[error("{file}: {reason}; read the object again to see whether this write took place")]
    OutcomeUnknown {
        /// The file of the store.
        file: PathBuf,
        /// What the disk said.
        reason: String,
    },
    /// The file cannot be opened.
    #[error("{file} cannot be opened: {reason}")]
    Open {
        /// The file of the store.
        file: PathBuf,
        /// What the disk said.
        reason: String,
    },
    /// The file is not what was written to it.
    #[error(
        "{file} is damaged: {reason}; stop the server, keep a copy of the file, and salvage what can be read"
    )]
    Damaged {
        /// The file of the store.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The store has ended.
    #[error("the store is closed")]
    Closed,
}

/// Something else is stored than a write expected.
#[derive(Debug, thiserror::Error)]
#[error("{key}: {}", match &self.current { Some(item) => format!("it was changed at revision {}", item.revision), None => "it does not exist".to_owned() })]
pub struct Conflict {
    /// Where.
    pub key: Key,
    /// What is there; none: nothing.
    pub current: Option<Item>,
}
