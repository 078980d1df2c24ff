//! Reading: one transaction, so that everything in an answer is of one moment.

use std::collections::BTreeMap;

use redb::{ReadOnlyTable, ReadTransaction};

use crate::storage::{Entry, Error, Item, Key, ListOptions, Page, Prefix, Read, Revision};

use super::{database::Database, history, record::Record, tables};

/// The last write.
pub(super) fn revision(database: &Database) -> Result<Revision, Error> {
    meta(database, &database.read()?, tables::REVISION)
}

/// One of the single numbers.
pub(super) fn meta(
    database: &Database,
    transaction: &ReadTransaction,
    name: &str,
) -> Result<Revision, Error> {
    let table = transaction.open_table(tables::META).map_err(|error| database.error(error.into()))?;
    let number = table.get(name).map_err(|error| database.error(error.into()))?;
    let number = number.ok_or_else(|| database.damaged(format!("it does not say its {name}")))?;
    Ok(Revision(number.value()))
}

/// What is stored under a key.
pub(super) fn get(database: &Database, key: &Key) -> Result<Read<Option<Item>>, Error> {
    let transaction = database.read()?;
    let revision = meta(database, &transaction, tables::REVISION)?;
    let bytes =
        objects(database, &transaction)?.get(key.as_str()).map_err(|error| database.error(error.into()))?;
    let content = bytes.map(|bytes| item(database, key.as_str(), bytes.value())).transpose()?;
    Ok(Read { content, revision })
}

/// What is stored below a prefix.
pub(super) fn list(database: &Database, prefix: &Prefix, options: &ListOptions) -> Result<Read<Page>, Error> {
    let transaction = database.read()?;
    let current = meta(database, &transaction, tables::REVISION)?;
    let at = options.at.unwrap_or(current);
    if at > current {
        return Err(Error::Ahead { requested: at, current });
    }
    let undone = match at == current {
        true => BTreeMap::new(),
        false => undo(database, &transaction, prefix, at)?,
    };
    let mut page = PageBuilder { page: Page::default(), limit: options.limit.unwrap_or(usize::MAX) };
    let after = options.after.as_ref().filter(|key| prefix.contains(key));
    let mut undone = undone.into_iter().filter(|(key, _)| after.is_none_or(|after| key > after)).peekable();
    for row in range(database, &objects(database, &transaction)?, prefix, after)? {
        let (key, bytes) = row.map_err(|error| database.error(error.into()))?;
        let key = key.value();
        while let Some((earlier, item)) = undone.next_if(|(other, _)| other.as_str() < key) {
            page.push_past(earlier, item);
        }
        match undone.next_if(|(other, _)| other.as_str() == key) {
            Some((key, item)) => page.push_past(key, item),
            None => page.push(|| present(database, key, bytes.value()))?,
        }
    }
    for (key, item) in undone {
        page.push_past(key, item);
    }
    Ok(Read { content: page.page, revision: at })
}

/// Takes entries in order; what is beyond the limit is only counted.
struct PageBuilder {
    page: Page,
    limit: usize,
}

impl PageBuilder {
    fn push(&mut self, entry: impl FnOnce() -> Result<Entry, Error>) -> Result<(), Error> {
        if self.page.entries.len() < self.limit {
            self.page.entries.push(entry()?);
        } else {
            self.page.remaining += 1;
        }
        Ok(())
    }

    /// What was there, if something was.
    fn push_past(&mut self, key: Key, item: Option<Item>) {
        let Some(item) = item else { return };
        if self.page.entries.len() < self.limit {
            self.page.entries.push(Entry { key, item });
        } else {
            self.page.remaining += 1;
        }
    }
}

/// What has changed since `at`, as it was then: one entry for each key, none where there was nothing.
fn undo(
    database: &Database,
    transaction: &ReadTransaction,
    prefix: &Prefix,
    at: Revision,
) -> Result<BTreeMap<Key, Option<Item>>, Error> {
    let oldest = meta(database, transaction, tables::COMPACTED)?;
    if at < oldest {
        return Err(Error::Compacted { requested: at, oldest });
    }
    let mut undone = BTreeMap::new();
    let table = history::table(database, transaction)?;
    for row in table.range(at.0 + 1..).map_err(|error| database.error(error.into()))? {
        let (revision, bytes) = row.map_err(|error| database.error(error.into()))?;
        let event = history::decode(database, revision.value(), bytes.value())?;
        if prefix.contains(&event.key) {
            // The first write after that moment says what was there before it.
            undone.entry(event.key).or_insert(event.previous);
        }
    }
    Ok(undone)
}

fn range<'t>(
    database: &Database,
    table: &'t ReadOnlyTable<&'static str, &'static [u8]>,
    prefix: &Prefix,
    after: Option<&Key>,
) -> Result<redb::Range<'t, &'static str, &'static [u8]>, Error> {
    // A prefix ends with '/', and '0' is the next byte.
    let end = format!("{}0", prefix.as_str().trim_end_matches('/'));
    let start = match after {
        // The least text that is greater.
        Some(key) => format!("{key}\0"),
        None => prefix.as_str().to_owned(),
    };
    table.range(start.as_str()..end.as_str()).map_err(|error| database.error(error.into()))
}

fn objects(
    database: &Database,
    transaction: &ReadTransaction,
) -> Result<ReadOnlyTable<&'static str, &'static [u8]>, Error> {
    transaction.open_table(tables::OBJECTS).map_err(|error| database.error(error.into()))
}

fn present(database: &Database, key: &str, bytes: &[u8]) -> Result<Entry, Error> {
    let item = item(database, key, bytes)?;
    let key = Key::parse(key).map_err(|error| database.damaged(error.to_string()))?;
    Ok(Entry { key, item })
}

/// What a row of the objects says.
pub(super) fn item(database: &Database, key: &str, bytes: &[u8]) -> Result<Item, Error> {
    let record = Record::decode(bytes).map(|(record, _)| record).filter(|record| record.key.as_str() == key);
    record
        .and_then(Record::item)
        .ok_or_else(|| database.damaged(format!("what is stored under {key} cannot be read")))
}
