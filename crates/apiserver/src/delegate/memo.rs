//! A bounded memory of answers, with one question under the same key at a time.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::{BoxFuture, FutureExt as _, Shared};
use tokio::time::Instant;

/// SHA-256 of what is asked; the question itself is not kept.
pub(super) type Key = [u8; 32];

/// Answers remembered. With two generations of them, of which the older goes when the newer is full.
const CAPACITY: usize = 4096;
/// Questions on their way.
const MAX_ASKED: usize = 128;

/// Answers, each for its own time.
pub(super) struct Memo<V: Clone> {
    state: Arc<Mutex<State<V>>>,
}

struct State<V: Clone> {
    newer: HashMap<Key, (V, Instant)>,
    older: HashMap<Key, (V, Instant)>,
    asked: HashMap<Key, Shared<BoxFuture<'static, Option<V>>>>,
}

impl<V: Clone + Send + Sync + 'static> Memo<V> {
    pub(super) fn new() -> Self {
        let state = State { newer: HashMap::new(), older: HashMap::new(), asked: HashMap::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// What is known, or else what comes of `work`, with the time for which it is good. None when too many
    /// questions are on their way, or the work was given up.
    pub(super) async fn get_or(
        &self,
        key: Key,
        work: impl Future<Output = (V, Duration)> + Send + 'static,
    ) -> Option<V> {
        let answer = {
            let mut state = lock(&self.state);
            if let Some(known) = state.find(&key, Instant::now()) {
                return Some(known);
            }
            match state.asked.get(&key) {
                Some(asked) => asked.clone(),
                None if state.asked.len() >= MAX_ASKED => return None,
                None => {
                    let asked = self.ask(key, work);
                    state.asked.insert(key, asked.clone());
                    asked
                }
            }
        };
        answer.await
    }

    /// A task of its own: it goes on when whoever asked first has left.
    fn ask(
        &self,
        key: Key,
        work: impl Future<Output = (V, Duration)> + Send + 'static,
    ) -> Shared<BoxFuture<'static, Option<V>>> {
        let done = Done { state: Arc::clone(&self.state), key };
        let task = tokio::spawn(async move {
            let (value, keep) = work.await;
            lock(&done.state).insert(key, value.clone(), keep);
            drop(done);
            value
        });
        task.map(Result::ok).boxed().shared()
    }
}

/// Forgets that something was asked, also when the work has panicked.
struct Done<V: Clone> {
    state: Arc<Mutex<State<V>>>,
    key: Key,
}

impl<V: Clone> Drop for Done<V> {
    fn drop(&mut self) {
        lock(&self.state).asked.remove(&self.key);
    }
}

impl<V: Clone> State<V> {
    fn find(&mut self, key: &Key, now: Instant) -> Option<V> {
        if let Some((value, until)) = self.newer.get(key) {
            return (*until > now).then(|| value.clone());
        }
        let (value, until) = self.older.remove(key).filter(|(_, until)| *until > now)?;
        self.newer.insert(*key, (value.clone(), until));
        Some(value)
    }

    fn insert(&mut self, key: Key, value: V, keep: Duration) {
        if keep.is_zero() {
            return;
        }
        if self.newer.len() >= CAPACITY / 2 {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(key, (value, Instant::now() + keep));
    }
}

/// The state is whole after each statement, so a panic elsewhere does not spoil it.
fn lock<V: Clone>(state: &Mutex<State<V>>) -> MutexGuard<'_, State<V>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
