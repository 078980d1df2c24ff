//! What would change on a host.

mod compare;
mod text;

use serde::Serialize;

use crate::{HostPath, Record, units::Leaf};

pub use compare::compare;
pub(crate) use compare::removal;

/// Everything that would change on a host, in the order in which it is done. Apply does this and nothing else.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostPlan {
    /// Name of the host.
    pub host: String,
    /// What would change.
    pub changes: Vec<Change>,
    /// What stands in the way: nothing on the host is changed as long as there is one.
    pub conflicts: Vec<Conflict>,
    /// What will be recorded on the host when all is done.
    #[serde(skip)]
    pub record: Record,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "change")]
pub enum Change {
    /// A folder is made.
    MakeFolder {
        /// Where.
        path: HostPath,
        /// Permission bits.
        mode: u32,
    },
    /// A file is made.
    Create {
        /// Where.
        path: HostPath,
        /// Permission bits.
        mode: u32,
        /// SHA-256 of the contents.
        sha256: String,
        /// The contents as a difference to nothing; none for a secret.
        diff: Option<String>,
    },
    /// The contents of a file change.
    Replace {
        /// Where.
        path: HostPath,
        /// Permission bits.
        mode: u32,
        /// SHA-256 of what is there.
        before: String,
        /// SHA-256 of what will be there.
        sha256: String,
        /// The difference; none for a secret, and for what is no text.
        diff: Option<String>,
        /// Why.
        reason: Reason,
    },
    /// Mode or owner of a file or folder change.
    Mode {
        /// Where.
        path: HostPath,
        /// Permission bits and owner that it has.
        before: String,
        /// Permission bits that it will have; the owner is root.
        mode: u32,
    },
    /// A file that is there already, just as it is wanted, is recorded as ours.
    TakeOver {
        /// Where.
        path: HostPath,
    },
    /// A file of ours goes.
    Remove {
        /// Where.
        path: HostPath,
    },
    /// A folder of ours goes; with everything in it, or when it is empty.
    RemoveFolder {
        /// Where.
        path: HostPath,
        /// Whether everything in it goes.
        contents: bool,
    },
    /// A file of somebody else, which was replaced, comes back.
    Restore {
        /// Where.
        path: HostPath,
    },
    /// A unit is stopped and disabled.
    Stop {
        /// Its name.
        unit: String,
    },
    /// systemd reads its units anew.
    Reload,
    /// A unit starts with the host from now on.
    Enable {
        /// Its name.
        unit: String,
    },
    /// A unit starts.
    Start {
        /// Its name.
        unit: String,
    },
    /// A unit starts anew.
    Restart {
        /// Its name.
        unit: String,
        /// Files because of which it does; none: a former run did not come so far.
        because: Vec<HostPath>,
    },
    /// The host joins the cluster, with a token of its own that lives an hour.
    Join,
    /// The containers of the cluster end.
    StopPods,
    /// What a component left goes.
    Clear {
        /// What.
        leaf: Leaf,
    },
    /// The record itself is all that changes.
    Record,
}

/// Why a file is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// Something else is wanted than before.
    Wanted,
    /// It was changed on the host.
    Drift,
    /// It is of somebody else, and is kept aside as was asked for.
    Overwritten,
}

/// Something that is not ours and stands in the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
    /// Where; none when it is about the whole host.
    pub path: Option<HostPath>,
    /// What is there.
    pub problem: String,
    /// What to do about it.
    pub fix: String,
}

impl HostPlan {
    /// Whether nothing would change and nothing is in the way.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.conflicts.is_empty()
    }
}
