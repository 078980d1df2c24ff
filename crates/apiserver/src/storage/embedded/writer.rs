//! The thread that writes.

mod batch;
mod expiry;
mod retention;

use std::{
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use crate::storage::{Error, Revision, Write};

use super::{Shared, history, read};
use batch::{Batch, Pending};
use retention::Retention;

/// Writes that share a commit, and the bytes of their values, at most.
const BATCH: usize = 1024;
const BATCH_BYTES: usize = 16 << 20;
/// Longest sleep while something expires: the clock may be set meanwhile.
const MAX_SLEEP: Duration = Duration::from_secs(60);
/// Events that are published at once after a failure.
const CATCH_UP: usize = 1000;

/// Something for the writer to do.
pub(super) enum Job {
    Write(Write, oneshot::Sender<Result<Revision, Error>>),
    Compact(Revision, oneshot::Sender<Result<(), Error>>),
    Close,
}

/// The writer.
pub(super) struct Writer {
    shared: Arc<Shared>,
    queue: mpsc::Receiver<Job>,
    retention: Retention,
    /// When the next object expires, in seconds since 1970.
    next_expiry: Option<u64>,
}

/// What the queue held.
#[derive(Default)]
struct Taken {
    writes: Vec<Pending>,
    /// Done after the writes.
    compaction: Option<(Revision, oneshot::Sender<Result<(), Error>>)>,
    closed: bool,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>, queue: mpsc::Receiver<Job>) -> Result<Self, Error> {
        let current = read::revision(&shared.database)?;
        let retention = Retention::new(&shared.options, current);
        let next_expiry = expiry::next(&shared.database)?;
        Ok(Self { shared, queue, retention, next_expiry })
    }

    /// Works until the store is dropped.
    pub(super) fn run(mut self) {
        loop {
            let taken = self.take();
            if !taken.writes.is_empty() {
                self.write(taken.writes);
            }
            if let Some((revision, reply)) = taken.compaction {
                let _ = reply.send(self.compact(revision));
            }
            if taken.closed {
                return;
            }
            self.keep_house();
        }
    }

    /// Waits for a job, or until something is due; takes what else is there.
    fn take(&mut self) -> Taken {
        let mut taken = Taken::default();
        let mut bytes = 0;
        let mut job = match self.sleep() {
            Some(limit) => self.queue.recv_timeout(limit).map_err(|e| e == mpsc::RecvTimeoutError::Timeout),
            None => self.queue.recv().map_err(|_| false),
        };
        loop {
            match job {
                Ok(Job::Write(write, reply)) => {
                    bytes += write.value.as_ref().map_or(0, bytes::Bytes::len);
                    taken.writes.push(Pending { write, reply: Some(reply) });
                }
                Ok(Job::Compact(revision, reply)) => {
                    taken.compaction = Some((revision, reply));
                    return taken;
                }
                Ok(Job::Close) | Err(false) => {
                    taken.closed = true;
                    return taken;
                }
                Err(true) => return taken,
            }
            if taken.writes.len() >= BATCH || bytes >= BATCH_BYTES {
                return taken;
            }
            job = self.queue.try_recv().map_err(|error| error == mpsc::TryRecvError::Empty);
        }
    }

    /// How long nothing is due.
    fn sleep(&self) -> Option<Duration> {
        let expiry = self.next_expiry.map(|due| Duration::from_secs(due.saturating_sub(expiry::now())));
        let retention = self.retention.next().map(|due| due.saturating_duration_since(Instant::now()));
        expiry.into_iter().chain(retention).min().map(|sleep| sleep.min(MAX_SLEEP))
    }

    /// Carries out writes with one commit, shows them to watchers, then answers.
    fn write(&mut self, writes: Vec<Pending>) {
        let batch = match Batch::apply(&self.shared.database, writes) {
            Ok(batch) => batch,
            Err(refused) => {
                // Nothing was committed. The next attempt begins with the file opened anew.
                tracing::warn!(file = %self.shared.database.file().display(), error = %refused.reason, "storage cannot be written");
                self.recover();
                return refused.answer(&self.shared.database);
            }
        };
        let (events, answers, expiry) = match batch.commit() {
            Ok(done) => done,
            Err(unknown) => {
                tracing::error!(file = %self.shared.database.file().display(), error = %unknown.reason, "storage has failed");
                self.recover();
                return unknown.answer(&self.shared.database);
            }
        };
        self.next_expiry = self.next_expiry.into_iter().chain(expiry).min();
        if let Some(last) = events.last() {
            self.retention.written(last.revision);
        }
        self.shared.log.publish(events);
        answers.send();
    }

    /// Opens the file again, and shows watchers what did get through.
    fn recover(&self) {
        if let Err(error) = self.shared.database.reopen() {
            tracing::error!(%error, "storage could not be opened again");
            return;
        }
        loop {
            let published = self.shared.log.published();
            match history::after(&self.shared.database, None, published, CATCH_UP) {
                Ok(chunk) if chunk.events.is_empty() => return,
                Ok(chunk) => self.shared.log.publish(chunk.events),
                Err(error) => {
                    tracing::error!(%error, "the history of storage cannot be read");
                    return;
                }
            }
        }
    }

    /// Does what is due.
    fn keep_house(&mut self) {
        if self.next_expiry.is_some_and(|due| due <= expiry::now()) {
            match expiry::due(&self.shared.database) {
                Ok(due) => {
                    self.next_expiry = due.next;
                    self.write(due.writes);
                }
                Err(error) => {
                    tracing::warn!(%error, "expired objects stay");
                    self.next_expiry = Some(expiry::now() + MAX_SLEEP.as_secs());
                }
            }
        }
        let current = self.shared.log.published();
        if let Some(revision) = self.retention.due(current)
            && let Err(error) = self.compact(revision)
        {
            tracing::warn!(%error, "history is not compacted");
        }
    }

    fn compact(&mut self, revision: Revision) -> Result<(), Error> {
        let outcome = retention::compact(&self.shared.database, revision);
        if let Err(Error::OutcomeUnknown { .. } | Error::ReadOnly { .. }) = &outcome {
            self.recover();
        }
        outcome
    }
}
