//! A bounded memory of answers that are expensive to get, with one question per key at a time.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures_util::{FutureExt, future::Shared};
use tokio::sync::oneshot;

/// A key: the SHA-256 of whatever is asked. What was asked is not kept.
pub(crate) type Key = [u8; 32];

/// Answers by key, each for its own time.
///
/// Bounded without bookkeeping per use: two shelves, and when the newer is full the older is thrown
/// away. An entry that is used moves to the newer shelf.
#[derive(Debug)]
pub(crate) struct Memo<V: Clone> {
    shelves: Arc<Mutex<Shelves<V>>>,
}

#[derive(Debug)]
struct Shelves<V: Clone> {
    newer: HashMap<Key, Known<V>>,
    older: HashMap<Key, Known<V>>,
    pending: HashMap<Key, Shared<oneshot::Receiver<V>>>,
    capacity: usize,
    max_pending: usize,
}

#[derive(Clone, Debug)]
struct Known<V> {
    value: V,
    until: Instant,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// As many questions are on their way as may be.
    Busy,
    /// The work ended without one.
    Lost,
}

impl<V: Clone + Send + Sync + 'static> Memo<V> {
    /// At most `capacity` answers, and `max_pending` questions on their way.
    pub(crate) fn new(capacity: usize, max_pending: usize) -> Self {
        let shelves = Shelves {
            newer: HashMap::new(),
            older: HashMap::new(),
            pending: HashMap::new(),
            capacity: capacity.max(2),
            max_pending,
        };
        Self { shelves: Arc::new(Mutex::new(shelves)) }
    }

    /// The answer when it is known and still good.
    pub(crate) fn known(&self, key: &Key) -> Option<V> {
        lock(&self.shelves).find(key, Instant::now())
    }

    /// Remembers `value` for `keep`.
    pub(crate) fn remember(&self, key: Key, value: V, keep: Duration) {
        lock(&self.shelves).insert(key, Known { value, until: Instant::now() + keep });
    }

    /// The known answer, else that of `work`, which says for how long it is good. However many ask at
    /// the same time, the work is done once, and goes on when the first who asked has left.
    ///
    /// # Errors
    /// See [`NoAnswer`].
    pub(crate) async fn get_or<W>(&self, key: Key, work: W) -> Result<V, NoAnswer>
    where
        W: Future<Output = (V, Duration)> + Send + 'static,
    {
        let answer = {
            let mut shelves = lock(&self.shelves);
            if let Some(value) = shelves.find(&key, Instant::now()) {
                return Ok(value);
            }
            match shelves.pending.get(&key) {
                Some(pending) => pending.clone(),
                None if shelves.pending.len() >= shelves.max_pending => return Err(NoAnswer::Busy),
                None => {
                    let (tell, answer) = oneshot::channel();
                    let answer = answer.shared();
                    shelves.pending.insert(key, answer.clone());
                    tokio::spawn(Self::ask(self.shelves.clone(), key, work, tell));
                    answer
                }
            }
        };
        answer.await.map_err(|_| NoAnswer::Lost)
    }

    async fn ask<W>(shelves: Arc<Mutex<Shelves<V>>>, key: Key, work: W, tell: oneshot::Sender<V>)
    where
        W: Future<Output = (V, Duration)> + Send + 'static,
    {
        // Forgets the question also when the work panics, so that the next caller asks again.
        let mut asked = Asked { shelves, key, answer: None };
        let (value, keep) = work.await;
        // What is not kept must not push out what is.
        asked.answer =
            (!keep.is_zero()).then(|| Known { value: value.clone(), until: Instant::now() + keep });
        drop(asked);
        let _ = tell.send(value);
    }
}

struct Asked<V: Clone> {
    shelves: Arc<Mutex<Shelves<V>>>,
    key: Key,
    answer: Option<Known<V>>,
}

impl<V: Clone> Drop for Asked<V> {
    fn drop(&mut self) {
        let mut shelves = lock(&self.shelves);
        shelves.pending.remove(&self.key);
        if let Some(known) = self.answer.take() {
            shelves.insert(self.key, known);
        }
    }
}

impl<V: Clone> Shelves<V> {
    fn find(&mut self, key: &Key, now: Instant) -> Option<V> {
        if let Some(known) = self.newer.get(key) {
            return (known.until > now).then(|| known.value.clone());
        }
        let known = self.older.remove(key).filter(|known| known.until > now)?;
        let value = known.value.clone();
        self.insert(*key, known);
        Some(value)
    }

    fn insert(&mut self, key: Key, known: Known<V>) {
        if self.newer.len() >= self.capacity / 2 {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(key, known);
    }
}

/// The state is whole after every statement, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
