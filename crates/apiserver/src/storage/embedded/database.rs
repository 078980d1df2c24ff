//! The open file, and how it is opened again after the disk has failed.

use std::{
    fmt, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock, RwLockReadGuard},
};

use redb::{
    Builder, DatabaseError, ReadTransaction, ReadableDatabase as _, StorageBackend, StorageError,
    WriteTransaction, backends::FileBackend,
};

use crate::storage::Error;

use super::tables;

type OpenBackend = Box<dyn Fn() -> io::Result<Box<dyn StorageBackend>> + Send + Sync>;

/// Where the bytes are.
pub(super) enum Medium {
    File(PathBuf),
    /// Something with this name.
    Other(PathBuf, OpenBackend),
}

/// An open database.
#[derive(Debug)]
pub(super) struct Database {
    medium: Medium,
    cache: usize,
    state: RwLock<State>,
}

#[derive(Debug)]
enum State {
    Open(redb::Database),
    /// The disk has failed and said this when it was opened again.
    Failed(String),
    Closed,
}

impl Database {
    pub(super) fn open(medium: Medium, cache: usize) -> Result<Self, Error> {
        let state = RwLock::new(State::Open(medium.open(cache)?));
        Ok(Self { medium, cache, state })
    }

    /// The state of the last commit.
    pub(super) fn read(&self) -> Result<ReadTransaction, Error> {
        match &*self.state() {
            State::Open(database) => database.begin_read().map_err(|error| self.error(error.into())),
            State::Failed(reason) => Err(self.failed(reason.clone())),
            State::Closed => Err(Error::Closed),
        }
    }

    /// The next commit. Only the writer's thread may ask: there can be one at a time.
    pub(super) fn write(&self) -> Result<WriteTransaction, redb::Error> {
        match &*self.state() {
            State::Open(database) => Ok(database.begin_write()?),
            State::Failed(reason) => Err(io::Error::other(reason.clone()).into()),
            State::Closed => Err(redb::Error::DatabaseClosed),
        }
    }

    /// Opens it anew: after an error redb takes nothing more.
    pub(super) fn reopen(&self) -> Result<(), Error> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        // The old one holds the lock of the file.
        *state = State::Closed;
        match self.medium.open(self.cache) {
            Ok(database) => *state = State::Open(database),
            Err(error) => {
                *state = State::Failed(error.to_string());
                return Err(error);
            }
        }
        Ok(())
    }

    /// Ends it; the file is left so that opening it needs no repair.
    pub(super) fn close(&self) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = State::Closed;
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file, for messages.
    pub(super) fn file(&self) -> &Path {
        self.medium.name()
    }

    /// An error of reading.
    pub(super) fn error(&self, error: redb::Error) -> Error {
        match error {
            redb::Error::Corrupted(reason) => self.damaged(reason),
            other => self.failed(other.to_string()),
        }
    }

    /// What was read is not what was written.
    pub(super) fn damaged(&self, reason: impl Into<String>) -> Error {
        Error::Damaged { file: self.file().to_owned(), reason: reason.into() }
    }

    fn failed(&self, reason: String) -> Error {
        Error::Open { file: self.file().to_owned(), reason }
    }
}

impl Medium {
    pub(super) fn name(&self) -> &Path {
        match self {
            Self::File(path) | Self::Other(path, _) => path,
        }
    }

    fn open(&self, cache: usize) -> Result<redb::Database, Error> {
        let attempt = AssertUnwindSafe(|| {
            let mut builder = Builder::new();
            // Reads the file once: damage is found now, not by a request in the night.
            builder.set_cache_size(cache).set_check_integrity_on_open(true);
            let database = match self {
                Self::File(path) => {
                    make(path)?;
                    builder.create_with_backend(FileBackend::new(private(path)?)?)?
                }
                Self::Other(_, open) => builder.create_with_backend(Boxed(open()?))?,
            };
            tables::prepare(&database)?;
            Ok(database)
        });
        // redb panics on some kinds of damage.
        let outcome = catch_unwind(attempt).unwrap_or_else(|_| {
            Err(DatabaseError::Storage(StorageError::Corrupted("a page makes no sense".into())))
        });
        outcome.map_err(|error| self.error(error))
    }

    fn error(&self, error: DatabaseError) -> Error {
        let file = self.name().to_owned();
        match error {
            DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => {
                Error::Open { file, reason: "another process has it open; stop that one first".to_owned() }
            }
            DatabaseError::Storage(StorageError::Corrupted(reason)) => Error::Damaged { file, reason },
            DatabaseError::Storage(StorageError::Io(error)) if is_damage(&error) => {
                Error::Damaged { file, reason: error.to_string() }
            }
            other => Error::Open { file, reason: other.to_string() },
        }
    }
}

/// What redb says of a file that is too short or begins with something else.
fn is_damage(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
}

/// Makes the file when it is not there. It gets its name when it is whole, so that a crash meanwhile leaves
/// nothing that cannot be opened.
fn make(path: &Path) -> Result<(), DatabaseError> {
    if path.exists() {
        return Ok(());
    }
    let unfinished = path.with_added_extension("new");
    match fs_err::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let database = Builder::new().create_with_backend(FileBackend::new(private(&unfinished)?)?)?;
    tables::prepare(&database)?;
    drop(database);
    fs_err::rename(&unfinished, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok(fs_err::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?)
}

fn private(path: &Path) -> io::Result<std::fs::File> {
    use fs_err::os::unix::fs::OpenOptionsExt as _;
    let mut options = fs_err::OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    Ok(file.into_parts().0)
}

impl fmt::Debug for Medium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().fmt(f)
    }
}

/// redb wants to know the type of what it stands on.
#[derive(Debug)]
struct Boxed(Box<dyn StorageBackend>);

impl StorageBackend for Boxed {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
}
