//! What was begun and done on a host, kept on this machine: how far a run came that ended before its end.
//!
//! Nothing is resumed from it: what is left to do is found on the host. It tells people, and tests.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use crate::Error;

/// Most lines that are read of a journal.
const LINES: usize = 10_000;

/// A line of a journal, and what is told while a run goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Name of the host.
    pub host: String,
    /// Number of the step, from 1.
    pub step: usize,
    /// How many there are.
    pub of: usize,
    /// What it does.
    pub name: String,
    /// What happened.
    pub state: State,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When, in seconds since 1970.
    pub time: u64,
}

/// What happened to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// It was begun.
    Begun,
    /// It was done.
    Done,
    /// It failed.
    Failed,
    /// It was the last one.
    Finished,
}

/// Who is told what happens.
pub type Listener = Arc<dyn Fn(&Event) + Send + Sync>;

/// The journal of one host for one run.
pub struct Journal {
    host: String,
    path: PathBuf,
    file: Option<fs_err::File>,
    listener: Listener,
}

impl Journal {
    /// Journals below a folder; a file is made with the first step.
    pub fn new(folder: &Path, host: &str, listener: Listener) -> Self {
        Self { host: host.to_owned(), path: folder.join(format!("{host}.jsonl")), file: None, listener }
    }

    /// The last step that an earlier run came to on a host and did not finish.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn unfinished(folder: &Path, host: &str) -> Result<Option<Event>, Error> {
        let path = folder.join(format!("{host}.jsonl"));
        let file = match fs_err::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::file("read", path, error)),
        };
        // A line that was cut off is one that nobody relies on.
        let lines = BufReader::new(file).lines().take(LINES).map_while(Result::ok);
        let last = lines.filter_map(|line| serde_json::from_str::<Event>(&line).ok()).last();
        Ok(last.filter(|event| event.state != State::Finished))
    }

    /// A step begins.
    ///
    /// # Errors
    /// When it cannot be written: then the step is not done.
    pub fn begin(&mut self, step: usize, of: usize, name: &str) -> Result<(), Error> {
        self.write(step, of, name, State::Begun, None)
    }

    /// A step ended.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end(&mut self, step: usize, of: usize, name: &str, why: Option<&str>) -> Result<(), Error> {
        let state = if why.is_some() { State::Failed } else { State::Done };
        self.write(step, of, name, state, why)
    }

    /// Everything is done.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.write(0, 0, "all", State::Finished, None)
    }

    fn write(
        &mut self,
        step: usize,
        of: usize,
        name: &str,
        state: State,
        why: Option<&str>,
    ) -> Result<(), Error> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let (host, name, why) = (self.host.clone(), name.to_owned(), why.map(str::to_owned));
        let event = Event { host, step, of, name, state, why, time };
        let failed = |source| Error::file("write", &self.path, source);
        let mut line = serde_json::to_vec(&event).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(open(&self.path).map_err(failed)?),
        };
        file.write_all(&line).and_then(|()| file.sync_data()).map_err(failed)?;
        (self.listener)(&event);
        Ok(())
    }
}

fn open(path: &Path) -> std::io::Result<fs_err::File> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    // That of the run before has served.
    options.write(true).create(true).truncate(true).mode(0o600);
    Ok(fs_err::File::from_parts(options.open(path)?, path))
}
