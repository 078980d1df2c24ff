//! What is in the file.

use redb::{Database, DatabaseError, ReadableTable as _, StorageError, TableDefinition};

/// The present objects: key to record.
pub(super) const OBJECTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("objects");
/// Writes that can still be listed and watched: revision to the record that was written, followed by the
/// one that was there before, if any.
pub(super) const HISTORY: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("history");
/// Objects that expire: when (seconds since 1970) and key, to the revision that is meant.
pub(super) const EXPIRIES: TableDefinition<'_, (u64, &str), u64> = TableDefinition::new("expiries");
/// Single numbers.
pub(super) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// The last write.
pub(super) const REVISION: &str = "revision";
/// History begins after this write.
pub(super) const COMPACTED: &str = "compacted";
/// Which layout this is.
const FORMAT: &str = "format";
const CURRENT_FORMAT: u64 = 1;

/// Makes the tables of a new file; refuses a file of a layout that is not known.
pub(super) fn prepare(database: &Database) -> Result<(), DatabaseError> {
    let storage = |error: redb::Error| match error {
        redb::Error::Corrupted(reason) => DatabaseError::Storage(StorageError::Corrupted(reason)),
        other => DatabaseError::Storage(StorageError::Io(std::io::Error::other(other.to_string()))),
    };
    let transaction = database.begin_write().map_err(|error| storage(error.into()))?;
    let known = {
        let mut meta = transaction.open_table(META).map_err(|error| storage(error.into()))?;
        let known = meta.get(FORMAT)?.map(|format| format.value());
        if known.is_none() {
            meta.insert(FORMAT, CURRENT_FORMAT)?;
            meta.insert(REVISION, 0)?;
            meta.insert(COMPACTED, 0)?;
        }
        transaction.open_table(OBJECTS).map_err(|error| storage(error.into()))?;
        transaction.open_table(HISTORY).map_err(|error| storage(error.into()))?;
        transaction.open_table(EXPIRIES).map_err(|error| storage(error.into()))?;
        known
    };
    match known {
        None => transaction.commit().map_err(|error| storage(error.into())),
        Some(CURRENT_FORMAT) => transaction.abort().map_err(DatabaseError::Storage),
        Some(other) => {
            let reason = format!("it has layout {other}, this version knows {CURRENT_FORMAT}");
            Err(DatabaseError::Storage(StorageError::Io(std::io::Error::other(reason))))
        }
    }
}
