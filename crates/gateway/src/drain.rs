//! Stopping without breaking anything: unready first, then drained, then ended.

mod active;
mod watches;

use std::sync::Arc;

use tokio::sync::watch;

pub(crate) use active::{Active, Actives};
pub(crate) use watches::{WatchTicket, Watches};

/// How far the stopping is. Only ever goes forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Not stopping.
    Serving,
    /// `/readyz` fails, everything else goes on: load balancers look away.
    Unready,
    /// No new connections; those that are there are told to go, what is in flight finishes.
    Draining,
    /// Whatever is left is cut off.
    Ended,
}

/// Says when to stop. Kept by whoever listens for signals.
#[derive(Clone, Debug)]
pub struct ShutdownHandle(Arc<watch::Sender<Phase>>);

impl ShutdownHandle {
    /// A signal came: the first begins the orderly stop, the second ends everything at once.
    pub fn signal(&self) {
        let first = *self.0.borrow() == Phase::Serving;
        self.advance(if first { Phase::Unready } else { Phase::Ended });
    }

    pub(crate) fn advance(&self, phase: Phase) {
        self.0.send_if_modified(|now| {
            let forward = phase > *now;
            if forward {
                *now = phase;
            }
            forward
        });
    }
}

/// Whether the door is to stop, and how far it is.
#[derive(Clone, Debug)]
pub struct Shutdown {
    phase: watch::Receiver<Phase>,
    handle: ShutdownHandle,
}

impl Shutdown {
    /// A door that serves, and the handle that stops it.
    pub fn new() -> (ShutdownHandle, Self) {
        let (sender, phase) = watch::channel(Phase::Serving);
        let handle = ShutdownHandle(Arc::new(sender));
        (handle.clone(), Self { phase, handle })
    }

    /// Whether new work is still wanted; `/readyz` says so.
    pub fn is_serving(&self) -> bool {
        self.phase() == Phase::Serving
    }

    pub(crate) fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    pub(crate) fn handle(&self) -> &ShutdownHandle {
        &self.handle
    }

    /// Returns when the stopping has come so far.
    pub(crate) async fn reached(&self, phase: Phase) {
        let mut receiver = self.phase.clone();
        // The sender lives in `self.handle`, so that this cannot fail.
        let _ = receiver.wait_for(|now| *now >= phase).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_signal_ends_at_once_and_nothing_goes_back() {
        let (handle, shutdown) = Shutdown::new();
        assert!(shutdown.is_serving());
        handle.signal();
        assert_eq!(shutdown.phase(), Phase::Unready);
        handle.advance(Phase::Draining);
        handle.signal();
        assert_eq!(shutdown.phase(), Phase::Ended);
        handle.advance(Phase::Draining);
        assert_eq!(shutdown.phase(), Phase::Ended);
    }
}
