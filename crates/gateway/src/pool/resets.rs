//! Requests that are given up before their answer, on a connection that others share.
//!
//! Each of them costs its backend a reset, and one that gets many resets in a row for requests it has not
//! even looked at yet takes the whole connection for an attack and closes it: then a client that leaves
//! with a hundred requests on their way takes everybody else's with it. So only some are reset at once,
//! and others one after another; those that are answered meanwhile need none.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    runtime::Handle,
    time::{Instant, sleep},
};

/// So many are reset at once. Servers begin to worry at about twenty.
const BURST: u32 = 8;
/// After that, one in this time.
const INTERVAL: Duration = Duration::from_millis(25);

/// A request that nobody waits for any more. To drop it is to reset its stream.
pub(super) trait Abandoned: Send + 'static {
    /// Whether its answer is there, or none can come, so that dropping it resets nothing that is unanswered.
    fn is_over(&mut self) -> bool;
}

/// The abandoned requests of one connection.
pub(super) struct Resets<T>(Arc<Mutex<State<T>>>);

struct State<T> {
    /// Resets that may be sent at once.
    allowance: u32,
    counted: Instant,
    queue: VecDeque<T>,
    /// A task empties the queue.
    emptied: bool,
}

impl<T: Abandoned> Resets<T> {
    pub(super) fn new() -> Self {
        let state =
            State { allowance: BURST, counted: Instant::now(), queue: VecDeque::new(), emptied: false };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Drops the request, now or when its turn comes.
    pub(super) fn give_up(&self, request: T) {
        let mut state = lock(&self.0);
        let at_once = state.queue.is_empty() && state.take_allowance();
        // Without a runtime this process ends, and the connection with it.
        let (false, Ok(runtime)) = (at_once, Handle::try_current()) else {
            drop(state);
            return;
        };
        state.queue.push_back(request);
        if !std::mem::replace(&mut state.emptied, true) {
            runtime.spawn(empty(self.0.clone()));
        }
    }
}

impl<T> State<T> {
    fn take_allowance(&mut self) -> bool {
        let earned = self.counted.elapsed().as_millis() / INTERVAL.as_millis();
        if earned > 0 {
            let earned = u32::try_from(earned).unwrap_or(BURST);
            self.allowance = self.allowance.saturating_add(earned).min(BURST);
            self.counted = Instant::now();
        }
        let any = self.allowance > 0;
        self.allowance -= u32::from(any);
        any
    }
}

async fn empty<T: Abandoned>(state: Arc<Mutex<State<T>>>) {
    loop {
        sleep(INTERVAL).await;
        let mut over = Vec::new();
        let done = {
            let mut state = lock(&state);
            for mut request in std::mem::take(&mut state.queue) {
                if request.is_over() || state.take_allowance() {
                    over.push(request);
                } else {
                    state.queue.push_back(request);
                }
            }
            state.emptied = !state.queue.is_empty();
            !state.emptied
        };
        // Outside the lock: what a request holds may wake others, who give up requests of their own.
        drop(over);
        if done {
            return;
        }
    }
}

fn lock<T>(state: &Mutex<State<T>>) -> MutexGuard<'_, State<T>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Backend {
        answers: AtomicBool,
        resets: AtomicUsize,
        given_back: AtomicUsize,
    }

    struct Request(Arc<Backend>);

    impl Abandoned for Request {
        fn is_over(&mut self) -> bool {
            self.0.answers.load(Ordering::SeqCst)
        }
    }

    impl Drop for Request {
        fn drop(&mut self) {
            self.0.given_back.fetch_add(1, Ordering::SeqCst);
            if !self.is_over() {
                self.0.resets.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn few_are_reset_at_once_and_many_one_after_another() {
        let (backend, resets) = (Arc::new(Backend::default()), Resets::new());
        for _ in 0..100 {
            resets.give_up(Request(backend.clone()));
        }
        assert_eq!(backend.resets.load(Ordering::SeqCst), 8);
        sleep(Duration::from_millis(260)).await;
        assert_eq!(backend.resets.load(Ordering::SeqCst), 18);
        sleep(Duration::from_secs(3)).await;
        assert_eq!(backend.resets.load(Ordering::SeqCst), 100);
        resets.give_up(Request(backend.clone()));
        assert_eq!(backend.resets.load(Ordering::SeqCst), 101, "a rest earns the burst again");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_answered_meanwhile_is_not_reset() {
        let (backend, resets) = (Arc::new(Backend::default()), Resets::new());
        for _ in 0..100 {
            resets.give_up(Request(backend.clone()));
        }
        backend.answers.store(true, Ordering::SeqCst);
        sleep(INTERVAL * 2).await;
        assert_eq!(backend.given_back.load(Ordering::SeqCst), 100);
        assert_eq!(backend.resets.load(Ordering::SeqCst), 8);
    }

    #[test]
    fn without_a_runtime_all_end_at_once() {
        let (backend, resets) = (Arc::new(Backend::default()), Resets::new());
        for _ in 0..100 {
            resets.give_up(Request(backend.clone()));
        }
        assert_eq!(backend.given_back.load(Ordering::SeqCst), 100);
    }
}
