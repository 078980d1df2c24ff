//! What the hub has done so far.

use std::sync::atomic::{AtomicU64, Ordering};

/// What was done since the start. That it stays in proportion to what changed is tested with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Catalogs that were built.
    pub catalogs: u64,
    /// Pieces of catalogs that were made anew, and not taken over from the catalog before.
    pub pieces: u64,
    /// Servers whose conditions were found anew.
    pub conditions: u64,
    /// Registrations that were followed to a server: files read, names and credentials looked up.
    pub resolved: u64,
}

/// The same while it grows.
#[derive(Debug, Default)]
pub(crate) struct Efforts {
    pub(super) catalogs: AtomicU64,
    pub(super) pieces: AtomicU64,
    pub(super) conditions: AtomicU64,
    pub(super) resolved: AtomicU64,
}

impl Efforts {
    pub(super) fn add(counter: &AtomicU64, more: usize) {
        counter.fetch_add(more as u64, Ordering::Relaxed);
    }

    pub(crate) fn so_far(&self) -> Effort {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Effort {
            catalogs: read(&self.catalogs),
            pieces: read(&self.pieces),
            conditions: read(&self.conditions),
            resolved: read(&self.resolved),
        }
    }
}
