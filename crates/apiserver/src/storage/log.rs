//! The latest events of each resource, in memory, and the watchers that read them.
//!
//! A watcher is a position, not a queue: a slow one costs no memory, and one event is shared by all. What
//! is no longer here is read from the history on disk, which reaches much further back.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::watch;

use super::{Event, Prefix, Revision};

/// Events of one resource that are kept in memory.
const MAX_EVENTS: usize = 1024;
/// Their values together, in bytes.
const MAX_BYTES: usize = 2 << 20;

/// All resources.
#[derive(Debug)]
pub(super) struct Log {
    resources: Mutex<HashMap<Box<str>, Arc<ResourceLog>>>,
    published: AtomicU64,
}

/// One resource.
#[derive(Debug)]
pub(super) struct ResourceLog {
    recent: Mutex<Recent>,
    /// Word of each change, with whether the log has ended.
    changed: watch::Sender<bool>,
}

#[derive(Debug)]
struct Recent {
    /// Every event after this one is here.
    floor: Revision,
    events: VecDeque<Arc<Event>>,
    bytes: usize,
}

/// What the log has after a position.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// These, at least one.
    Events(Vec<Arc<Event>>),
    /// Nothing for this watcher up to here.
    Nothing(Revision),
    /// The position is before what is kept.
    Behind,
}

impl Log {
    /// A log that begins after this write.
    pub(super) fn new(published: Revision) -> Self {
        Self { resources: Mutex::default(), published: AtomicU64::new(published.0) }
    }

    /// The last write that watchers can have seen.
    pub(super) fn published(&self) -> Revision {
        Revision(self.published.load(Ordering::Acquire))
    }

    /// Hands out events, which must be the ones after those before.
    pub(super) fn publish(&self, events: Vec<Event>) {
        let Some(last) = events.last().map(|event| event.revision) else { return };
        let mut touched = Vec::<Arc<ResourceLog>>::new();
        let resources = lock(&self.resources);
        for event in events {
            let Some(log) = resources.get(event.key.resource()) else { continue };
            log.push(Arc::new(event));
            if !touched.iter().any(|other| Arc::ptr_eq(other, log)) {
                touched.push(Arc::clone(log));
            }
        }
        self.published.store(last.0, Ordering::Release);
        drop(resources);
        for log in touched {
            log.changed.send_replace(false);
        }
    }

    /// The log of a resource, and word of its changes from now on.
    pub(super) fn subscribe(&self, resource: &str) -> (Arc<ResourceLog>, watch::Receiver<bool>) {
        let mut resources = lock(&self.resources);
        // Nobody publishes while the lock is held, so nothing falls between the floor and the first event.
        let log =
            resources.entry(resource.into()).or_insert_with(|| Arc::new(ResourceLog::new(self.published())));
        (Arc::clone(log), log.changed.subscribe())
    }

    /// Ends all watches.
    pub(super) fn close(&self) {
        for log in lock(&self.resources).values() {
            log.changed.send_replace(true);
        }
    }
}

impl ResourceLog {
    fn new(floor: Revision) -> Self {
        let recent = Recent { floor, events: VecDeque::new(), bytes: 0 };
        Self { recent: Mutex::new(recent), changed: watch::Sender::new(false) }
    }

    fn push(&self, event: Arc<Event>) {
        let mut recent = lock(&self.recent);
        if self.changed.receiver_count() == 0 {
            // Nobody reads: whoever comes later finds it on disk.
            *recent = Recent { floor: event.revision, events: VecDeque::new(), bytes: 0 };
            return;
        }
        recent.bytes += size(&event);
        recent.events.push_back(event);
        while recent.events.len() > MAX_EVENTS || (recent.bytes > MAX_BYTES && recent.events.len() > 1) {
            let Some(oldest) = recent.events.pop_front() else { break };
            recent.bytes -= size(&oldest);
            recent.floor = oldest.revision;
        }
    }

    /// At most `max` events below `prefix` after this one.
    pub(super) fn after(&self, after: Revision, prefix: &Prefix, max: usize) -> Found {
        let recent = lock(&self.recent);
        if after < recent.floor {
            return Found::Behind;
        }
        let first = recent.events.partition_point(|event| event.revision <= after);
        let matching = recent.events.range(first..).filter(|event| prefix.contains(&event.key));
        let events: Vec<_> = matching.take(max).cloned().collect();
        if events.is_empty() {
            return Found::Nothing(recent.events.back().map_or(after, |last| last.revision.max(after)));
        }
        Found::Events(events)
    }
}

/// What an event takes up, about.
fn size(event: &Event) -> usize {
    let previous = event.previous.as_ref().map_or(0, |item| item.value.len());
    event.value.as_ref().map_or(0, bytes::Bytes::len) + previous + event.key.as_str().len()
}

/// What the locks guard is whole after every statement, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
