//! The latest changes, for watches.

use std::{collections::VecDeque, sync::Arc};

use serde_json::Value;

use super::entry::Kept;
use crate::object::Resource;

/// Changes that are remembered; a watch that is further behind has to list again.
const REMEMBERED: usize = 1000;

/// One change of one object.
#[derive(Clone, Debug)]
pub struct Change {
    /// Resource version of the change.
    pub version: u64,
    /// What happened.
    pub kind: ChangeKind,
    /// Kind of the object.
    pub resource: Resource,
    /// The object after the change; before it, when it was deleted.
    pub object: Arc<Value>,
}

/// What happened to an object, in the words of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is another one than before.
    Modified,
    /// It is gone.
    Deleted,
}

impl ChangeKind {
    /// The word in a watch event.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// The changes asked for are no longer known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired {
    /// The version asked for.
    pub version: u64,
    /// The oldest that could be answered.
    pub oldest: u64,
}

#[derive(Clone, Debug)]
struct Remembered {
    kind: ChangeKind,
    resource: Resource,
    kept: Kept,
}

#[derive(Debug)]
pub(super) struct Log {
    changes: VecDeque<Remembered>,
    version: u64,
    /// Changes after this version are in `changes`.
    since: u64,
}

impl Log {
    /// Versions go on from the clock or from the newest one on disk, whatever is later: never back,
    /// although deletions and changes of status leave no trace on disk.
    pub(super) fn starting_at(newest: u64) -> Self {
        let clock = u64::try_from(crate::clock::now()).unwrap_or(0).saturating_mul(1000);
        let version = newest.max(clock);
        Self { changes: VecDeque::new(), version, since: version }
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn next(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    pub(super) fn push(&mut self, kind: ChangeKind, resource: Resource, kept: Kept) {
        self.changes.push_back(Remembered { kind, resource, kept });
        if self.changes.len() > REMEMBERED
            && let Some(forgotten) = self.changes.pop_front()
        {
            self.since = forgotten.kept.version();
        }
    }

    pub(super) fn after(&self, version: u64) -> Result<Later, Expired> {
        if version < self.since {
            return Err(Expired { version, oldest: self.since });
        }
        let first = self.changes.partition_point(|change| change.kept.version() <= version);
        Ok(Later(self.changes.range(first..).cloned().collect()))
    }
}

/// Changes that have not been read yet: that is done when the log is not locked any more.
pub(super) struct Later(Vec<Remembered>);

impl Later {
    pub(super) fn read(self) -> Vec<Change> {
        let change = |Remembered { kind, resource, kept }| Change {
            version: kept.version(),
            kind,
            resource,
            object: kept.value(),
        };
        self.0.into_iter().map(change).collect()
    }
}
