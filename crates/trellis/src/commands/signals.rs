//! The signals that stop a command.

use std::future::pending;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT and SIGTERM, from the moment on at which this is made; none is missed between two waits.
pub(crate) struct StopSignals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
}

impl StopSignals {
    /// Begins to listen. Where no handler can be installed the signals end the process, which is what
    /// they are for.
    pub(crate) fn listen() -> Self {
        Self {
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
        }
    }

    /// Returns at the next one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            () = recv(&mut self.interrupt) => {}
            () = recv(&mut self.terminate) => {}
        }
    }
}

/// Returns at the next signal of this kind; never, when it cannot be listened to.
pub(crate) async fn recv(signal: &mut Option<Signal>) {
    let received = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if received.is_none() {
        pending().await
    }
}
