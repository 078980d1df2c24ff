//! Watches: what happens to the objects that a selector means.

use std::{collections::VecDeque, sync::Arc};

use kube_wire::Status;

use super::{Call, Engine, Selection, SharedEvent, Verb, events::Events, storage_failure};
use crate::{
    options::{ListOptions, too_large_version},
    storage::{self, Entry, Error, Event, Item, Prefix, Revision, Watch},
};

/// Events that are taken from the store at once.
const BATCH: usize = 64;

/// A watch that has begun.
pub struct Watcher {
    watch: Box<dyn Watch>,
    events: Arc<Events>,
    selection: Selection,
    ready: VecDeque<Arc<Event>>,
}

/// How a watch begins.
pub struct Starting {
    /// What is there already, when the client wants it.
    pub initial: Vec<Entry>,
    /// The moment at which that was so, when the client wants to know that it was all.
    pub initial_end: Option<Revision>,
    /// What comes then.
    pub watcher: Watcher,
}

impl Engine {
    /// Begins a watch.
    ///
    /// # Errors
    /// 410 when its beginning is forgotten, 500 for a resource version that is no number.
    pub async fn watch(&self, call: &Call<'_>, options: &ListOptions) -> Result<Starting, Status> {
        let version = options.watch_version()?;
        let selection = Selection::new(options.labels.clone(), options.fields.clone());
        let prefix = call.prefix().ok_or_else(|| Status::bad_request("no such namespace can exist"))?;
        let initial = match options.send_initial_events {
            Some(wanted) => wanted,
            None => version == 0,
        };
        let (entries, after) = match (initial, version) {
            (true, _) => self.initial(&prefix, &selection, version).await?,
            (false, 0) => (Vec::new(), self.revision().await?),
            (false, version) => (Vec::new(), Revision(version)),
        };
        let watch = self.store.watch(&prefix, after).await.map_err(|error| watch_failure(&error))?;
        let events = self.events(&call.definition.qualified_name());
        let asked = options.send_initial_events == Some(true) && options.bookmarks;
        Ok(Starting {
            initial: entries,
            initial_end: asked.then_some(after),
            watcher: Watcher { watch, events, selection, ready: VecDeque::new() },
        })
    }

    async fn initial(
        &self,
        prefix: &Prefix,
        selection: &Selection,
        not_older: u64,
    ) -> Result<(Vec<Entry>, Revision), Status> {
        let read = self.store.list(prefix, storage::ListOptions::default()).await;
        let read = read.map_err(|error| storage_failure(&error))?;
        if not_older > read.revision.0 {
            return Err(too_large_version(not_older, read.revision.0));
        }
        let mut entries = read.content.entries;
        entries.retain(|entry| selection.takes(&entry.key, &entry.item.value));
        Ok((entries, read.revision))
    }
}

impl Watcher {
    /// The next event that concerns this watcher; waits for it. May be dropped while it waits.
    ///
    /// # Errors
    /// 410 when the watcher was too slow.
    pub async fn next(&mut self) -> Result<(Verb, Arc<SharedEvent>), Status> {
        loop {
            if let Some(event) = self.ready() {
                return Ok(event);
            }
            let events = self.watch.next(BATCH).await.map_err(|error| watch_failure(&error))?;
            self.ready.extend(events);
        }
    }

    /// The next event that is here already.
    pub fn ready(&mut self) -> Option<(Verb, Arc<SharedEvent>)> {
        while let Some(event) = self.ready.pop_front() {
            if let Some(verb) = self.verb(&event) {
                return Some((verb, self.events.share(&event)));
            }
        }
        None
    }

    /// Up to where everything was handed out; none while something waits.
    pub fn position(&self) -> Option<Revision> {
        self.ready.is_empty().then(|| self.watch.position())
    }

    /// What the event is to this watcher: an object that begins to match is new to it.
    fn verb(&self, event: &Event) -> Option<Verb> {
        let took = |item: &Item| self.selection.takes(&event.key, &item.value);
        let before = event.previous.as_ref().is_some_and(took);
        let after = event.value.as_ref().is_some_and(|value| self.selection.takes(&event.key, value));
        match (before, after) {
            (false, true) => Some(Verb::Added),
            (true, true) => Some(Verb::Modified),
            (true, false) => Some(Verb::Deleted),
            (false, false) => None,
        }
    }
}

fn watch_failure(error: &Error) -> Status {
    match error {
        Error::Compacted { requested, oldest } => {
            Status::expired(format!("too old resource version: {requested} ({oldest})"))
        }
        other => storage_failure(other),
    }
}
