//! The connections to one endpoint.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use catalog::{Cause, Endpoint, Failure, Observation};
use dial::Protocol;
use http::{HeaderValue, uri};

use super::{
    Channel, Class, dialing,
    http1::{Http1Lease, Idle},
    http2::{Http2Connection, Http2Lease},
    queue::Queues,
    recovery::Recovery,
    server::Shared,
};

/// Streams of a connection from which on another one is opened beside it.
const GROW_AT_STREAMS: usize = 50;

/// The connections to one endpoint, and whether it works.
pub(crate) struct EndpointPool {
    pub(crate) endpoint: Endpoint,
    /// For logs and the observer.
    pub(crate) address: String,
    pub(crate) scheme: uri::Scheme,
    /// None when the host is no valid authority; no request is sent there then.
    pub(crate) authority: Option<uri::Authority>,
    /// The same as a header.
    pub(crate) host: HeaderValue,
    pub(super) shared: Arc<Shared>,
    in_flight: AtomicUsize,
    queues: Queues,
    healthy: AtomicBool,
    connections: ArcSwap<Vec<Arc<Http2Connection>>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What it spoke last.
    protocol: Option<Protocol>,
    /// Connections, with those that are being opened.
    open: usize,
    dialing: usize,
    /// Connections of HTTP/1.1 that wait for a request, the one used last at the end.
    idle: Vec<Idle>,
    long_running: usize,
    /// How often opening a connection failed.
    failures: u64,
    recovery: Recovery,
    retired: bool,
}

impl EndpointPool {
    pub(super) fn new(endpoint: &Endpoint, shared: &Arc<Shared>) -> Arc<Self> {
        let address = endpoint.address();
        let tls = !matches!(endpoint, Endpoint::Network { tls: false, .. });
        Arc::new(Self {
            endpoint: endpoint.clone(),
            scheme: if tls { uri::Scheme::HTTPS } else { uri::Scheme::HTTP },
            authority: address.parse().ok(),
            host: HeaderValue::from_str(&address).unwrap_or(HeaderValue::from_static("invalid")),
            address,
            shared: shared.clone(),
            in_flight: AtomicUsize::new(0),
            queues: Queues::default(),
            healthy: AtomicBool::new(true),
            connections: ArcSwap::default(),
            state: Mutex::default(),
        })
    }

    pub(super) fn is_healthy(&self) -> bool {
        self.healthy.load(Ordering::Relaxed)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.lock().recovery.paused().is_some()
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub(super) fn enter(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn leave(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// A way to send a request: over a connection that stands, or over one that is opened now.
    ///
    /// # Errors
    /// When none can be had within `patience`; nothing was sent then.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        class: Class,
        patience: Duration,
    ) -> Result<Channel, Failure> {
        if let Endpoint::InProcess(service) = &self.endpoint {
            return Ok(Channel::InProcess(service.clone()));
        }
        if let Some(lease) = self.lease_stream(class) {
            return Ok(Channel::Http2(lease));
        }
        if let Some(lease) = self.lease_idle(class).await {
            return Ok(Channel::Http1(lease));
        }
        tokio::time::timeout(patience, Box::pin(self.wait(class)))
            .await
            .unwrap_or_else(|_| Err(self.too_late()))
    }

    async fn wait(self: &Arc<Self>, class: Class) -> Result<Channel, Failure> {
        let place = self.queues.enter(class);
        let failures = self.lock().failures;
        loop {
            let changed = place.changed();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(lease) = self.lease_stream(class) {
                return Ok(Channel::Http2(lease));
            }
            if let Some(lease) = self.lease_idle(class).await {
                return Ok(Channel::Http1(lease));
            }
            self.want_connection(failures)?;
            changed.await;
        }
    }

    /// A connection of HTTP/1.1 that is free.
    async fn lease_idle(self: &Arc<Self>, class: Class) -> Option<Http1Lease> {
        while let Some(idle) = self.pop_idle(class) {
            let lease = Http1Lease::ready(self, idle, class).await;
            if lease.is_some() {
                return lease;
            }
        }
        None
    }

    /// A stream of the least loaded connection.
    fn lease_stream(self: &Arc<Self>, class: Class) -> Option<Http2Lease> {
        let connections = self.connections.load();
        let usable = connections.iter().filter(|connection| connection.has_room());
        let connection = usable.min_by_key(|connection| connection.streams())?;
        let lease = Http2Lease::new(connection, self, class)?;
        if connection.streams() >= connection.grow_at(GROW_AT_STREAMS) {
            self.grow();
        }
        Some(lease)
    }

    fn pop_idle(&self, class: Class) -> Option<Idle> {
        let mut state = self.lock();
        let max = self.shared.server.limits.max_connections;
        // A quarter is kept for ordinary requests: watches must not shut them out.
        if class == Class::LongRunning && state.long_running >= (max - max / 4).max(1) {
            return None;
        }
        let idle = std::iter::from_fn(|| state.idle.pop()).find(Idle::is_usable)?;
        state.long_running += usize::from(class == Class::LongRunning);
        Some(idle)
    }

    /// A connection of HTTP/1.1 is free again.
    pub(super) fn push_idle(&self, idle: Idle) {
        let mut state = self.lock();
        if state.retired {
            return;
        }
        state.idle.retain(Idle::is_usable);
        state.idle.push(idle);
        drop(state);
        self.queues.wake_one();
    }

    pub(super) fn long_running_ended(&self) {
        self.lock().long_running -= 1;
    }

    /// Somebody waits: opens a connection where that may help.
    fn want_connection(self: &Arc<Self>, failures_before: u64) -> Result<(), Failure> {
        let mut state = self.lock();
        let failed_since = state.failures > failures_before;
        let failure = if failed_since { state.recovery.last() } else { state.recovery.paused() };
        if let Some(failure) = failure {
            return Err(failure.clone());
        }
        let enough = match state.protocol {
            Some(Protocol::Http1) => self.queues.len(),
            _ => 1,
        };
        if state.dialing < enough {
            self.begin_dial(&mut state);
        }
        Ok(())
    }

    /// The connections are busy: opens one more beside them.
    fn grow(self: &Arc<Self>) {
        let mut state = self.lock();
        if state.dialing == 0 && state.recovery.paused().is_none() {
            self.begin_dial(&mut state);
        }
    }

    /// It failed a moment ago: finds out beside the traffic whether it works again.
    pub(super) fn probe(self: &Arc<Self>) {
        self.grow();
    }

    fn begin_dial(self: &Arc<Self>, state: &mut State) {
        if state.open >= self.shared.server.limits.max_connections {
            return;
        }
        state.open += 1;
        state.dialing += 1;
        tokio::spawn(dialing::dial(self.clone()));
    }

    pub(super) fn dialed_http2(&self, connection: Arc<Http2Connection>) {
        let mut state = self.lock();
        state.dialing -= 1;
        state.protocol = Some(Protocol::Http2);
        self.connections.rcu(|present| {
            let mut next = Vec::with_capacity(present.len() + 1);
            next.extend(present.iter().cloned());
            next.push(connection.clone());
            next
        });
        self.works(state);
        self.queues.wake_all();
    }

    pub(super) fn dialed_http1(&self, idle: Idle) {
        let mut state = self.lock();
        state.dialing -= 1;
        state.protocol = Some(Protocol::Http1);
        state.idle.push(idle);
        self.works(state);
        self.queues.wake_one();
    }

    pub(super) fn dial_failed(&self, failure: Failure) {
        let mut state = self.lock();
        state.dialing -= 1;
        state.open -= 1;
        state.failures += 1;
        let still_works = !self.connections.load().is_empty();
        self.fails(state, failure, still_works);
        self.queues.wake_all();
    }

    /// A connection of HTTP/1.1 is no more.
    pub(super) fn closed_http1(&self) {
        self.lock().open -= 1;
        self.queues.wake_one();
    }

    /// A connection of HTTP/2 is no more. `failure`: it did not answer pings, so that the endpoint is
    /// suspect as a whole.
    pub(super) fn closed_http2(&self, connection: &Arc<Http2Connection>, failure: Option<Failure>) {
        let mut state = self.lock();
        state.open -= 1;
        self.connections.rcu(|present| {
            present.iter().filter(|other| !Arc::ptr_eq(other, connection)).cloned().collect::<Vec<_>>()
        });
        if let Some(failure) = failure {
            self.fails(state, failure, false);
        }
        self.queues.wake_all();
    }

    fn works(&self, mut state: MutexGuard<'_, State>) {
        let news = state.recovery.recovered();
        drop(state);
        self.healthy.store(true, Ordering::Relaxed);
        if news {
            let observation = Observation::Answered { endpoint: self.address.clone() };
            self.shared.observer.observe(&self.shared.server.name, observation);
        }
    }

    fn fails(&self, mut state: MutexGuard<'_, State>, failure: Failure, still_works: bool) {
        let news = state.recovery.last().is_none_or(|last| last.cause != failure.cause);
        state.recovery.failed(failure.clone());
        drop(state);
        if !still_works && self.healthy.swap(false, Ordering::Relaxed) {
            self.shared.metrics.ejected();
        }
        if news {
            let observation = Observation::Failed { endpoint: self.address.clone(), failure };
            self.shared.observer.observe(&self.shared.server.name, observation);
        }
    }

    /// No new requests will come: what is idle closes.
    pub(super) fn retire(&self) {
        let mut state = self.lock();
        state.retired = true;
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        drop(idle);
        for connection in self.connections.load().iter() {
            connection.retire();
        }
    }

    /// A stream has become free.
    pub(super) fn freed(&self) {
        if self.queues.len() > 0 {
            self.queues.wake_one();
        }
    }

    fn too_late(&self) -> Failure {
        let state = self.lock();
        if state.open >= self.shared.server.limits.max_connections && state.dialing == 0 {
            return Failure::new(Cause::Overloaded, "all connections that its registration allows are busy");
        }
        Failure::new(Cause::ConnectTimeout, format!("{}: no connection in time", self.address))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
