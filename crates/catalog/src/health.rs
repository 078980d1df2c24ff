//! How the backends are, as published beside the catalog; and what the data path tells in return.

use crate::{Failure, ServerName};

/// The state of every backend at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HealthReport {
    /// One entry for each backend, by name.
    pub servers: Vec<ServerHealth>,
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
    /// RFC 3339 time of the last discovery that succeeded.
    pub last_discovery: Option<String>,
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
    /// RFC 3339 time of the last probe.
    pub last_probe: Option<String>,
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
