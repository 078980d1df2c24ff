//! Writes that share one commit.

use redb::{ReadableTable as _, Table, WriteTransaction};
use tokio::sync::oneshot;

use crate::storage::{Conflict, Error, Event, Expected, Item, Revision, Write};

use super::super::{database::Database, history, record::Record, tables};
use super::expiry;

type Reply = oneshot::Sender<Result<Revision, Error>>;

/// A write that somebody may be waiting for.
pub(super) struct Pending {
    pub(super) write: Write,
    pub(super) reply: Option<Reply>,
}

/// What is ready to be committed.
pub(super) struct Batch {
    transaction: WriteTransaction,
    events: Vec<Event>,
    answers: Answers,
    /// When the first of what was written expires.
    expiry: Option<u64>,
    /// Whether the file changes at all.
    changes: bool,
}

/// What is said when all is done.
pub(super) struct Answers(Vec<(Option<Reply>, Result<Revision, Error>)>);

/// A batch that failed.
pub(super) struct Failed {
    pub(super) reason: redb::Error,
    committing: bool,
    replies: Vec<Reply>,
}

struct Tables<'t> {
    objects: Table<'t, &'static str, &'static [u8]>,
    history: Table<'t, u64, &'static [u8]>,
    expiries: Table<'t, (u64, &'static str), u64>,
    meta: Table<'t, &'static str, u64>,
}

impl Batch {
    /// Compares and swaps, one after the other; nothing is on disk yet.
    pub(super) fn apply(database: &Database, writes: Vec<Pending>) -> Result<Self, Failed> {
        let mut batch = match database.write() {
            Ok(transaction) => Self {
                transaction,
                events: Vec::new(),
                answers: Answers(Vec::with_capacity(writes.len())),
                expiry: None,
                changes: false,
            },
            Err(reason) => {
                let replies = writes.into_iter().filter_map(|pending| pending.reply).collect();
                return Err(Failed { reason, committing: false, replies });
            }
        };
        let mut writes = writes.into_iter();
        match batch.apply_all(database, &mut writes) {
            Ok(()) => Ok(batch),
            Err(reason) => {
                let mut replies = batch.answers.replies();
                replies.extend(writes.filter_map(|pending| pending.reply));
                Err(Failed { reason, committing: false, replies })
            }
        }
    }

    fn apply_all(
        &mut self,
        database: &Database,
        writes: &mut impl Iterator<Item = Pending>,
    ) -> Result<(), redb::Error> {
        let mut tables = Tables {
            objects: self.transaction.open_table(tables::OBJECTS)?,
            history: self.transaction.open_table(tables::HISTORY)?,
            expiries: self.transaction.open_table(tables::EXPIRIES)?,
            meta: self.transaction.open_table(tables::META)?,
        };
        let mut revision = tables.meta.get(tables::REVISION)?.map_or(0, |number| number.value());
        for Pending { write, reply } in writes {
            // Whatever happens below, whoever asked gets an answer.
            self.answers.0.push((reply, Ok(Revision(revision))));
            let outcome = match tables.apply(database, write, Revision(revision + 1))? {
                Outcome::Written { event, expiry } => {
                    revision += 1;
                    self.changes = true;
                    self.expiry = self.expiry.into_iter().chain(expiry).min();
                    self.events.push(event);
                    Ok(Revision(revision))
                }
                Outcome::NothingToDo => Ok(Revision(revision)),
                Outcome::Refused(error) => Err(error),
            };
            if let Some(last) = self.answers.0.last_mut() {
                last.1 = outcome;
            }
        }
        if self.changes {
            tables.meta.insert(tables::REVISION, revision)?;
        }
        Ok(())
    }

    /// Puts it on disk. Only then may anybody know of it.
    pub(super) fn commit(self) -> Result<(Vec<Event>, Answers, Option<u64>), Failed> {
        let outcome = match self.changes {
            true => self.transaction.commit().map_err(redb::Error::from),
            false => self.transaction.abort().map_err(redb::Error::from),
        };
        match outcome {
            Ok(()) => Ok((self.events, self.answers, self.expiry)),
            Err(reason) => Err(Failed { reason, committing: true, replies: self.answers.replies() }),
        }
    }
}

enum Outcome {
    Written {
        event: Event,
        expiry: Option<u64>,
    },
    /// A delete of what is not there, and should not be.
    NothingToDo,
    Refused(Error),
}

impl Tables<'_> {
    fn apply(
        &mut self,
        database: &Database,
        write: Write,
        revision: Revision,
    ) -> Result<Outcome, redb::Error> {
        let key = write.key.as_str();
        let previous = match self.objects.get(key)? {
            None => None,
            Some(bytes) => match Record::decode(bytes.value()) {
                Some((record, _)) => Some(record),
                None => {
                    // One object that is lost is no reason to refuse the others.
                    let reason = format!("what is stored under {key} cannot be read");
                    return Ok(Outcome::Refused(database.damaged(reason)));
                }
            },
        };
        let current = previous.as_ref().map(|record| record.revision);
        match (write.expected, current) {
            (Expected::Absent, None) if write.value.is_none() => return Ok(Outcome::NothingToDo),
            (Expected::Absent, None) => {}
            (Expected::At(expected), Some(current)) if expected == current => {}
            _ => {
                let current = previous.and_then(Record::item);
                return Ok(Outcome::Refused(Conflict { key: write.key, current }.into()));
            }
        }
        let record = Record { key: write.key, revision, value: write.value };
        self.history.insert(revision.0, history::encode(&record, previous.as_ref()).as_slice())?;
        let expiry = match record.value {
            None => {
                self.objects.remove(record.key.as_str())?;
                None
            }
            Some(_) => {
                self.objects.insert(record.key.as_str(), record.to_bytes().as_slice())?;
                write.ttl.map(expiry::deadline)
            }
        };
        if let Some(due) = expiry {
            self.expiries.insert((due, record.key.as_str()), revision.0)?;
        }
        let previous: Option<Item> = previous.and_then(Record::item);
        Ok(Outcome::Written {
            event: Event { revision, key: record.key, value: record.value, previous },
            expiry,
        })
    }
}

impl Answers {
    /// Tells everybody.
    pub(super) fn send(self) {
        for (reply, outcome) in self.0 {
            if let Some(reply) = reply {
                // Whoever has gone away does not want to know.
                let _ = reply.send(outcome);
            }
        }
    }

    fn replies(self) -> Vec<Reply> {
        self.0.into_iter().filter_map(|(reply, _)| reply).collect()
    }
}

impl Failed {
    /// Tells everybody why.
    pub(super) fn answer(self, database: &Database) {
        for reply in self.replies {
            let (file, reason) = (database.file().to_owned(), self.reason.to_string());
            let _ = reply.send(Err(match &self.reason {
                redb::Error::Corrupted(reason) => database.damaged(reason.clone()),
                _ if self.committing => Error::OutcomeUnknown { file, reason },
                _ => Error::ReadOnly { file, reason },
            }));
        }
    }
}
