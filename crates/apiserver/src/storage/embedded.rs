//! A store in one file, with nothing to install: redb below, one thread that writes.
//!
//! Writers queue up for that thread; all that wait when a commit ends share the next one, so that
//! durability costs one sync for many. Readers never wait for it: each sees the state of the last commit.

mod database;
mod history;
mod read;
mod record;
mod salvage;
mod tables;
mod watch;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use redb::{StorageBackend, backends::InMemoryBackend};
use tokio::sync::oneshot;

use super::{
    Answer, Error, Item, Key, ListOptions, Page, Prefix, Read, Revision, Store, Watch, Write, log::Log,
};
use database::{Database, Medium};
use writer::Job;

pub use salvage::{Salvaged, salvage};

/// How a store behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// How far back one can list and watch. Upstream compacts etcd every five minutes.
    pub history: Duration,
    /// Writes at most that are remembered, however young.
    pub history_events: u64,
    /// Longest value in bytes. Upstream's limit for a request is 3 MiB.
    pub max_value: usize,
    /// Memory for pages of the file, in bytes.
    pub cache: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            history: Duration::from_secs(5 * 60),
            history_events: 1_000_000,
            max_value: 3 << 20,
            cache: 16 << 20,
        }
    }
}

/// A store in one file.
#[derive(Debug)]
pub struct Embedded {
    shared: Arc<Shared>,
    jobs: mpsc::Sender<Job>,
    thread: Option<thread::JoinHandle<()>>,
}

/// What readers, watchers and the writer have in common.
#[derive(Debug)]
struct Shared {
    database: Database,
    log: Log,
    options: Options,
}

impl Embedded {
    /// Opens the store in this file, which is made when it is not there, readable by its owner alone.
    ///
    /// # Errors
    /// [`Error::Open`] when that cannot be done, or another process has it open; [`Error::Damaged`] when
    /// the file is not what was written to it.
    pub fn open(file: &Path, options: Options) -> Result<Self, Error> {
        Self::start(Medium::File(file.to_owned()), options)
    }

    /// A store that is gone with the process.
    ///
    /// # Errors
    /// When there is no thread left for it.
    pub fn in_memory(options: Options) -> Result<Self, Error> {
        Self::open_on("memory", || Ok(InMemoryBackend::new()), options)
    }

    /// A store on something else than a file. `open` is called again after a failure.
    ///
    /// # Errors
    /// As [`Embedded::open`].
    pub fn open_on<B: StorageBackend>(
        name: &str,
        open: impl Fn() -> std::io::Result<B> + Send + Sync + 'static,
        options: Options,
    ) -> Result<Self, Error> {
        let open = move || open().map(|backend| Box::new(backend) as Box<dyn StorageBackend>);
        Self::start(Medium::Other(PathBuf::from(name), Box::new(open)), options)
    }

    fn start(medium: Medium, options: Options) -> Result<Self, Error> {
        let file = medium.name().to_owned();
        let database = Database::open(medium, options.cache)?;
        let revision = read::revision(&database)?;
        let shared = Arc::new(Shared { database, log: Log::new(revision), options });
        let (jobs, queue) = mpsc::channel();
        let writer = writer::Writer::new(Arc::clone(&shared), queue)?;
        let thread = thread::Builder::new()
            .name("storage".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| Error::Open { file, reason: format!("no thread to write it: {error}") })?;
        Ok(Self { shared, jobs, thread: Some(thread) })
    }

    /// Hands a job to the writer and waits for what comes of it.
    fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Job,
    ) -> Answer<'_, T> {
        let (reply, outcome) = oneshot::channel();
        let sent = self.jobs.send(job(reply));
        Box::pin(async move {
            sent.map_err(|_| Error::Closed)?;
            outcome.await.map_err(|_| Error::Closed)?
        })
    }
}

impl Store for Embedded {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Read<Option<Item>>> {
        // A few pages, nearly always in memory: cheaper than another thread.
        Box::pin(async move { read::get(&self.shared.database, key) })
    }

    fn list<'a>(&'a self, prefix: &'a Prefix, options: ListOptions) -> Answer<'a, Read<Page>> {
        let (shared, prefix) = (Arc::clone(&self.shared), prefix.clone());
        Box::pin(async move { blocking(move || read::list(&shared.database, &prefix, &options)).await })
    }

    fn write(&self, write: Write) -> Answer<'_, Revision> {
        let limit = self.shared.options.max_value;
        if let Some(len) = write.value.as_ref().map(bytes::Bytes::len).filter(|len| *len > limit) {
            return Box::pin(async move { Err(Error::TooLarge { key: write.key, len, limit }) });
        }
        self.ask(|reply| Job::Write(write, reply))
    }

    fn watch<'a>(&'a self, prefix: &'a Prefix, after: Revision) -> Answer<'a, Box<dyn Watch>> {
        Box::pin(async move {
            let watch = watch::Cursor::new(&self.shared, prefix.clone(), after)?;
            Ok(Box::new(watch) as Box<dyn Watch>)
        })
    }

    fn compact(&self, revision: Revision) -> Answer<'_, ()> {
        self.ask(|reply| Job::Compact(revision, reply))
    }

    fn revision(&self) -> Answer<'_, Revision> {
        Box::pin(async move { read::revision(&self.shared.database) })
    }
}

impl Drop for Embedded {
    /// Waits until what was handed in is written.
    fn drop(&mut self) {
        let _ = self.jobs.send(Job::Close);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.shared.log.close();
        self.shared.database.close();
    }
}

/// Does something that may wait for the disk, away from the threads that serve requests.
async fn blocking<T: Send + 'static>(
    job: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(job).await.map_err(|_| Error::Closed)?
}
