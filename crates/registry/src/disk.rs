//! Files that are either the old or the new ones, whatever happens in between.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use tempfile::Builder;

/// Whether a write has to survive a power cut when the call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Yes: content and name of the file are on disk.
    Synced,
    /// No: what is lost can be had again.
    Relaxed,
}

/// Replaces the file at `path`, readable by its owner alone.
///
/// One sync has to do, after the rename: the file systems of Linux write a file's new name together with
/// its content. A power cut between the two may leave a file without content where one was replaced; whoever
/// cannot afford that keeps a copy of the content before.
pub(crate) fn write(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("a state file lies in a folder"))?;
    // Temporary files are 0600 from the start.
    let mut file = Builder::new().prefix(".new-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    let file = file.persist(path).map_err(|error| error.error)?;
    if durability == Durability::Synced {
        file.sync_all()?;
    }
    Ok(())
}

/// Makes a folder and those above it.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| named(path, &error))
}

/// An error that names the file, as far as it does not already.
pub(crate) fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Something to be done to the state folder, in order, off the async threads.
enum Job {
    Write(PathBuf, Vec<u8>),
    Remove(PathBuf),
    Run(Box<dyn FnOnce() + Send>),
}

/// One thread that carries out writes which nobody waits for.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Job>,
}

impl Writer {
    /// Starts the thread; it ends when the last clone of the writer is gone.
    pub(crate) fn start() -> io::Result<Self> {
        let (jobs, queue) = mpsc::channel();
        thread::Builder::new().name("registry-state".to_owned()).spawn(move || carry_out(&queue))?;
        Ok(Self { jobs })
    }

    pub(crate) fn write(&self, path: PathBuf, bytes: Vec<u8>) {
        self.send(Job::Write(path, bytes));
    }

    pub(crate) fn remove(&self, path: PathBuf) {
        self.send(Job::Remove(path));
    }

    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        self.send(Job::Run(Box::new(job)));
    }

    /// Waits until everything handed in so far is on disk.
    pub(crate) async fn flush(&self) {
        let (done, flushed) = tokio::sync::oneshot::channel();
        self.run(move || {
            let _ = done.send(());
        });
        let _ = flushed.await;
    }

    fn send(&self, job: Job) {
        if self.jobs.send(job).is_err() {
            tracing::error!("the thread that writes the state folder is gone");
        }
    }
}

fn carry_out(queue: &mpsc::Receiver<Job>) {
    for job in queue {
        let (path, outcome) = match job {
            Job::Write(path, bytes) => {
                let outcome = write(&path, &bytes, Durability::Relaxed);
                (path, outcome)
            }
            Job::Remove(path) => {
                let outcome = match std::fs::remove_file(&path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                    other => other,
                };
                (path, outcome)
            }
            Job::Run(job) => {
                job();
                continue;
            }
        };
        if let Err(error) = outcome {
            tracing::error!(
                path = %path.display(), %error,
                "cannot write the state folder; the copy from before is kept. Free some space or correct the permissions"
            );
        }
    }
}
