//! The connections to one endpoint that one worker drives.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use arc_swap::{ArcSwap, Guard};

use super::{http1::Idle, http2::Http2Connection};

/// Requests that go over other workers' connections before a worker opens one of its own: a server that
/// is asked now and then gets one connection, not one from each processor.
const BORROWED: usize = 8;

/// The connections of one worker. Others may use them; it costs both threads a wake-up.
#[derive(Default)]
pub(super) struct Local {
    http2: ArcSwap<Vec<Arc<Http2Connection>>>,
    /// Connections of HTTP/1.1 that wait for a request, the one used last at the end.
    idle: Mutex<Vec<Idle>>,
    borrowed: AtomicUsize,
}

impl Local {
    /// The connections of HTTP/2.
    pub(super) fn http2(&self) -> Guard<Arc<Vec<Arc<Http2Connection>>>> {
        self.http2.load()
    }

    pub(super) fn add(&self, connection: &Arc<Http2Connection>) {
        self.http2.rcu(|present| {
            let mut next = Vec::with_capacity(present.len() + 1);
            next.extend(present.iter().cloned());
            next.push(connection.clone());
            next
        });
    }

    pub(super) fn remove(&self, connection: &Arc<Http2Connection>) {
        self.http2.rcu(|present| {
            present.iter().filter(|other| !Arc::ptr_eq(other, connection)).cloned().collect::<Vec<_>>()
        });
    }

    /// The idle connection that was used last.
    pub(super) fn pop(&self) -> Option<Idle> {
        let mut idle = self.idle();
        std::iter::from_fn(|| idle.pop()).find(Idle::is_usable)
    }

    /// Keeps an idle connection, unless `retired` says that there is no use for it any more.
    pub(super) fn push(&self, connection: Idle, retired: impl Fn() -> bool) {
        let mut idle = self.idle();
        if !retired() {
            idle.retain(Idle::is_usable);
            idle.push(connection);
        }
    }

    /// Closes what is idle.
    pub(super) fn close_idle(&self) {
        let idle = std::mem::take(&mut *self.idle());
        drop(idle);
    }

    /// A request of this worker went over another's connection; true when it is time for one of its own.
    pub(super) fn borrows(&self) -> bool {
        self.borrowed.fetch_add(1, Ordering::Relaxed) % BORROWED == BORROWED - 1
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
