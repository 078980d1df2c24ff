//! What can be wrong with a patch, and the answer to it.

use kube_wire::{Reason, Status, status::StatusDetails};

use super::{MAX_COPIED, MAX_DEPTH, MAX_OPERATIONS};

/// Why a patch cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The patch is not what its media type says.
    #[error("{0}")]
    Malformed(String),
    /// The document is not as an operation wants it to be.
    #[error("{0}")]
    DoesNotApply(String),
    /// A JSON patch with too many operations.
    #[error("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {0}")]
    TooManyOperations(usize),
    /// `copy` operations that grow the document too much, to this many bytes.
    #[error(
        "Unable to complete the copy, the accumulated size increase of copy is {0}, exceeding the limit {MAX_COPIED}"
    )]
    CopiesTooMuch(usize),
    /// Too many objects and lists inside each other.
    #[error("the patched document has more than {MAX_DEPTH} objects and lists inside each other")]
    TooDeep,
    /// A strategic merge patch that the types of the object do not allow.
    #[error("{0}")]
    Unmergeable(String),
    /// Lists inside lists, which a strategic merge patch cannot have.
    #[error("lists of lists are not supported")]
    ListOfLists,
}

impl PatchError {
    pub(super) fn malformed(why: impl Into<String>) -> Self {
        Self::Malformed(why.into())
    }

    /// The answer. Upstream shows only some of these errors to the client.
    pub fn status(&self) -> Status {
        // Upstream has its words for an answer that another server gave.
        let rejected = || {
            let message = "the server rejected our request due to an error in our request";
            Status::failure(422, Reason::Invalid, message).with_details(StatusDetails::default())
        };
        match self {
            Self::Malformed(_) => Status::bad_request(self.to_string()),
            Self::DoesNotApply(_) | Self::CopiesTooMuch(_) | Self::TooDeep | Self::ListOfLists => rejected(),
            Self::TooManyOperations(_) => Status::request_too_large(&self.to_string()),
            Self::Unmergeable(_) => Status::failure(500, Reason::Unknown, self.to_string()),
        }
    }
}

impl From<&PatchError> for Status {
    fn from(error: &PatchError) -> Self {
        error.status()
    }
}
