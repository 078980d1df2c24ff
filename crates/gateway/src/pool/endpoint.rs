//! The connections to one endpoint.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use catalog::{Cause, Endpoint, Failure, Observation};
use dial::Protocol;
use http::{HeaderValue, uri};

use super::{
    Channel, Class, dialing,
    http1::{Http1Lease, Idle},
    http2::{Http2Connection, Http2Lease},
    local::Local,
    queue::Queues,
    recovery::Recovery,
    server::Shared,
};
use crate::workers;

/// Streams of a connection from which on another one is opened beside it.
const GROW_AT_STREAMS: usize = 50;

/// Over HTTP/1.1 each watch needs a connection. So many times as many of them as `max_connections` are
/// let in beside the connections for all else: it must neither shut ordinary requests out nor stop at a
/// handful of controllers, and still has an end.
const LONG_RUNNING_FACTOR: usize = 16;

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
    /// By worker.
    locals: Box<[Local]>,
    retired: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What it spoke last.
    protocol: Option<Protocol>,
    /// Connections, with those that are being opened.
    open: usize,
    dialing: usize,
    /// Those of HTTP/1.1 that carry a long-running request.
    long_running: usize,
    /// How often opening a connection failed.
    failures: u64,
    recovery: Recovery,
}

impl State {
    /// Whether the registration allows no more connections. Those that a watch over HTTP/1.1 has for
    /// itself have a limit of their own.
    fn is_full(&self, max_connections: usize) -> bool {
        self.open.saturating_sub(self.long_running) >= max_connections
    }
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
            locals: (0..shared.places).map(|_| Local::default()).collect(),
            retired: AtomicBool::new(false),
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

    /// A stream of this worker's least loaded connection, else of another's.
    fn lease_stream(self: &Arc<Self>, class: Class) -> Option<Http2Lease> {
        let here = self.here();
        if let Some(lease) = self.lease_stream_of(&self.locals[here], class) {
            return Some(lease);
        }
        let mut others = self.others(here);
        let lease = others.find_map(|local| self.lease_stream_of(local, class))?;
        self.borrowed(here);
        Some(lease)
    }

    fn lease_stream_of(self: &Arc<Self>, local: &Local, class: Class) -> Option<Http2Lease> {
        let connections = local.http2();
        let usable = connections.iter().filter(|connection| connection.has_room());
        let connection = usable.min_by_key(|connection| connection.streams())?;
        let lease = Http2Lease::new(connection, self, class)?;
        if connection.streams() >= connection.grow_at(GROW_AT_STREAMS) {
            self.grow();
        }
        Some(lease)
    }

    fn pop_idle(self: &Arc<Self>, class: Class) -> Option<Idle> {
        if class == Class::LongRunning && !self.begin_long_running() {
            return None;
        }
        let here = self.here();
        let idle = self.locals[here].pop().or_else(|| {
            let idle = self.others(here).find_map(Local::pop)?;
            self.borrowed(here);
            Some(idle)
        });
        match (&idle, class) {
            (_, Class::Ordinary) => {}
            (None, Class::LongRunning) => self.lock().long_running -= 1,
            // What a watch has counts elsewhere now: there is room for another connection.
            (Some(_), Class::LongRunning) => self.freed(),
        }
        idle
    }

    /// The connections that this thread drives.
    fn here(&self) -> usize {
        let here = workers::current();
        if here < self.locals.len() { here } else { 0 }
    }

    fn others(&self, here: usize) -> impl Iterator<Item = &Local> {
        let others = self.locals.iter().enumerate().filter(move |(place, _)| *place != here);
        others.map(|(_, local)| local)
    }

    fn borrowed(self: &Arc<Self>, here: usize) {
        if self.locals[here].borrows() {
            self.grow();
        }
    }

    /// A connection of HTTP/1.1 is free again.
    pub(super) fn push_idle(&self, idle: Idle) {
        self.locals[idle.home()].push(idle, || self.retired.load(Ordering::SeqCst));
        self.queues.wake_one();
    }

    /// One more long-running request over HTTP/1.1, unless there are as many as there may be.
    fn begin_long_running(&self) -> bool {
        let mut state = self.lock();
        let most = self.shared.server.limits.max_connections.saturating_mul(LONG_RUNNING_FACTOR);
        let may = state.long_running < most;
        state.long_running += usize::from(may);
        may
    }

    pub(super) fn long_running_ended(&self) {
        self.lock().long_running -= 1;
        self.freed();
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
        if state.is_full(self.shared.server.limits.max_connections) {
            return;
        }
        state.open += 1;
        state.dialing += 1;
        tokio::spawn(dialing::dial(self.clone(), self.here()));
    }

    pub(super) fn dialed_http2(&self, connection: &Arc<Http2Connection>, home: usize) {
        let mut state = self.lock();
        state.dialing -= 1;
        state.protocol = Some(Protocol::Http2);
        self.locals[home].add(connection);
        if self.retired.load(Ordering::SeqCst) {
            connection.retire();
        }
        self.works(state);
        self.queues.wake_all();
    }

    pub(super) fn dialed_http1(&self, idle: Idle) {
        let mut state = self.lock();
        state.dialing -= 1;
        state.protocol = Some(Protocol::Http1);
        self.works(state);
        self.push_idle(idle);
    }

    pub(super) fn dial_failed(&self, failure: Failure) {
        let mut state = self.lock();
        state.dialing -= 1;
        state.open -= 1;
        state.failures += 1;
        let still_works = self.locals.iter().any(|local| !local.http2().is_empty());
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
    pub(super) fn closed_http2(
        &self,
        connection: &Arc<Http2Connection>,
        home: usize,
        failure: Option<Failure>,
    ) {
        let mut state = self.lock();
        state.open -= 1;
        self.locals[home].remove(connection);
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

    /// Whether a worker has more than one connection of HTTP/2.
    pub(super) fn has_others(&self, home: usize) -> bool {
        self.locals[home].http2().len() > 1
    }

    /// No new requests will come: what is idle closes.
    pub(super) fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
        for local in &self.locals {
            local.close_idle();
            for connection in local.http2().iter() {
                connection.retire();
            }
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
        if state.is_full(self.shared.server.limits.max_connections) && state.dialing == 0 {
            return Failure::new(Cause::Overloaded, "all connections that its registration allows are busy");
        }
        Failure::new(Cause::ConnectTimeout, format!("{}: no connection in time", self.address))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
