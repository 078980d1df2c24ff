//! How much history is kept.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::storage::{Error, Revision};

use super::super::{Options, database::Database, tables};

/// Marks in the time that history is kept; it may be kept longer by one part.
const PARTS: u32 = 10;
/// Writes that are forgotten with one commit.
const AT_ONCE: u64 = 10_000;

/// Remembers when writes took place. What was written before the process began counts as written then.
#[derive(Debug)]
pub(super) struct Retention {
    keep: Duration,
    keep_events: u64,
    /// The last write at a time, oldest first.
    marks: VecDeque<(Instant, Revision)>,
    compacted: Revision,
}

impl Retention {
    pub(super) fn new(options: &Options, current: Revision) -> Self {
        let marks = VecDeque::from([(Instant::now(), current)]);
        Self { keep: options.history, keep_events: options.history_events, marks, compacted: Revision(0) }
    }

    /// Takes note of a write.
    pub(super) fn written(&mut self, revision: Revision) {
        let part = self.keep / PARTS;
        match self.marks.back_mut() {
            Some((since, last)) if since.elapsed() < part => *last = revision,
            _ => self.marks.push_back((Instant::now(), revision)),
        }
    }

    /// When to ask again.
    pub(super) fn next(&self) -> Option<Instant> {
        // The first mark is due when its whole part is old enough.
        self.marks.front().map(|(since, _)| *since + self.keep + self.keep / PARTS)
    }

    /// Up to where history can go.
    pub(super) fn due(&mut self, current: Revision) -> Option<Revision> {
        let mut due = Revision(current.0.saturating_sub(self.keep_events));
        // In large steps: each one is a commit.
        if due.0 < self.compacted.0 + self.keep_events.div_ceil(10) {
            due = self.compacted;
        }
        while let Some(mark) = self.next().filter(|next| *next <= Instant::now()).and(self.marks.pop_front())
        {
            due = due.max(mark.1);
        }
        (due > self.compacted).then(|| {
            self.compacted = due;
            due
        })
    }
}

/// Forgets what was before `revision`.
pub(super) fn compact(database: &Database, revision: Revision) -> Result<(), Error> {
    loop {
        match step(database, revision) {
            Ok(Step::Done) => return Ok(()),
            Ok(Step::More) => {}
            Ok(Step::Ahead(current)) => return Err(Error::Ahead { requested: revision, current }),
            Err(reason) => {
                let (file, reason) = (database.file().to_owned(), reason.to_string());
                return Err(Error::OutcomeUnknown { file, reason });
            }
        }
    }
}

enum Step {
    Done,
    More,
    Ahead(Revision),
}

fn step(database: &Database, revision: Revision) -> Result<Step, redb::Error> {
    use redb::ReadableTable as _;
    let transaction = database.write()?;
    let up_to = {
        let mut meta = transaction.open_table(tables::META)?;
        let number = |name| meta.get(name).map(|number| number.map_or(0, |number| number.value()));
        let (compacted, current) = (number(tables::COMPACTED)?, number(tables::REVISION)?);
        if revision.0 > current {
            return Ok(Step::Ahead(Revision(current)));
        }
        if revision.0 <= compacted {
            return Ok(Step::Done);
        }
        let up_to = revision.0.min(compacted + AT_ONCE);
        transaction.open_table(tables::HISTORY)?.retain_in(..=up_to, |_, _| false)?;
        meta.insert(tables::COMPACTED, up_to)?;
        up_to
    };
    transaction.commit()?;
    Ok(if up_to == revision.0 { Step::Done } else { Step::More })
}
