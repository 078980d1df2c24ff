//! Everything that is kept for one server at one revision.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use arc_swap::ArcSwap;
use catalog::{Cause, Failure, IdentityMode, Observation, Observer, Server};
use dial::TlsSetup;
use http::StatusCode;

use super::{EndpointPool, choose};
use crate::{
    limits::{Gauge, Permit},
    metrics::{Metrics, ServerMetrics},
};

/// What all endpoints of a server share.
pub(crate) struct Shared {
    /// As it was when the pool was made; its endpoints may have changed since.
    pub(crate) server: Arc<Server>,
    pub(crate) tls: Result<TlsSetup, Failure>,
    pub(crate) metrics: ServerMetrics,
    pub(crate) observer: Arc<dyn Observer>,
    /// Sets of connections of each endpoint: one for each worker, one for all other threads.
    pub(super) places: usize,
}

/// The connections to one server at one revision.
pub(crate) struct ServerPool {
    pub(crate) shared: Arc<Shared>,
    endpoints: ArcSwap<Vec<Arc<EndpointPool>>>,
    in_flight: Arc<Gauge>,
    turn: AtomicUsize,
    /// It answered 401 last: it does not accept the door.
    rejected: AtomicBool,
}

impl ServerPool {
    pub(crate) fn new(
        server: &Arc<Server>,
        metrics: &Metrics,
        observer: &Arc<dyn Observer>,
        places: usize,
    ) -> Self {
        let shared = Arc::new(Shared {
            tls: TlsSetup::new(server),
            metrics: metrics.server(&server.name),
            observer: observer.clone(),
            places,
            server: server.clone(),
        });
        let endpoints =
            server.endpoints.iter().map(|endpoint| EndpointPool::new(endpoint, &shared)).collect();
        Self {
            endpoints: ArcSwap::from_pointee(endpoints),
            in_flight: Gauge::new(server.limits.max_in_flight),
            turn: AtomicUsize::new(0),
            rejected: AtomicBool::new(false),
            shared,
        }
    }

    /// Takes a new list of endpoints; those that stay keep their connections.
    pub(crate) fn update(&self, server: &Server) {
        let present = self.endpoints.load();
        let same = present.len() == server.endpoints.len()
            && present.iter().zip(&server.endpoints).all(|(pool, endpoint)| pool.endpoint == *endpoint);
        if same {
            return;
        }
        let next = server.endpoints.iter().map(|endpoint| {
            let kept = present.iter().find(|pool| pool.endpoint == *endpoint);
            kept.cloned().unwrap_or_else(|| EndpointPool::new(endpoint, &self.shared))
        });
        let next: Vec<_> = next.collect();
        for gone in present.iter().filter(|pool| !server.endpoints.contains(&pool.endpoint)) {
            gone.retire();
        }
        self.endpoints.store(Arc::new(next));
    }

    /// The registration changed or went: idle connections close, what is in flight finishes.
    pub(crate) fn retire(&self) {
        for endpoint in self.endpoints.load().iter() {
            endpoint.retire();
        }
    }

    /// Watches for the one answer that says that the door itself is not accepted: the caller's identity
    /// is known here, so a 401 can only mean ours.
    pub(crate) fn note_answer(&self, status: StatusCode) {
        let server = &self.shared.server;
        let rejected = status == StatusCode::UNAUTHORIZED && server.identity != IdentityMode::PassThrough;
        if self.rejected.load(Ordering::Relaxed) == rejected
            || self.rejected.swap(rejected, Ordering::Relaxed) == rejected
        {
            return;
        }
        let endpoint = server.name.to_string();
        let observation = if rejected {
            let failure =
                Failure::new(Cause::IdentityRejected, "it answered 401 to a request of a known caller");
            Observation::Failed { endpoint, failure }
        } else {
            Observation::Answered { endpoint }
        };
        self.shared.observer.observe(&server.name, observation);
    }

    /// A place among the server's requests in flight; none when its limit is reached.
    pub(crate) fn enter(&self) -> Option<Permit> {
        self.in_flight.enter()
    }

    /// An endpoint that was not tried yet, the less busy of two; and whether there are still others.
    pub(crate) fn pick(&self, tried: &[Arc<EndpointPool>]) -> Option<(Arc<EndpointPool>, bool)> {
        let endpoints = self.endpoints.load();
        if let [only] = endpoints.as_slice() {
            return tried.is_empty().then(|| (only.clone(), false));
        }
        choose::pick(&endpoints, tried, self.turn.fetch_add(1, Ordering::Relaxed))
    }
}
