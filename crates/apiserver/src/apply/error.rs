//! Why an apply fails.

use kube_wire::{Reason, Status};

use super::{Conflicts, TypeErrors};

/// Why an apply fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// Others have set what would change.
    #[error("{0}")]
    Conflicts(Conflicts),
    /// The configuration is of another kind or version.
    #[error("invalid object type: {0}")]
    OtherKind(String),
    /// The configuration says who manages what.
    #[error("metadata.managedFields must be nil")]
    ManagedFields,
    /// The managed fields of the object cannot be read.
    #[error("failed to decode managed fields: {0}")]
    Managed(String),
    /// The configuration does not have the type of its kind.
    #[error("failed to create typed patch object ({object}): {errors}")]
    Configuration {
        /// Namespace, name and kind.
        object: String,
        /// What is wrong.
        errors: TypeErrors,
    },
    /// The object does not have the type of its kind.
    #[error("failed to create typed live object ({object}): {errors}")]
    Live {
        /// Namespace, name and kind.
        object: String,
        /// What is wrong.
        errors: TypeErrors,
    },
    /// Nothing is known of the kind.
    #[error("failed to create typed patch object ({object}): no corresponding type for {kind}")]
    NoType {
        /// Namespace, name and kind.
        object: String,
        /// The kind.
        kind: String,
    },
    /// A step of the merge fails.
    #[error("{step}: {why}")]
    Step {
        /// What could not be done.
        step: &'static str,
        /// Why.
        why: String,
    },
}

impl ApplyError {
    /// The answer.
    pub fn status(&self) -> Status {
        match self {
            Self::Conflicts(conflicts) => conflicts.status(),
            Self::OtherKind(_) | Self::ManagedFields => Status::bad_request(self.to_string()),
            _ => Status::failure(500, Reason::Unknown, self.to_string()),
        }
    }

    pub(super) fn step(step: &'static str, why: impl ToString) -> Self {
        Self::Step { step, why: why.to_string() }
    }
}

impl From<&ApplyError> for Status {
    fn from(error: &ApplyError) -> Self {
        error.status()
    }
}
