//! Registrations as files in a watched directory. Files may be renamed, written in pieces or be wrong:
//! a file counts once it has been quiet for a moment, and one that cannot be read leaves what it said
//! before in place.

mod parse;
mod remember;
mod scan;

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use notify::{
    EventKind, Watcher as _,
    event::{AccessKind, AccessMode, ModifyKind},
};
use tokio::sync::{mpsc, watch};

pub use parse::FileProblem;
use remember::Memory;
use scan::Scanner;

use crate::{disk::Writer, store::FileObject};

/// A file counts when it has not changed for this long: a truncated YAML file is often a valid one.
const QUIET: Duration = Duration::from_millis(100);
/// The same for a file that its writer has not closed: it may be stuck for good.
const QUIET_WHILE_OPEN: Duration = Duration::from_secs(3);
/// How often the directory is looked through although nothing was heard of it (network file systems
/// tell nothing).
const RESCAN: Duration = Duration::from_secs(2);

/// What the directory says at one moment.
#[derive(Clone, Debug, Default)]
pub struct FileSet {
    /// All valid objects, the last good ones of files that are wrong at the moment included.
    pub objects: Vec<FileObject>,
    /// What is wrong.
    pub problems: Vec<FileProblem>,
}

/// Watches a directory.
#[derive(Debug)]
pub struct FileSource {
    sets: watch::Receiver<Arc<FileSet>>,
}

impl FileSource {
    /// Reads `directory` once and goes on watching it until `stop` is dropped or set. What is known of
    /// the files (uids, creation times, last good contents) is kept in the file `memory`.
    pub(crate) fn start(
        directory: &Path,
        memory: PathBuf,
        writer: Writer,
        stop: watch::Receiver<bool>,
    ) -> Self {
        let mut scanner = Scanner::new(directory.to_owned(), Memory::load(memory, writer));
        let first = Arc::new(scanner.scan_now());
        log_problems(&first, &FileSet::default());
        let (sender, sets) = watch::channel(first);
        tokio::spawn(follow(scanner, sender, stop));
        Self { sets }
    }

    /// The current contents, and every later one.
    pub fn subscribe(&self) -> watch::Receiver<Arc<FileSet>> {
        self.sets.clone()
    }
}

async fn follow(mut scanner: Scanner, sets: watch::Sender<Arc<FileSet>>, mut stop: watch::Receiver<bool>) {
    let (heard, mut events) = mpsc::channel(1);
    // Kept alive for as long as this loop runs.
    let _watcher = listen(scanner.directory(), scanner.writers(), heard);
    loop {
        let pause = if scanner.unsettled() { QUIET / 2 } else { RESCAN };
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            Some(()) = events.recv() => {}
            () = tokio::time::sleep(pause) => {}
        }
        // Many small files are read: not on a thread that serves requests.
        let scanned = tokio::task::spawn_blocking(move || {
            let set = scanner.scan();
            (scanner, set)
        });
        let Ok((back, set)) = scanned.await else { return };
        scanner = back;
        if let Some(set) = set {
            log_problems(&set, &sets.borrow());
            sets.send_replace(Arc::new(set));
        }
    }
}

/// Asks the operating system to tell of changes; without that the regular rescan has to do.
fn listen(directory: &Path, writers: Writers, heard: mpsc::Sender<()>) -> Option<notify::RecommendedWatcher> {
    let told = move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        writers.hear(&event);
        // Reading the files is itself an event.
        if !event.kind.is_access() || event.kind == CLOSED {
            let _ = heard.try_send(());
        }
    };
    let watching = notify::recommended_watcher(told).and_then(|mut watcher| {
        watcher.watch(directory, notify::RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    watching
        .inspect_err(|error| {
            tracing::warn!(directory = %directory.display(), %error, "cannot watch the directory; looking every 2 s");
        })
        .ok()
}

const CLOSED: EventKind = EventKind::Access(AccessKind::Close(AccessMode::Write));

/// Files that somebody is writing to at the moment, as far as the operating system tells.
#[derive(Clone, Debug, Default)]
struct Writers(Arc<Mutex<HashSet<PathBuf>>>);

impl Writers {
    fn hear(&self, event: &notify::Event) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event.kind {
            EventKind::Modify(ModifyKind::Data(_)) => open.extend(event.paths.iter().cloned()),
            CLOSED | EventKind::Modify(ModifyKind::Name(_)) | EventKind::Remove(_) => {
                event.paths.iter().for_each(|path| {
                    open.remove(path);
                });
            }
            _ => {}
        }
    }

    /// For how long the file must not have changed before it counts.
    fn quiet(&self, path: &Path) -> Duration {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.contains(path) { QUIET_WHILE_OPEN } else { QUIET }
    }
}

fn log_problems(new: &FileSet, old: &FileSet) {
    for problem in new.problems.iter().filter(|problem| !old.problems.contains(problem)) {
        tracing::warn!("{problem}");
    }
}
