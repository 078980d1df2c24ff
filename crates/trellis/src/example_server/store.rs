//! The notes, in memory: one lock, one counter for resource versions, a window of events for watches.

mod journal;

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    ops::Bound,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use kube_wire::Status;
use serde_json::Value;
use tokio::sync::watch;

use journal::{Journal, Record};

/// Events kept for watches that start in the past; older ones get 410 `Expired`.
const WINDOW: usize = 4096;

/// Namespace and name.
pub(super) type Key = (String, String);

/// One note as stored. Never changed in place.
#[derive(Debug)]
pub(super) struct Stored {
    /// When it was last written; `metadata.resourceVersion`.
    pub(super) revision: u64,
    /// The object.
    pub(super) value: Value,
    /// The object as JSON, made once.
    pub(super) json: Bytes,
}

/// What happened to a note.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// When; for a deletion, the revision of the deletion.
    pub(super) revision: u64,
    /// The note before; none when it is new.
    pub(super) before: Option<Arc<Stored>>,
    /// The note after; none when it is gone.
    pub(super) after: Option<Arc<Stored>>,
}

/// What a write wants.
pub(super) enum Change {
    /// The object becomes this; its resource version is given by the store.
    Put(Value),
    /// The object goes.
    Delete,
    /// Nothing changes.
    Keep,
}

/// What a write did.
pub(super) struct Written {
    /// The object after, or as it was when it went.
    pub(super) note: Arc<Stored>,
    /// Whether the object is new.
    pub(super) created: bool,
    /// Whether the object is gone.
    pub(super) deleted: bool,
}

/// A watch cannot begin where it asked to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expired {
    /// Oldest revision from which a watch can begin.
    pub(super) oldest: u64,
}

/// All notes.
pub(super) struct Store {
    inner: Mutex<Inner>,
    revision: watch::Sender<u64>,
}

struct Inner {
    notes: BTreeMap<Key, Arc<Stored>>,
    events: VecDeque<Event>,
    revision: u64,
    /// Events up to here are no longer known.
    forgotten: u64,
    journal: Option<Journal>,
}

impl Store {
    /// A store that keeps its objects in `file` over restarts.
    pub(super) fn open(file: &Path) -> io::Result<Self> {
        let (journal, records) = Journal::open(file)?;
        let mut inner = Inner {
            notes: BTreeMap::new(),
            events: VecDeque::new(),
            revision: 1,
            forgotten: 1,
            journal: None,
        };
        for record in records {
            inner.revision = inner.revision.max(record.revision);
            match record.value {
                Some(value) => {
                    let note = stored(record.revision, value)?;
                    inner.notes.insert(record.key, Arc::new(note));
                }
                None => {
                    inner.notes.remove(&record.key);
                }
            }
        }
        inner.forgotten = inner.revision;
        inner.journal = Some(journal.compact(inner.revision, &inner.notes)?);
        Ok(Self { revision: watch::Sender::new(inner.revision), inner: Mutex::new(inner) })
    }

    /// A store that forgets everything.
    #[cfg(test)]
    pub(super) fn in_memory() -> Self {
        let inner = Inner {
            notes: BTreeMap::new(),
            events: VecDeque::new(),
            revision: 1,
            forgotten: 1,
            journal: None,
        };
        Self { inner: Mutex::new(inner), revision: watch::Sender::new(1) }
    }

    /// One note.
    pub(super) fn get(&self, key: &Key) -> Option<Arc<Stored>> {
        self.lock().notes.get(key).cloned()
    }

    /// The notes of one namespace, or all, by key; and the revision at which this is so.
    pub(super) fn list(&self, namespace: Option<&str>) -> (u64, Vec<Arc<Stored>>) {
        let inner = self.lock();
        let notes = match namespace {
            None => inner.notes.values().cloned().collect(),
            Some(namespace) => {
                let first: Bound<Key> = Bound::Included((namespace.to_owned(), String::new()));
                let in_namespace = inner.notes.range((first, Bound::Unbounded));
                in_namespace.take_while(|(key, _)| key.0 == namespace).map(|(_, note)| note.clone()).collect()
            }
        };
        (inner.revision, notes)
    }

    /// The events after `revision`, and the revision up to which this is all.
    pub(super) fn events_after(&self, revision: u64) -> Result<(u64, Vec<Event>), Expired> {
        let inner = self.lock();
        if revision < inner.forgotten {
            return Err(Expired { oldest: inner.forgotten });
        }
        let first = inner.events.partition_point(|event| event.revision <= revision);
        Ok((inner.revision, inner.events.range(first..).cloned().collect()))
    }

    /// Tells of every new revision.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    /// Decides on one note with nobody between reading and writing. With `dry_run` nothing is kept.
    ///
    /// `decide` sees the note as it is; an I/O error of the journal leaves everything as it was.
    ///
    /// # Errors
    /// What `decide` says, and 500 when the journal cannot be written.
    pub(super) fn write(
        &self,
        key: &Key,
        dry_run: bool,
        decide: impl FnOnce(Option<&Stored>) -> Result<Change, Status>,
    ) -> Result<Option<Written>, Status> {
        let mut inner = self.lock();
        let before = inner.notes.get(key).cloned();
        let value = match decide(before.as_deref())? {
            Change::Keep => {
                return Ok(before.map(|note| Written { note, created: false, deleted: false }));
            }
            Change::Put(value) => Some(value),
            Change::Delete if before.is_none() => return Ok(None),
            Change::Delete => None,
        };
        let revision = inner.revision + 1;
        let after = value.map(|value| stored(revision, value)).transpose().map_err(not_kept)?.map(Arc::new);
        let Some(note) = after.clone().or_else(|| before.clone()) else { return Ok(None) };
        let written = Written { note, created: before.is_none(), deleted: after.is_none() };
        if dry_run {
            return Ok(Some(written));
        }
        if let Some(journal) = &mut inner.journal {
            let value = after.as_ref().map(|note| note.value.clone());
            journal.append(&Record { revision, key: key.clone(), value }).map_err(not_kept)?;
        }
        inner.keep(key, Event { revision, before, after });
        drop(inner);
        self.revision.send_replace(revision);
        Ok(Some(written))
    }

    /// No writer panics while it holds the lock halfway, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn keep(&mut self, key: &Key, event: Event) {
        self.revision = event.revision;
        match &event.after {
            Some(note) => self.notes.insert(key.clone(), note.clone()),
            None => self.notes.remove(key),
        };
        self.events.push_back(event);
        if self.events.len() > WINDOW
            && let Some(oldest) = self.events.pop_front()
        {
            self.forgotten = oldest.revision;
        }
    }
}

fn not_kept(error: io::Error) -> Status {
    tracing::error!(%error, "cannot write the journal");
    Status::internal("the note could not be kept")
}

fn stored(revision: u64, mut value: Value) -> io::Result<Stored> {
    value["metadata"]["resourceVersion"] = Value::String(revision.to_string());
    let json = serde_json::to_vec(&value)?.into();
    Ok(Stored { revision, value, json })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(name: &str) -> Key {
        ("default".to_owned(), name.to_owned())
    }

    fn put(store: &Store, name: &str, text: &str) -> u64 {
        let value = json!({"metadata": {"name": name}, "spec": {"text": text}});
        let written = store.write(&key(name), false, |_| Ok(Change::Put(value))).expect("write");
        written.expect("written").note.revision
    }

    #[test]
    fn a_watch_sees_what_came_after() {
        let store = Store::in_memory();
        let first = put(&store, "a", "1");
        put(&store, "b", "1");
        put(&store, "a", "2");
        let (revision, events) = store.events_after(first).expect("in the window");
        assert_eq!(revision, first + 2);
        assert_eq!(events.len(), 2);
        assert!(events[0].before.is_none());
        assert_eq!(events[1].before.as_ref().map(|note| note.revision), Some(first));
    }

    #[test]
    fn what_left_the_window_is_expired() {
        let store = Store::in_memory();
        for _ in 0..=WINDOW + 1 {
            put(&store, "a", "x");
        }
        assert_eq!(store.events_after(2).expect_err("too old"), Expired { oldest: 3 });
        assert!(store.events_after(3).is_ok());
    }

    #[test]
    fn a_dry_run_keeps_nothing() {
        let store = Store::in_memory();
        let value = json!({"metadata": {"name": "a"}});
        store.write(&key("a"), true, |_| Ok(Change::Put(value))).expect("write");
        assert!(store.get(&key("a")).is_none());
        assert_eq!(store.list(None).0, 1);
    }

    #[test]
    fn a_list_keeps_to_its_namespace() {
        let store = Store::in_memory();
        for namespace in ["a", "b", "ba"] {
            let value = json!({"metadata": {"namespace": namespace, "name": "n"}});
            let key = (namespace.to_owned(), "n".to_owned());
            store.write(&key, false, |_| Ok(Change::Put(value))).expect("write");
        }
        assert_eq!(store.list(Some("b")).1.len(), 1);
        assert_eq!(store.list(None).1.len(), 3);
    }

    #[test]
    fn objects_and_versions_survive_a_restart() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("notes.jsonl");
        let last = {
            let store = Store::open(&file).expect("new");
            put(&store, "a", "1");
            put(&store, "b", "1");
            store.write(&key("a"), false, |_| Ok(Change::Delete)).expect("delete");
            store.list(None).0
        };
        // A crash in the middle of a line loses that line alone.
        let mut text = fs_err::read_to_string(&file).expect("journal");
        text.push_str("{\"revision\":99,\"key\":[\"default\"");
        fs_err::write(&file, text).expect("write");

        let store = Store::open(&file).expect("again");
        let (revision, notes) = store.list(None);
        assert_eq!((revision, notes.len()), (last, 1));
        assert_eq!(put(&store, "c", "1"), last + 1);
        assert!(store.events_after(last - 1).is_err(), "events do not survive, and the watch is told so");
    }
}
