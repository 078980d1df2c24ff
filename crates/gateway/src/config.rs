//! What a gateway is made of.

use std::sync::Arc;

use catalog::{Documents, HealthReport};
use tokio::sync::watch;

use crate::{
    Backends, Check, Limits, audit::Audit, authn::Authenticator, authz::Authorizer, metrics::Metrics,
};

/// The parts that the binary wires together.
pub struct Config {
    /// The backends, with the catalog that requests are routed by.
    pub backends: Arc<Backends>,
    /// How the backends are, for the health endpoint.
    pub health: watch::Receiver<Arc<HealthReport>>,
    /// Where OpenAPI documents are kept.
    pub documents: Arc<dyn Documents>,
    /// Who is who.
    pub authenticator: Arc<Authenticator>,
    /// Who may act as whom.
    pub authorizer: Authorizer,
    /// The series that `/metrics` shows; the same as the backends have.
    pub metrics: Arc<Metrics>,
    /// Where audit lines go.
    pub audit: Audit,
    /// What clients may cost.
    pub limits: Limits,
    /// What must be in order for `/healthz` and `/readyz`, beside the gateway itself.
    pub checks: Vec<Check>,
    /// Summarise discovery, and pass nothing on.
    pub discovery_only: bool,
}
