//! Where objects are kept.
//!
//! A [`Store`] is a map from [`Key`] to bytes with one [`Revision`] for the whole of it: each write that
//! succeeds takes the next one. On this stand resource versions, optimistic concurrency, consistent pages
//! and watches. `docs/storage.md` says how etcd and custom resources carry the same trait.

#[cfg(feature = "conformance")]
pub mod conformance;
mod embedded;
mod error;
mod key;
mod log;

use std::{fmt, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;

pub use embedded::{Embedded, Options, Salvaged, salvage};
pub use error::{Conflict, Error};
pub use key::{InvalidKey, Key, Prefix};

/// Position of a write in the order of all writes of one store. Zero is before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is stored under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The bytes that were written.
    pub value: Bytes,
    /// The write they come from.
    pub revision: Revision,
}

/// A key with what is stored under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where.
    pub key: Key,
    /// What.
    pub item: Item,
}

/// Something read, and how the store stood then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read<T> {
    /// What was read.
    pub content: T,
    /// The last write that the reader has seen. A watch from here misses nothing.
    pub revision: Revision,
}

/// What to list.
#[derive(Clone, Debug, Default)]
pub struct ListOptions {
    /// The state after this write; none: the present one.
    pub at: Option<Revision>,
    /// Only keys after this one, for the next page.
    pub after: Option<Key>,
    /// Entries at most; none: all.
    pub limit: Option<usize>,
}

/// Entries in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// At most as many as were asked for.
    pub entries: Vec<Entry>,
    /// How many more there are after the last one.
    pub remaining: usize,
}

/// What must be stored under a key for a write to take place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing.
    Absent,
    /// What this write left there.
    At(Revision),
}

/// One change of one key: compared, then swapped, in one step.
#[derive(Clone, Debug)]
pub struct Write {
    /// Where.
    pub key: Key,
    /// What must be there now.
    pub expected: Expected,
    /// What is to be there; none: nothing.
    pub value: Option<Bytes>,
    /// How long it stays when nobody writes it again, in whole seconds; none: for ever.
    pub ttl: Option<Duration>,
}

impl Write {
    /// Stores something under a key that is free.
    pub fn create(key: Key, value: Bytes) -> Self {
        Self { key, expected: Expected::Absent, value: Some(value), ttl: None }
    }

    /// Replaces what was read before.
    pub fn update(key: Key, value: Bytes, revision: Revision) -> Self {
        Self { key, expected: Expected::At(revision), value: Some(value), ttl: None }
    }

    /// Deletes what was read before.
    pub fn delete(key: Key, revision: Revision) -> Self {
        Self { key, expected: Expected::At(revision), value: None, ttl: None }
    }

    /// Lets it expire.
    #[must_use]
    pub fn expiring_after(self, ttl: Duration) -> Self {
        Self { ttl: Some(ttl), ..self }
    }
}

/// One write, as watchers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The write.
    pub revision: Revision,
    /// Where.
    pub key: Key,
    /// What was written; none: it was deleted.
    pub value: Option<Bytes>,
    /// What was there before; none: nothing.
    pub previous: Option<Item>,
}

/// The outcome of a call, later.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A place to keep objects in.
///
/// What a call has acknowledged survives the end of the process. A read sees every write that was
/// acknowledged before it began.
pub trait Store: Send + Sync {
    /// What is stored under `key`.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Read<Option<Item>>>;

    /// What is stored below `prefix`, as it was at one moment.
    ///
    /// # Errors
    /// [`Error::Compacted`] when the moment is too long ago, [`Error::Ahead`] when it has not come yet.
    fn list<'a>(&'a self, prefix: &'a Prefix, options: ListOptions) -> Answer<'a, Read<Page>>;

    /// Compares and swaps. The revision is that of the write.
    ///
    /// # Errors
    /// [`Error::Conflict`] with what is stored, when that is not what was expected;
    /// [`Error::OutcomeUnknown`] when the write may or may not have reached the disk.
    fn write(&self, write: Write) -> Answer<'_, Revision>;

    /// Every write below `prefix` after `after`, in order, none left out.
    ///
    /// # Errors
    /// [`Error::Compacted`] when writes after that one are forgotten.
    fn watch<'a>(&'a self, prefix: &'a Prefix, after: Revision) -> Answer<'a, Box<dyn Watch>>;

    /// Forgets how things were before `revision`. Listing and watching from there on still work.
    ///
    /// # Errors
    /// [`Error::Ahead`] when it has not come yet.
    fn compact(&self, revision: Revision) -> Answer<'_, ()>;

    /// The last write.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn revision(&self) -> Answer<'_, Revision>;
}

/// A watch that runs. Dropping it ends it.
pub trait Watch: Send {
    /// The next events, at least one and at most `max`; waits for them. May be dropped while it waits:
    /// nothing is lost.
    ///
    /// # Errors
    /// [`Error::Compacted`] when the watcher was so slow that events it has not seen are forgotten.
    fn next(&mut self, max: usize) -> Answer<'_, Vec<Arc<Event>>>;

    /// The write up to which everything was handed out: what a bookmark says.
    fn position(&self) -> Revision;
}
