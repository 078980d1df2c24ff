//! How the backends are, as published beside the catalog; and what the data path tells in return.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use crate::{Failure, ServerName};

/// The state of every backend at one moment.
#[derive(Clone, Debug, Default)]
pub struct HealthReport {
    /// One entry for each backend, by name. Reports share the entries that did not change between them.
    pub servers: Vec<Arc<ServerHealth>>,
}

/// The state of one backend.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerHealth {
    /// Its name.
    pub name: ServerName,
    /// Where its registration comes from: `APIServer`, `APIService`, `File` or `Core`.
    pub source: &'static str,
    /// Conditions in the form of `metav1.Condition`.
    pub conditions: Vec<Condition>,
    /// One entry for each endpoint.
    pub endpoints: Vec<EndpointHealth>,
    /// `group/version` of everything that it serves through the door.
    pub group_versions: Vec<String>,
    /// The last discovery that succeeded.
    pub last_discovery: Moment,
}

impl ServerHealth {
    /// A backend of which nothing is known yet.
    pub fn unknown(name: ServerName) -> Self {
        Self {
            name,
            source: "",
            conditions: Vec::new(),
            endpoints: Vec::new(),
            group_versions: Vec::new(),
            last_discovery: Moment::default(),
        }
    }
}

/// A condition of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// `Available`, `Conflict`, `Degraded`, `IdentityRejected` or `CertificateExpiring`.
    pub kind: &'static str,
    /// True, false, or not known (none).
    pub status: Option<bool>,
    /// CamelCase reason.
    pub reason: String,
    /// A sentence, with what to do about it.
    pub message: String,
    /// RFC 3339 time of the last change of `status`.
    pub last_transition: String,
}

/// The state of one endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointHealth {
    /// `host:port`.
    pub address: String,
    /// The last failure; none when it answered.
    pub failure: Option<Failure>,
    /// The last probe.
    pub last_probe: Moment,
}

/// A time that goes on being renewed while a report that holds it is read: hundreds of servers that are as
/// well as a second ago make no new report.
#[derive(Clone, Debug, Default)]
pub struct Moment(Arc<AtomicI64>);

impl Moment {
    /// So many seconds after the Unix epoch; 0: never.
    pub fn at(seconds: i64) -> Self {
        Self(Arc::new(AtomicI64::new(seconds)))
    }

    /// Renews it, everywhere it is held.
    pub fn set(&self, seconds: i64) {
        self.0.store(seconds, Ordering::Relaxed);
    }

    /// Seconds since the Unix epoch; none: never.
    pub fn seconds(&self) -> Option<i64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|seconds| *seconds > 0)
    }

    /// In RFC 3339.
    pub fn text(&self) -> Option<String> {
        self.seconds().map(kube_wire::object::time::format)
    }
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.seconds() == other.seconds()
    }
}

/// What the data path saw of a backend.
#[derive(Clone, Debug)]
pub enum Observation {
    /// A request could not be carried out at this endpoint.
    Failed {
        /// `host:port`.
        endpoint: String,
        /// Why.
        failure: Failure,
    },
    /// It answered.
    Answered {
        /// `host:port`.
        endpoint: String,
    },
}

/// Told by the data path when an endpoint's state changes; must return at once.
pub trait Observer: Send + Sync {
    /// Takes note.
    fn observe(&self, server: &ServerName, observation: Observation);
}
