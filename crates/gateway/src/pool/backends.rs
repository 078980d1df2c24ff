//! The snapshot that requests are routed by: a catalog, and the pools of its servers.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use arc_swap::{ArcSwap, Guard};
use catalog::{Catalog, Observer, Server, ServerName};
use tokio::sync::watch;

use super::ServerPool;
use crate::{Workers, metrics::Metrics};

/// One catalog with the pools of its servers. Immutable, swapped as a whole.
pub(crate) struct Routing {
    pub(crate) catalog: Arc<Catalog>,
    pools: HashMap<ServerName, Arc<ServerPool>>,
}

impl Routing {
    /// The pool of a server of this catalog.
    pub(crate) fn pool(&self, name: &ServerName) -> Option<&Arc<ServerPool>> {
        self.pools.get(name)
    }
}

/// The backends as the catalog gives them, with the connections to them. Shared by everything that
/// sends requests: the door's clients, and the door itself.
pub struct Backends {
    routing: ArcSwap<Routing>,
    incoming: Mutex<watch::Receiver<Arc<Catalog>>>,
    metrics: Arc<Metrics>,
    observer: Arc<dyn Observer>,
    workers: Workers,
}

impl Backends {
    /// Pools for the present catalog, kept up with it from then on; each of the workers has connections of
    /// its own. Needs a tokio runtime.
    pub fn new(
        catalog: watch::Receiver<Arc<Catalog>>,
        observer: Arc<dyn Observer>,
        metrics: Arc<Metrics>,
        workers: Workers,
    ) -> Arc<Self> {
        let none = Routing { catalog: Arc::new(Catalog::empty()), pools: HashMap::new() };
        let backends = Arc::new(Self {
            routing: ArcSwap::from_pointee(none),
            incoming: Mutex::new(catalog.clone()),
            metrics,
            observer,
            workers,
        });
        backends.take_catalog();
        tokio::spawn(follow(Arc::downgrade(&backends), catalog));
        backends
    }

    /// The threads that clients are served on.
    pub(crate) fn workers(&self) -> &Workers {
        &self.workers
    }

    /// What requests are routed by at this moment.
    pub(crate) fn routing(&self) -> Guard<Arc<Routing>> {
        self.routing.load()
    }

    /// Makes the newest catalog the one to route by.
    fn take_catalog(&self) {
        let mut incoming = self.incoming.lock().unwrap_or_else(PoisonError::into_inner);
        let catalog = incoming.borrow_and_update().clone();
        let before = self.routing.load();
        let pools = catalog.servers().iter().map(|server| (server.name.clone(), self.pool(&before, server)));
        let next = Arc::new(Routing { pools: pools.collect(), catalog: catalog.clone() });
        self.routing.store(next.clone());
        for (name, pool) in &before.pools {
            if !next.pools.get(name).is_some_and(|kept| Arc::ptr_eq(kept, pool)) {
                pool.retire();
            }
        }
    }

    fn pool(&self, before: &Routing, server: &Arc<Server>) -> Arc<ServerPool> {
        match before.pools.get(&server.name) {
            Some(pool) if pool.shared.server.revision == server.revision => {
                pool.update(server);
                pool.clone()
            }
            _ => Arc::new(ServerPool::new(server, &self.metrics, &self.observer, self.workers.places())),
        }
    }
}

/// Until the backends are dropped or no more catalogs come.
async fn follow(backends: std::sync::Weak<Backends>, mut catalog: watch::Receiver<Arc<Catalog>>) {
    while catalog.changed().await.is_ok() {
        match backends.upgrade() {
            Some(backends) => backends.take_catalog(),
            None => return,
        }
    }
}
