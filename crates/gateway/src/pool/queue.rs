//! Requests that wait for a connection.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, futures::Notified};

use super::Class;

/// Those who wait, ordinary requests apart from the others, because they go first.
#[derive(Default)]
pub(super) struct Queues([Queue; 2]);

#[derive(Default)]
struct Queue {
    waiting: AtomicUsize,
    changed: Notify,
}

impl Queues {
    /// One more waits, until its place is dropped.
    pub(super) fn enter(&self, class: Class) -> Place<'_> {
        let queue = self.queue(class);
        queue.waiting.fetch_add(1, Ordering::Relaxed);
        Place(queue)
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|queue| queue.waiting.load(Ordering::Relaxed)).sum()
    }

    /// Something for one request has become free.
    pub(super) fn wake_one(&self) {
        let ordinary = self.queue(Class::Ordinary);
        let queue = match ordinary.waiting.load(Ordering::Relaxed) {
            0 => self.queue(Class::LongRunning),
            _ => ordinary,
        };
        queue.changed.notify_one();
    }

    /// Something has changed for all.
    pub(super) fn wake_all(&self) {
        for queue in &self.0 {
            queue.changed.notify_waiters();
        }
    }

    fn queue(&self, class: Class) -> &Queue {
        &self.0[usize::from(class == Class::LongRunning)]
    }
}

/// One who waits.
pub(super) struct Place<'a>(&'a Queue);

impl Place<'_> {
    /// Ready when it is worth looking again.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.0.changed.notified()
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
