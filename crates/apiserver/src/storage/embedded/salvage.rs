//! What can still be had out of a damaged file.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use crate::storage::{Error, Key, Revision};

use super::{
    Options,
    database::{Database, Medium},
    record::{MAGIC, Record},
    tables,
};

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvaged {
    /// Objects in the new file.
    pub objects: usize,
    /// Places in the old file that begin like an object and are not whole.
    pub broken: usize,
    /// The latest write that was found. One that came later may be lost.
    pub revision: Revision,
}

/// Writes every whole object found in `damaged` to a new store in `to`. The damaged file is only read, and
/// as a whole, so that it has to fit into memory.
///
/// Objects carry their own checksum, so nothing comes out changed. But where a delete is no longer in the
/// history, an object that was deleted can be found in space that is not yet used again, and comes back.
/// Objects that expire no longer do.
///
/// # Errors
/// [`Error::Open`] when one of the files cannot be opened, or `to` exists.
pub fn salvage(damaged: &Path, to: &Path) -> Result<Salvaged, Error> {
    let open = |file: &Path, reason: String| Error::Open { file: PathBuf::from(file), reason };
    let bytes = fs_err::read(damaged).map_err(|error| open(damaged, error.to_string()))?;
    if to.exists() {
        return Err(open(to, "it exists; name a file that does not".to_owned()));
    }
    let (latest, broken) = find(&bytes);
    drop(bytes);
    let revision = latest.values().map(|record| record.revision).max().unwrap_or_default();
    let database = Database::open(Medium::File(to.to_owned()), Options::default().cache)?;
    let objects = fill(&database, latest, revision).map_err(|error| database.error(error))?;
    Ok(Salvaged { objects, broken, revision })
}

/// The latest record of each key.
fn find(bytes: &[u8]) -> (HashMap<Key, Record>, usize) {
    let mut latest = HashMap::<Key, Record>::new();
    let (mut at, mut broken) = (0, 0);
    while let Some(offset) = position(&bytes[at..]) {
        at += offset;
        let Some((record, len)) = Record::decode(&bytes[at..]) else {
            broken += 1;
            at += MAGIC.len();
            continue;
        };
        at += len;
        match latest.get(&record.key) {
            Some(known) if known.revision >= record.revision => {}
            _ => drop(latest.insert(record.key.clone(), record)),
        }
    }
    (latest, broken)
}

fn position(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let found = from + bytes.get(from..)?.iter().position(|byte| *byte == MAGIC[0])?;
        if bytes[found..].starts_with(MAGIC) {
            return Some(found);
        }
        from = found + 1;
    }
}

fn fill(database: &Database, latest: HashMap<Key, Record>, revision: Revision) -> Result<usize, redb::Error> {
    let transaction = database.write()?;
    let mut count = 0;
    {
        let mut objects = transaction.open_table(tables::OBJECTS)?;
        for record in latest.into_values().filter(|record| record.value.is_some()) {
            objects.insert(record.key.as_str(), record.to_bytes().as_slice())?;
            count += 1;
        }
        let mut meta = transaction.open_table(tables::META)?;
        meta.insert(tables::REVISION, revision.0)?;
        meta.insert(tables::COMPACTED, revision.0)?;
    }
    transaction.commit()?;
    Ok(count)
}
