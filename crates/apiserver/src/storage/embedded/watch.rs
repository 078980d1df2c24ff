//! A watch on the embedded store: a position in the log, and in the history where that has no more.

use std::sync::Arc;

use tokio::sync::watch::Receiver;

use crate::storage::{
    Answer, Error, Event, Prefix, Revision, Watch,
    log::{Found, ResourceLog},
};

use super::{Shared, blocking, history, read, tables};

/// Events that are read from the history at once.
const CHUNK: usize = 1000;

/// A watch.
#[derive(Debug)]
pub(super) struct Cursor {
    shared: Arc<Shared>,
    log: Arc<ResourceLog>,
    changed: Receiver<bool>,
    prefix: Prefix,
    /// Everything up to here was handed out.
    after: Revision,
}

impl Cursor {
    pub(super) fn new(shared: &Arc<Shared>, prefix: Prefix, after: Revision) -> Result<Self, Error> {
        let oldest = read::meta(&shared.database, &shared.database.read()?, tables::COMPACTED)?;
        if after < oldest {
            return Err(Error::Compacted { requested: after, oldest });
        }
        let (log, changed) = shared.log.subscribe(prefix.resource());
        Ok(Self { shared: Arc::clone(shared), log, changed, prefix, after })
    }

    /// From the file, what the log has no more.
    async fn earlier(&self, max: usize) -> Result<history::Chunk, Error> {
        let (shared, prefix, after) = (Arc::clone(&self.shared), self.prefix.clone(), self.after);
        blocking(move || history::after(&shared.database, Some(&prefix), after, max.min(CHUNK))).await
    }
}

impl Watch for Cursor {
    fn next(&mut self, max: usize) -> Answer<'_, Vec<Arc<Event>>> {
        Box::pin(async move {
            let max = max.max(1);
            loop {
                // Seen before the log is looked at, so that what comes in between wakes us again.
                let ended = *self.changed.borrow_and_update();
                let events = match self.log.after(self.after, &self.prefix, max) {
                    Found::Events(events) => events,
                    Found::Nothing(_) if ended => return Err(Error::Closed),
                    Found::Nothing(up_to) => {
                        self.after = up_to;
                        self.changed.changed().await.map_err(|_| Error::Closed)?;
                        continue;
                    }
                    Found::Behind => {
                        let chunk = self.earlier(max).await?;
                        self.after = chunk.up_to;
                        if chunk.events.is_empty() {
                            continue;
                        }
                        return Ok(chunk.events.into_iter().map(Arc::new).collect());
                    }
                };
                self.after = events.last().map_or(self.after, |last| last.revision);
                return Ok(events);
            }
        })
    }

    fn position(&self) -> Revision {
        // In this order: what is published is in the log before the number says so.
        let published = self.shared.log.published();
        match self.log.after(self.after, &self.prefix, 1) {
            Found::Nothing(_) => published.max(self.after),
            Found::Events(_) | Found::Behind => self.after,
        }
    }
}
