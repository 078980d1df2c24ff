//! Values read from files, read again when the files change.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
    time::{Instant, MissedTickBehavior},
};

use crate::{Error, read_limited};

/// Notifications are missed on some mounts (network, secrets swapped by symlink), so files are also
/// looked at this often.
const POLL: Duration = Duration::from_secs(3);

/// Files are rarely written at once, and a pair never is: new content counts when it has not changed
/// for this long.
const SETTLE: Duration = Duration::from_millis(50);

/// So often at most it is waited for, lest files that never rest are never read.
const MAX_SETTLES: usize = 20;

/// The content of all watched files, in the order in which they were named; read together.
pub struct Contents(Vec<Vec<u8>>);

impl Contents {
    /// The content of the file named at this place; empty when no such was named.
    pub fn get(&self, place: usize) -> &[u8] {
        self.0.get(place).map_or(&[], Vec::as_slice)
    }
}

/// A value made from files. It is made anew whenever their content changes; content that does not
/// make a value is reported and leaves the last good one in place. Dropping it stops the watching.
pub struct Reloading<T> {
    value: watch::Receiver<Arc<T>>,
    problem: watch::Receiver<Option<String>>,
    task: JoinHandle<()>,
}

impl<T: Send + Sync + 'static> Reloading<T> {
    /// Reads `files` once, makes the first value, and watches from then on. Must be called inside of
    /// a tokio runtime. `make` runs on it, so it should be quick.
    ///
    /// # Errors
    /// When a file cannot be read now, or `make` refuses the first content.
    pub fn start(
        files: Vec<PathBuf>,
        make: impl Fn(&Contents) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        Self::start_polling(files, POLL, make)
    }

    /// As [`Reloading::start`], with another interval of looking.
    ///
    /// # Errors
    /// As [`Reloading::start`].
    pub fn start_polling(
        files: Vec<PathBuf>,
        poll: Duration,
        make: impl Fn(&Contents) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        // Watching begins before the first reading, so that no change falls between the two.
        let (signs_tx, signs) = mpsc::channel(1);
        let watcher = watch_folders(&files, signs_tx.clone());
        let contents = read(&files)?;
        let (value_tx, value) = watch::channel(Arc::new(make(&contents)?));
        let (problem_tx, problem) = watch::channel(None);
        let reloader = Reloader {
            files,
            last: contents,
            last_is_good: true,
            make,
            value: value_tx,
            problem: problem_tx,
        };
        let signs = Signs { signs, _sender: signs_tx, _watcher: watcher };
        let task = tokio::spawn(reloader.run(signs, poll));
        Ok(Self { value, problem, task })
    }

    /// The value now.
    pub fn current(&self) -> Arc<T> {
        self.value.borrow().clone()
    }

    /// Tells of every new value.
    pub fn subscribe(&self) -> watch::Receiver<Arc<T>> {
        self.value.clone()
    }

    /// Why the newest content of the files is not in use; none when it is.
    pub fn problem(&self) -> watch::Receiver<Option<String>> {
        self.problem.clone()
    }
}

impl<T> Drop for Reloading<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Reloading<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reloading").field("problem", &*self.problem.borrow()).finish_non_exhaustive()
    }
}

/// Signs of change, with what they come from.
struct Signs {
    signs: mpsc::Receiver<()>,
    /// Keeps the channel open where there is no watcher.
    _sender: mpsc::Sender<()>,
    /// None where the system has no watching to give.
    _watcher: Option<RecommendedWatcher>,
}

struct Reloader<T, F> {
    files: Vec<PathBuf>,
    last: Contents,
    last_is_good: bool,
    make: F,
    value: watch::Sender<Arc<T>>,
    problem: watch::Sender<Option<String>>,
}

impl<T, F: Fn(&Contents) -> Result<T, Error>> Reloader<T, F> {
    async fn run(mut self, mut signs: Signs, poll: Duration) {
        let mut ticks = tokio::time::interval_at(Instant::now() + poll, poll);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                _ = signs.signs.recv() => {}
            }
            self.look().await;
        }
    }

    async fn look(&mut self) {
        let contents = match self.settled().await {
            Ok(contents) => contents,
            Err(error) => return self.report(error.to_string()),
        };
        if contents.0 == self.last.0 {
            if self.last_is_good {
                // A file that had gone is back as it was.
                self.problem.send_if_modified(|problem| problem.take().is_some());
            }
            return;
        }
        let made = (self.make)(&contents);
        self.last = contents;
        self.last_is_good = made.is_ok();
        match made {
            Ok(value) => {
                self.problem.send_replace(None);
                self.value.send_replace(Arc::new(value));
                tracing::info!(files = %Names(&self.files), "reloaded");
            }
            Err(error) => self.report(error.to_string()),
        }
    }

    /// The content, when it is new only once it rests.
    async fn settled(&self) -> Result<Contents, Error> {
        let mut contents = read(&self.files)?;
        for _ in 0..MAX_SETTLES {
            if contents.0 == self.last.0 {
                break;
            }
            tokio::time::sleep(SETTLE).await;
            let again = read(&self.files)?;
            if again.0 == contents.0 {
                break;
            }
            contents = again;
        }
        Ok(contents)
    }

    fn report(&self, problem: String) {
        let news = self.problem.send_if_modified(|known| {
            let differs = known.as_deref() != Some(problem.as_str());
            *known = Some(problem.clone());
            differs
        });
        if news {
            tracing::warn!(files = %Names(&self.files), %problem, "kept the last good content");
        }
    }
}

fn read(files: &[PathBuf]) -> Result<Contents, Error> {
    files.iter().map(|path| read_limited(path)).collect::<Result<_, _>>().map(Contents)
}

/// Watches the folders rather than the files: a rename over a file ends a watch on the file itself.
fn watch_folders(files: &[PathBuf], signs: mpsc::Sender<()>) -> Option<RecommendedWatcher> {
    let told = move |event: notify::Result<notify::Event>| {
        // Our own reading opens and closes the files; answering that would never end.
        if event.is_ok_and(|event| event.kind.is_access()) {
            return;
        }
        // A full channel holds a sign already.
        let _ = signs.try_send(());
    };
    let mut watcher = match notify::recommended_watcher(told) {
        Ok(watcher) => watcher,
        Err(error) => {
            tracing::warn!(%error, "no file notifications; files are polled only");
            return None;
        }
    };
    let mut folders: Vec<&Path> = files.iter().filter_map(|file| folder(file)).collect();
    folders.sort_unstable();
    folders.dedup();
    for folder in folders {
        if let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive) {
            tracing::warn!(%error, folder = %folder.display(), "folder is polled only");
        }
    }
    Some(watcher)
}

fn folder(file: &Path) -> Option<&Path> {
    match file.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Some(Path::new(".")),
        other => other,
    }
}

struct Names<'a>(&'a [PathBuf]);

impl std::fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, file) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{}", file.display())?;
        }
        Ok(())
    }
}
