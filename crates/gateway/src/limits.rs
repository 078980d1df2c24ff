//! Limits on everything that a peer can send or hold.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// What clients may cost. The defaults are upstream's where upstream has one.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections of clients; more wait in the kernel's queue.
    pub max_connections: usize,
    /// Until a TLS handshake must be done.
    pub handshake_timeout: Duration,
    /// Until the head of a request must be there, and as long a connection may idle (upstream: 32 s).
    pub header_timeout: Duration,
    /// Bytes of a request's head; at least 8 kB.
    pub max_head_bytes: usize,
    /// How long the body of an ordinary request may give no sign of life.
    pub body_stall_timeout: Duration,
    /// How long a client may leave its answers unread.
    pub write_stall_timeout: Duration,
    /// Requests at a time over one HTTP/2 connection.
    pub max_streams: u32,
    /// HTTP/2 streams that a client resets before they are looked at.
    pub max_pending_resets: usize,
    /// How often a silent HTTP/2 client is pinged.
    pub ping_interval: Duration,
    /// Reading requests in flight (upstream: `--max-requests-inflight`).
    pub max_in_flight: usize,
    /// Writing requests in flight (upstream: `--max-mutating-requests-inflight`).
    pub max_mutating_in_flight: usize,
    /// Until an ordinary request must be over (upstream: `--request-timeout`).
    pub request_timeout: Duration,
    /// Bytes of a request body that are kept to be sent again.
    pub replay_bytes: usize,
    /// Watches ended per second while stopping.
    pub watch_drain_rate: u32,
    /// Until a stopping door ends what is still there.
    pub drain_timeout: Duration,
    /// How long `/readyz` fails before connections are closed (upstream: `--shutdown-delay-duration`).
    pub shutdown_delay: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 20_000,
            handshake_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(32),
            max_head_bytes: 64 * 1024,
            body_stall_timeout: Duration::from_secs(30),
            write_stall_timeout: Duration::from_secs(60),
            max_streams: 1000,
            max_pending_resets: 100,
            ping_interval: Duration::from_secs(30),
            max_in_flight: 400,
            max_mutating_in_flight: 200,
            request_timeout: Duration::from_secs(60),
            replay_bytes: 256 * 1024,
            watch_drain_rate: 500,
            drain_timeout: Duration::from_secs(60),
            shutdown_delay: Duration::ZERO,
        }
    }
}

/// Counts what is in flight against a maximum.
#[derive(Debug)]
pub(crate) struct Gauge {
    now: AtomicUsize,
    max: usize,
}

impl Gauge {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { now: AtomicUsize::new(0), max })
    }

    /// A place, until the permit is dropped; none when all are taken.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Permit> {
        if self.now.fetch_add(1, Ordering::Relaxed) >= self.max {
            self.now.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Permit(self.clone()))
    }
}

/// A place among those in flight.
#[derive(Debug)]
pub(crate) struct Permit(Arc<Gauge>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_gives_as_many_permits_as_it_has() {
        let gauge = Gauge::new(2);
        let first = gauge.enter();
        let second = gauge.enter();
        assert!(first.is_some() && second.is_some());
        assert!(gauge.enter().is_none());
        drop(first);
        assert!(gauge.enter().is_some());
    }
}
