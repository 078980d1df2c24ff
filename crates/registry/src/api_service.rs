//! `apiregistration.k8s.io/v1` APIServices, as the projects that need them ship them.

use std::sync::Arc;

use crate::registration::ServiceReference;

/// API group of the kind `APIService`.
pub const GROUP: &str = "apiregistration.k8s.io";
/// Its version.
pub const VERSION: &str = "v1";
/// The kind.
pub const KIND: &str = "APIService";
/// Its plural, as in paths.
pub const PLURAL: &str = "apiservices";
/// Label with which kube-apiserver marks the APIServices that it makes for its own groups.
pub const AUTOMANAGED_LABEL: &str = "kube-aggregator.kubernetes.io/automanaged";

/// A valid spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiServiceSpec {
    /// API group; empty for the legacy group.
    pub group: String,
    /// API version.
    pub version: String,
    /// The Service that serves it; none when the core does.
    pub service: Option<ServiceReference>,
    /// PEM of the authorities that signed the server's certificate.
    pub ca_bundle: Option<Arc<[u8]>>,
    /// Whether the server's certificate is not checked at all.
    pub insecure_skip_tls_verify: bool,
    /// Rank of the group.
    pub group_priority: i32,
    /// Rank of the version within the group.
    pub version_priority: i32,
}
