//! Metrics under upstream's names, through handles resolved once.
//!
//! A request touches atomics alone: its series is found in an immutable table, which is replaced when a
//! new combination of labels is seen. The number of combinations is bounded, and only an answer that
//! was no error makes a new one, so that nobody fills the table with invented paths.

mod exposition;
mod histogram;
mod labels;
mod process;
mod request;
mod server;

use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicU64, Ordering},
};

use catalog::{HealthReport, ServerName};
use kube_wire::request_info::RequestInfo;

pub(crate) use request::RequestMetrics;
pub(crate) use server::ServerMetrics;

use exposition::Exposition;

/// The `Content-Type` of the text that Prometheus reads.
pub(crate) const CONTENT_TYPE: &str = exposition::CONTENT_TYPE;

/// A counter, incremented from anywhere.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts `number` more.
    pub fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    /// How many were counted.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that goes up and down.
#[derive(Debug, Default)]
pub(crate) struct Level(AtomicI64);

impl Level {
    pub(crate) fn add(&self, delta: i64) {
        self.0.fetch_add(delta, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// All series of one gateway. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Metrics {
    requests: Arc<request::Requests>,
    servers: Arc<server::Servers>,
    audit: Arc<AuditCounters>,
}

/// What became of audit events.
#[derive(Debug, Default)]
pub(crate) struct AuditCounters {
    /// Written.
    pub(crate) events: Counter,
    /// Lost because the queue was full or the file could not be written.
    pub(crate) errors: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        process::note_start();
        Self { requests: Arc::default(), servers: Arc::default(), audit: Arc::default() }
    }
}

impl Metrics {
    /// A request begins. `long_running`: watch, exec, log and the like.
    pub(crate) fn begin(&self, info: &RequestInfo<'_>, long_running: bool) -> RequestMetrics {
        self.requests.begin(info, long_running)
    }

    /// The series of one backend; resolved once for each pool.
    pub(crate) fn server(&self, name: &ServerName) -> ServerMetrics {
        self.servers.of(name)
    }

    /// What became of audit events.
    pub(crate) fn audit(&self) -> Arc<AuditCounters> {
        self.audit.clone()
    }

    /// Everything in the text format of Prometheus. Backends that are gone are left out.
    pub(crate) fn render(&self, health: &HealthReport, generation: u64) -> String {
        let mut text = Exposition::default();
        self.requests.render(&mut text);
        self.servers.render(&mut text, health);
        render_health(&mut text, health);
        text.gauge(
            "trellis_catalog_generation",
            "Number of the catalog snapshot in use; higher with each change.",
            generation,
        );
        text.counter("apiserver_audit_event_total", "Audit events written.", self.audit.events.get());
        text.family("apiserver_audit_error_total", "Audit events that were lost.", "counter");
        text.sample("apiserver_audit_error_total", &[("plugin", "log")], self.audit.errors.get());
        process::render(&mut text);
        text.finish()
    }
}

/// Gauges that are read from the health report when they are asked for.
fn render_health(text: &mut Exposition, health: &HealthReport) {
    const UNAVAILABLE: &str = "aggregator_unavailable_apiservice";
    text.family(
        UNAVAILABLE,
        "Gauge of registrations which are marked as unavailable broken down by name.",
        "gauge",
    );
    for server in &health.servers {
        let available = server.conditions.iter().find(|condition| condition.kind == "Available");
        let unavailable = available.is_some_and(|condition| condition.status != Some(true));
        text.sample(UNAVAILABLE, &[("name", server.name.as_str())], u64::from(unavailable));
    }
    const CONDITION: &str = "trellis_registration_condition";
    text.family(CONDITION, "Conditions of registrations: 1 for true, 0 for false, -1 for unknown.", "gauge");
    for server in &health.servers {
        for condition in &server.conditions {
            let labels = [
                ("name", server.name.as_str()),
                ("type", condition.kind),
                ("reason", condition.reason.as_str()),
            ];
            text.sample(CONDITION, &labels, condition.status.map_or(-1, i64::from));
        }
    }
    const ENDPOINTS: &str = "trellis_registration_endpoints";
    text.family(ENDPOINTS, "Endpoints of registrations, by whether they answer.", "gauge");
    for server in &health.servers {
        let failed = server.endpoints.iter().filter(|endpoint| endpoint.failure.is_some()).count();
        for (state, count) in [("failed", failed), ("ready", server.endpoints.len() - failed)] {
            text.sample(ENDPOINTS, &[("name", server.name.as_str()), ("state", state)], count);
        }
    }
}

#[cfg(test)]
mod tests;
