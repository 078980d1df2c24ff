//! What the binary tells the registry.

use std::{path::PathBuf, time::Duration};

use catalog::ClientCertificate;
use kube_wire::{UserInfo, identity};
use tokio::sync::watch;

/// The user as which the door asks for discovery on its own account.
pub const PROBE_USER: &str = "system:trellis";

/// Everything that [`Registry::start`](crate::Registry::start) needs.
#[derive(Clone, Debug)]
pub struct Config {
    /// Folder for registrations, last good copies and documents. Made when it is missing.
    pub state: PathBuf,
    /// Directory with registrations as YAML or JSON files.
    pub registrations: Option<PathBuf>,
    /// The core, when there is one.
    pub core: Option<CoreConfig>,
    /// The door's own client certificate, shown to servers that are registered without one of their own.
    /// A new value is used for new connections.
    pub client_certificate: watch::Receiver<Option<ClientCertificate>>,
    /// Who the door says it is when it asks servers for discovery. Upstream's aggregator asks as a
    /// member of `system:masters`, so that no server has to grant it anything.
    pub probe_user: UserInfo,
    /// How servers are asked.
    pub polling: Polling,
}

impl Config {
    /// State in this folder, nothing else: no directory, no core, no certificate.
    pub fn new(state: impl Into<PathBuf>) -> Self {
        Self {
            state: state.into(),
            registrations: None,
            core: None,
            client_certificate: watch::channel(None).1,
            probe_user: UserInfo::new(PROBE_USER, [identity::MASTERS_GROUP, identity::AUTHENTICATED_GROUP]),
            polling: Polling::default(),
        }
    }
}

/// Where the core is and what is done with it.
#[derive(Clone, Debug)]
pub struct CoreConfig {
    /// Kubeconfig with the door's credentials.
    pub kubeconfig: PathBuf,
    /// Context in it; none: its current one.
    pub context: Option<String>,
    /// The core's own front-proxy pair. With it the caller's identity travels in request headers,
    /// without it by impersonation with the kubeconfig's credentials.
    pub proxy_client: Option<ProxyClientFiles>,
    /// Whether the door routes APIServices to their endpoints itself. Otherwise they are left to the core.
    pub adopt_api_services: bool,
    /// Whether the CustomResourceDefinition of `APIServer` is installed at start.
    pub install_crds: bool,
}

/// PEM files of a front-proxy client certificate; read again when they change.
#[derive(Clone, Debug)]
pub struct ProxyClientFiles {
    /// Certificate chain.
    pub certificate: PathBuf,
    /// Private key.
    pub key: PathBuf,
}

/// How often servers are asked, and how much they may answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polling {
    /// Between two conditional requests for the list of groups of a healthy server.
    pub discovery: Duration,
    /// Between two looks at the index of its OpenAPI v3 documents, when its groups do not change.
    pub openapi: Duration,
    /// Between two conditional requests for its OpenAPI v2 document.
    pub openapi_v2: Duration,
    /// Longest pause after failures; the first one is a tenth of a second.
    pub longest_pause: Duration,
    /// Until the head of an answer must be there.
    pub head_timeout: Duration,
    /// Until a discovery document must be there.
    pub discovery_timeout: Duration,
    /// Until an OpenAPI document must be there.
    pub openapi_timeout: Duration,
    /// Largest discovery document of a federated server, in bytes.
    pub discovery_bytes: usize,
    /// Largest OpenAPI document of a federated server, in bytes.
    pub openapi_bytes: usize,
    /// How long before its end a certificate counts as expiring.
    pub expiry_warning: Duration,
}

impl Default for Polling {
    fn default() -> Self {
        Self {
            discovery: Duration::from_millis(900),
            openapi: Duration::from_secs(15),
            openapi_v2: Duration::from_secs(60),
            longest_pause: Duration::from_secs(5),
            head_timeout: Duration::from_secs(5),
            discovery_timeout: Duration::from_secs(10),
            openapi_timeout: Duration::from_secs(30),
            discovery_bytes: 8 << 20,
            openapi_bytes: 16 << 20,
            expiry_warning: Duration::from_secs(14 * 24 * 3600),
        }
    }
}
