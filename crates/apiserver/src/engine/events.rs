//! The latest events, each encoded once for each form that watchers want.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;

use crate::storage::{Event, Revision};

/// Events that are kept at most. Who is further behind has them encoded anew.
const MAX_EVENTS: usize = 512;
/// Their encodings together, in bytes, about.
const MAX_BYTES: usize = 4 << 20;

/// What happened, for one watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// The watcher sees it for the first time.
    Added,
    /// It has changed.
    Modified,
    /// The watcher sees it no more.
    Deleted,
}

/// An event that many watchers share.
#[derive(Debug)]
pub struct SharedEvent {
    /// What was written.
    pub event: Arc<Event>,
    /// For each form, by a number that the caller chooses.
    encoded: Mutex<Vec<((Verb, u64), Bytes)>>,
}

/// The events of one resource.
#[derive(Debug, Default)]
pub(super) struct Events(Mutex<Ring>);

#[derive(Debug, Default)]
struct Ring {
    events: VecDeque<Arc<SharedEvent>>,
    bytes: usize,
}

impl Verb {
    /// On the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

impl SharedEvent {
    pub(super) fn new(event: Arc<Event>) -> Self {
        Self { event, encoded: Mutex::default() }
    }

    /// The event in this form, encoded by the first who asks.
    ///
    /// # Errors
    /// What `encode` says; the next one tries again.
    pub fn encoded<E>(
        &self,
        verb: Verb,
        form: u64,
        encode: impl FnOnce() -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        let mut encoded = self.encoded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = encoded.iter().find(|(key, _)| *key == (verb, form)) {
            return Ok(bytes.clone());
        }
        let bytes = encode()?;
        encoded.push(((verb, form), bytes.clone()));
        Ok(bytes)
    }
}

impl Events {
    /// The shared form of an event that a watch has handed out.
    pub(super) fn share(&self, event: &Arc<Event>) -> Arc<SharedEvent> {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match ring.find(event.revision) {
            Ok(place) => Arc::clone(&ring.events[place]),
            Err(place) => {
                let shared = Arc::new(SharedEvent::new(Arc::clone(event)));
                // What is older than all that is kept would push out what others are about to ask for.
                if place > 0 || ring.events.is_empty() {
                    ring.keep(place, Arc::clone(&shared));
                }
                shared
            }
        }
    }
}

impl Ring {
    fn find(&self, revision: Revision) -> Result<usize, usize> {
        self.events.binary_search_by_key(&revision, |shared| shared.event.revision)
    }

    fn keep(&mut self, place: usize, shared: Arc<SharedEvent>) {
        self.bytes += size(&shared.event);
        self.events.insert(place, shared);
        while self.events.len() > MAX_EVENTS || (self.bytes > MAX_BYTES && self.events.len() > 1) {
            let Some(oldest) = self.events.pop_front() else { break };
            self.bytes -= size(&oldest.event);
        }
    }
}

/// What an event takes, counted the same when it comes and when it goes.
fn size(event: &Event) -> usize {
    let previous = event.previous.as_ref().map_or(0, |item| item.value.len());
    2 * (event.value.as_ref().map_or(0, Bytes::len) + previous)
}
