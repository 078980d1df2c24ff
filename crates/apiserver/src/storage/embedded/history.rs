//! Events as they lie in the file.

use redb::{ReadOnlyTable, ReadTransaction};

use crate::storage::{Error, Event, Prefix, Revision};

use super::{database::Database, read, record::Record, tables};

/// A piece of history.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) events: Vec<Event>,
    /// Nothing was left out up to this write.
    pub(super) up_to: Revision,
}

/// The bytes of one event.
pub(super) fn encode(written: &Record, previous: Option<&Record>) -> Vec<u8> {
    let mut out = written.to_bytes();
    if let Some(previous) = previous {
        previous.encode(&mut out);
    }
    out
}

/// The event in these bytes.
pub(super) fn decode(database: &Database, revision: u64, bytes: &[u8]) -> Result<Event, Error> {
    let broken = || database.damaged(format!("the history of revision {revision} cannot be read"));
    let (written, len) = Record::decode(bytes).ok_or_else(broken)?;
    let previous = match &bytes[len..] {
        [] => None,
        rest => Record::decode(rest).ok_or_else(broken)?.0.item(),
    };
    Ok(Event { revision: written.revision, key: written.key, value: written.value, previous })
}

/// At most `max` events below `prefix` (none: all) after this one.
pub(super) fn after(
    database: &Database,
    prefix: Option<&Prefix>,
    after: Revision,
    max: usize,
) -> Result<Chunk, Error> {
    let transaction = database.read()?;
    let current = read::meta(database, &transaction, tables::REVISION)?;
    let oldest = read::meta(database, &transaction, tables::COMPACTED)?;
    if after < oldest {
        return Err(Error::Compacted { requested: after, oldest });
    }
    let mut events = Vec::new();
    for row in table(database, &transaction)?.range(after.0 + 1..).map_err(|e| database.error(e.into()))? {
        let (revision, bytes) = row.map_err(|error| database.error(error.into()))?;
        let event = decode(database, revision.value(), bytes.value())?;
        if prefix.is_some_and(|prefix| !prefix.contains(&event.key)) {
            continue;
        }
        events.push(event);
        if events.len() == max {
            return Ok(Chunk { up_to: Revision(revision.value()), events });
        }
    }
    Ok(Chunk { events, up_to: current.max(after) })
}

/// The table itself.
pub(super) fn table(
    database: &Database,
    transaction: &ReadTransaction,
) -> Result<ReadOnlyTable<u64, &'static [u8]>, Error> {
    transaction.open_table(tables::HISTORY).map_err(|error| database.error(error.into()))
}
