//! Objects over restarts: a file of JSON lines, one for each write, rewritten at every start.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Key, Stored};

/// One write; without a value, the object went.
#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) revision: u64,
    pub(super) key: Key,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<Value>,
}

/// The file, open for appending.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Length up to the last whole record.
    length: u64,
}

impl Journal {
    /// Opens or makes the file and reads what is in it. A last line without its end is dropped: the
    /// write it belonged to was never acknowledged. Any other line that cannot be read is an error.
    pub(super) fn open(path: &Path) -> io::Result<(Self, Vec<Record>)> {
        let file = File::options().read(true).append(true).create(true).open(path)?;
        let mut records = Vec::new();
        let mut reader = BufReader::new(&file);
        let mut length = 0;
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            let number = records.len() + 1;
            let record = serde_json::from_slice(&line).map_err(|error| {
                io::Error::new(io::ErrorKind::InvalidData, format!("{}:{number}: {error}", path.display()))
            })?;
            records.push(record);
            length += line.len() as u64;
            line.clear();
        }
        Ok((Self { path: path.to_owned(), file, length }, records))
    }

    /// Rewrites the file with what is left of it, atomically.
    pub(super) fn compact(self, revision: u64, notes: &BTreeMap<Key, Arc<Stored>>) -> io::Result<Self> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
        let mut length = 0;
        // The counter itself is kept by a deletion of an object that cannot exist.
        let counter = Record { revision, key: Key::default(), value: None };
        let objects = notes.iter().map(|(key, note)| Record {
            revision: note.revision,
            key: key.clone(),
            value: Some(note.value.clone()),
        });
        for record in objects.chain([counter]) {
            let line = line(&record)?;
            fresh.write_all(&line)?;
            length += line.len() as u64;
        }
        fresh.as_file().sync_all()?;
        fresh.persist(&self.path)?;
        let file = File::options().append(true).open(&self.path)?;
        Ok(Self { file, length, ..self })
    }

    /// Adds a record. On an error (a full disk) the half-written line is taken back.
    pub(super) fn append(&mut self, record: &Record) -> io::Result<()> {
        let line = line(record)?;
        match self.file.write_all(&line) {
            Ok(()) => {
                self.length += line.len() as u64;
                Ok(())
            }
            Err(error) => {
                self.file.set_len(self.length)?;
                Err(error)
            }
        }
    }
}

fn line(record: &Record) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    Ok(line)
}
