//! Why an object is not stored.

use std::{fmt, path::PathBuf};

use crate::{object::ObjectKey, validation::Problems};

/// Why a change of a registration was refused.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such object.
    #[error("{0} does not exist")]
    NotFound(ObjectKey),
    /// The name is taken.
    #[error("{0} already exists")]
    AlreadyExists(ObjectKey),
    /// It was changed since the caller read it.
    #[error("{0} has been modified")]
    Modified(ObjectKey),
    /// It is another object of the same name.
    #[error("{key} has another uid than {expected}")]
    OtherUid {
        /// The object.
        key: ObjectKey,
        /// The uid that the caller named.
        expected: String,
    },
    /// It comes from the watched directory.
    #[error("{key} is defined in {}; change it there", path.display())]
    InFile {
        /// The object.
        key: ObjectKey,
        /// Its file.
        path: PathBuf,
    },
    /// It breaks the rules.
    #[error("{key} is invalid: {problems}")]
    Invalid {
        /// The object.
        key: ObjectKey,
        /// All that is wrong.
        problems: Problems,
    },
    /// The state folder cannot be written.
    #[error("cannot write {}: {source}; free some space or correct the permissions, then try again", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
}

/// A stored object that is not used as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreProblem {
    /// Its file.
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for StoreProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}
