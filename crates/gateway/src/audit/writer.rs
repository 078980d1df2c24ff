//! The thread that writes.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender},
    },
    time::{Duration, Instant},
};

use super::{Event, event};
use crate::metrics::AuditCounters;

/// How often it is looked whether the file is still the one at its path.
const LOOK: Duration = Duration::from_secs(1);
/// How often a failure to write is logged.
const COMPLAIN: Duration = Duration::from_secs(60);

/// What the thread is told.
#[derive(Debug)]
pub(super) enum Message {
    Event(Box<Event>),
    Reopen,
    Flush(SyncSender<()>),
}

/// Starts the thread; it ends, with everything written, when the other end of `messages` is gone.
pub(super) fn start(
    path: PathBuf,
    messages: Receiver<Message>,
    counters: Arc<AuditCounters>,
) -> io::Result<()> {
    let file = Some(BufWriter::new(open(&path)?));
    let mut writer = Writer { path, file, counters, looked: Instant::now(), complained: None };
    std::thread::Builder::new().name("audit".to_owned()).spawn(move || writer.run(&messages))?;
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

struct Writer {
    path: PathBuf,
    /// None while it cannot be opened.
    file: Option<BufWriter<File>>,
    counters: Arc<AuditCounters>,
    looked: Instant,
    complained: Option<Instant>,
}

impl Writer {
    fn run(&mut self, messages: &Receiver<Message>) {
        loop {
            match messages.recv_timeout(LOOK) {
                Ok(message) => {
                    self.take(message);
                    // Whatever has come meanwhile goes out with the same write.
                    while let Ok(message) = messages.try_recv() {
                        self.take(message);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.flush(),
            }
            self.flush();
            self.look();
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Event(event) => self.write(&event),
            Message::Reopen => self.reopen(),
            Message::Flush(done) => {
                self.flush();
                let _ = done.send(());
            }
        }
    }

    fn write(&mut self, event: &Event) {
        if self.looked.elapsed() >= LOOK {
            self.look();
        }
        let line = event::line(event);
        match self.file.as_mut().map(|file| file.write_all(&line)) {
            Some(Ok(())) => self.counters.events.add(1),
            Some(Err(error)) => self.failed(&error),
            None => self.counters.errors.add(1),
        }
    }

    fn flush(&mut self) {
        if let Some(Err(error)) = self.file.as_mut().map(Write::flush) {
            self.failed(&error);
        }
    }

    /// Reopens when the file at the path is no longer the one that is open.
    fn look(&mut self) {
        if self.looked.elapsed() < LOOK {
            return;
        }
        self.looked = Instant::now();
        let open = self.file.as_ref().and_then(|file| file.get_ref().metadata().ok());
        let there = std::fs::metadata(&self.path).ok();
        let same = match (open, there) {
            (Some(open), Some(there)) => open.ino() == there.ino() && open.dev() == there.dev(),
            _ => false,
        };
        if !same {
            self.reopen();
        }
    }

    fn reopen(&mut self) {
        self.flush();
        match open(&self.path) {
            Ok(file) => self.file = Some(BufWriter::new(file)),
            Err(error) => {
                self.complain(&error);
                // An old file that is still open is better than none.
            }
        }
    }

    fn failed(&mut self, error: &io::Error) {
        self.counters.errors.add(1);
        // What is buffered cannot be written either; a new buffer does not write half a line later.
        if let Some(file) = self.file.take() {
            let (file, _) = file.into_parts();
            self.file = Some(BufWriter::new(file));
        }
        self.complain(error);
    }

    fn complain(&mut self, error: &io::Error) {
        if self.complained.is_none_or(|last| last.elapsed() >= COMPLAIN) {
            self.complained = Some(Instant::now());
            tracing::error!(path = %self.path.display(), %error, "Cannot write the audit log; events are lost.");
        }
    }
}
