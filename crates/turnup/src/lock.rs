//! One run at a time for a state folder.

use std::{
    io::{Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use crate::{Error, apply::Owner};

/// Largest lock file, in bytes.
const LIMIT: u64 = 4096;

/// Who has a state folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    /// Person and machine.
    pub owner: String,
    /// Process.
    pub pid: u32,
    /// Since when, in seconds since 1970.
    pub since: u64,
}

/// Held as long as it lives. The system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub struct StateLock {
    _file: std::fs::File,
}

impl StateLock {
    /// Takes the folder; or says who has it.
    ///
    /// # Errors
    /// When the folder cannot be used.
    pub fn take(state: &Path, owner: &Owner) -> Result<Result<Self, Holder>, Error> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let path = state.join("lock");
        let failed = |source| Error::file("lock", &path, source);
        let mut options = std::fs::OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                let mut text = String::new();
                let _ = file.take(LIMIT).read_to_string(&mut text);
                let unknown = Holder { owner: "somebody".to_owned(), pid: 0, since: now() };
                return Ok(Err(serde_json::from_str(&text).unwrap_or(unknown)));
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
        let holder = Holder { owner: owner.name.clone(), pid: std::process::id(), since: now() };
        let text = serde_json::to_vec(&holder).map_err(|error| failed(error.into()))?;
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(&text)).map_err(failed)?;
        Ok(Ok(Self { _file: file }))
    }
}

impl Holder {
    /// For how long, in seconds.
    pub fn age(&self) -> u64 {
        now().saturating_sub(self.since)
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

impl Owner {
    /// The owner of a state folder: its id is made with it. `name` is a person and a machine.
    ///
    /// # Errors
    /// When the folder cannot be used.
    pub fn of(state: &Path, name: &str) -> Result<Self, Error> {
        let path = state.join("id");
        let name: String = name.chars().filter(char::is_ascii_graphic).take(100).collect();
        let id = match fs_err::read_to_string(&path) {
            Ok(id) if id.trim().len() == 16 && id.trim().bytes().all(|b| b.is_ascii_hexdigit()) => {
                id.trim().to_owned()
            }
            _ => make(&path)?,
        };
        Ok(Self { id, name })
    }
}

fn make(path: &PathBuf) -> Result<String, Error> {
    let failed = |source| Error::file("write", path, source);
    let mut bytes = [0; 8];
    let random = fs_err::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    random.map_err(failed)?;
    let id = crate::wanted::sha256(&bytes)[..16].to_owned();
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(id.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(id)
}
