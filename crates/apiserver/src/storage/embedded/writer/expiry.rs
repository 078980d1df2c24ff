//! Objects that go by themselves, such as events.

use std::time::{Duration, SystemTime};

use redb::{Durability, ReadableTable as _};

use crate::storage::{Error, Key, Revision, Write};

use super::super::{database::Database, tables};
use super::batch::Pending;

/// Objects that are removed with one commit.
const AT_ONCE: usize = 1000;

/// What is due.
pub(super) struct Due {
    pub(super) writes: Vec<Pending>,
    /// When more is due.
    pub(super) next: Option<u64>,
}

/// Seconds since 1970. The clock of the wall, because deadlines outlive the process.
pub(super) fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs())
}

/// When something that is written now is gone.
pub(super) fn deadline(ttl: Duration) -> u64 {
    now().saturating_add(ttl.as_secs().max(1))
}

/// When the first object expires.
pub(super) fn next(database: &Database) -> Result<Option<u64>, Error> {
    let transaction = database.read()?;
    let table = transaction.open_table(tables::EXPIRIES).map_err(|error| database.error(error.into()))?;
    let first = table.first().map_err(|error| database.error(error.into()))?;
    Ok(first.map(|(deadline, _)| deadline.value().0))
}

/// The deletes that are due. Deadlines of objects that were written again since are forgotten.
pub(super) fn due(database: &Database) -> Result<Due, Error> {
    let refused = |reason: redb::Error| Error::ReadOnly {
        file: database.file().to_owned(),
        reason: reason.to_string(),
    };
    let writes = take(database).map_err(refused)?;
    Ok(Due { next: next(database)?, writes })
}

fn take(database: &Database) -> Result<Vec<Pending>, redb::Error> {
    let mut transaction = database.write()?;
    transaction.set_durability(Durability::None)?;
    let mut rows = Vec::new();
    {
        let mut table = transaction.open_table(tables::EXPIRIES)?;
        while rows.len() < AT_ONCE {
            let first = table.first()?.map(|(deadline, revision)| {
                let (due, key) = deadline.value();
                (due, key.to_owned(), revision.value())
            });
            let Some((due, key, revision)) = first.filter(|(due, ..)| *due <= now()) else { break };
            table.remove((due, key.as_str()))?;
            rows.push((key, revision));
        }
    }
    // It reaches the disk together with the deletes, which are the next commit.
    transaction.commit()?;
    let delete = |(key, revision): (String, u64)| {
        let write = Write::delete(Key::parse(&key).ok()?, Revision(revision));
        Some(Pending { write, reply: None })
    };
    Ok(rows.into_iter().filter_map(delete).collect())
}
