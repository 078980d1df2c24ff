//! Series of each backend.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use catalog::{HealthReport, ServerName};

use super::{Counter, Level, exposition::Exposition};

/// All backends that were ever asked for a series, until they are gone from the health report.
#[derive(Debug, Default)]
pub(super) struct Servers(Mutex<BTreeMap<ServerName, Arc<Series>>>);

#[derive(Debug, Default)]
struct Series {
    connections: Level,
    ejections: Counter,
    retries: Reasons,
    failures: Reasons,
}

/// Counters by a reason word. The words are constants of this program, so there are few.
#[derive(Debug, Default)]
struct Reasons(Mutex<BTreeMap<&'static str, u64>>);

impl Reasons {
    fn add(&self, reason: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(reason).or_default() += 1;
    }

    fn each(&self, mut with: impl FnMut(&'static str, u64)) {
        for (reason, count) in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            with(reason, *count);
        }
    }
}

/// Series of one backend.
#[derive(Clone, Debug)]
pub(crate) struct ServerMetrics(Arc<Series>);

impl ServerMetrics {
    /// A request was sent again, and why (`refused_stream`, `goaway`, `connection_lost`, `connect`).
    pub(crate) fn retried(&self, why: &'static str) {
        self.0.retries.add(why);
    }

    /// A connection opened (+1) or closed (-1).
    pub(crate) fn connections(&self, delta: i64) {
        self.0.connections.add(delta);
    }

    /// An endpoint was ejected.
    pub(crate) fn ejected(&self) {
        self.0.ejections.add(1);
    }

    /// A request failed without an answer from it; the reason word of the cause.
    pub(crate) fn failed(&self, reason: &'static str) {
        self.0.failures.add(reason);
    }
}

impl Servers {
    pub(super) fn of(&self, name: &ServerName) -> ServerMetrics {
        let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ServerMetrics(servers.entry(name.clone()).or_default().clone())
    }

    pub(super) fn render(&self, text: &mut Exposition, health: &HealthReport) {
        let known = |name: &ServerName| health.servers.iter().any(|server| server.name == *name);
        let servers: Vec<(ServerName, Arc<Series>)> = {
            let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // A pool that still drains holds its series; it is forgotten with the pool.
            servers.retain(|name, series| known(name) || Arc::strong_count(series) > 1);
            servers.iter().map(|(name, series)| (name.clone(), series.clone())).collect()
        };
        const CONNECTIONS: &str = "trellis_server_connections";
        text.family(CONNECTIONS, "Connections that are open to each server.", "gauge");
        for (name, series) in &servers {
            text.sample(CONNECTIONS, &[("name", name.as_str())], series.connections.get());
        }
        const EJECTIONS: &str = "trellis_server_endpoint_ejections_total";
        text.family(EJECTIONS, "Endpoints that were taken out of use after failures.", "counter");
        for (name, series) in &servers {
            text.sample(EJECTIONS, &[("name", name.as_str())], series.ejections.get());
        }
        const RETRIES: &str = "trellis_server_retries_total";
        text.family(RETRIES, "Requests that were sent again, by reason.", "counter");
        for (name, series) in &servers {
            series.retries.each(|reason, count| {
                text.sample(RETRIES, &[("name", name.as_str()), ("reason", reason)], count);
            });
        }
        const UNAVAILABLE: &str = "aggregator_unavailable_apiservice_total";
        text.family(
            UNAVAILABLE,
            "Requests which got no answer from their server broken down by registration name and reason.",
            "counter",
        );
        for (name, series) in &servers {
            series.failures.each(|reason, count| {
                text.sample(UNAVAILABLE, &[("name", name.as_str()), ("reason", reason)], count);
            });
        }
    }
}
