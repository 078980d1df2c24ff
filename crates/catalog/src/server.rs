//! A backend of the door as plain data: where it is, how it is trusted, how identity travels.

use std::{fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{Secret, Service};

/// Name of a backend, unique in a catalog: `core`, or the name of a registration.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServerName(Arc<str>);

impl ServerName {
    /// The name that only the core has; no registration may take it.
    pub const CORE: &'static str = "core";

    /// The name `name`, as a registration or the core bears it.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// What a backend is to the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Owns namespaces, RBAC and quota, and every path that nobody registered.
    Core,
    /// Owns the groups it was given, nothing else.
    Federated,
}

/// One backend, as resolved from its registration. Never changed in place: a change makes a new value.
#[derive(Clone, Debug)]
pub struct Server {
    /// Unique name.
    pub name: ServerName,
    /// Differs whenever anything but `endpoints` differs; connections are kept per name and revision.
    pub revision: u64,
    /// Core or federated.
    pub role: Role,
    /// Where it listens; empty when no endpoint is known (for instance a Service without endpoints).
    pub endpoints: Vec<Endpoint>,
    /// Path prefix of its base URL, without trailing slash: `""` or `/prefix`.
    pub base_path: String,
    /// How its certificate is checked.
    pub trust: Trust,
    /// How the caller's identity reaches it.
    pub identity: IdentityMode,
    /// What the door shows of itself.
    pub credentials: Credentials,
    /// What it may be asked to carry.
    pub limits: Limits,
    /// Address put into `serverAddressByClientCIDRs` (`host:port`), when clients may go there directly.
    pub direct_address: Option<String>,
}

/// One place where a backend answers.
#[derive(Clone)]
pub enum Endpoint {
    /// Over the network.
    Network {
        /// TLS, or clear text (loopback only; checked when the registration is read).
        tls: bool,
        /// IP address or DNS name.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// In this process, for a backend that is part of the binary.
    InProcess(Arc<dyn Service>),
}

impl Endpoint {
    /// `host:port` (IPv6 in brackets), or `in-process`. For logs and status, never for answers to clients.
    pub fn address(&self) -> String {
        match self {
            Self::Network { host, port, .. } if host.contains(':') => format!("[{host}]:{port}"),
            Self::Network { host, port, .. } => format!("{host}:{port}"),
            Self::InProcess(_) => "in-process".to_owned(),
        }
    }
}

impl PartialEq for Endpoint {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Network { tls, host, port },
                Self::Network { tls: other_tls, host: other_host, port: other_port },
            ) => tls == other_tls && host == other_host && port == other_port,
            (Self::InProcess(a), Self::InProcess(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address())
    }
}

/// How a backend's serving certificate is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    /// The certificate authorities that may have signed it.
    pub roots: Roots,
    /// Name expected in the certificate and sent as SNI, when it is not the endpoint's host.
    pub server_name: Option<String>,
    /// `insecureSkipTLSVerify` of an APIService: nothing is checked.
    pub skip_verification: bool,
}

/// Certificate authorities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Roots {
    /// Those of the operating system.
    System,
    /// A PEM bundle, as read when the server was resolved.
    Pem(Arc<[u8]>),
}

/// How the caller's identity reaches a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityMode {
    /// `X-Remote-*` headers, trusted for the door's client certificate.
    RequestHeader,
    /// `Impersonate-*` headers under the door's own credentials.
    Impersonate,
    /// The caller's own bearer token, untouched.
    PassThrough,
}

/// What the door shows of itself to a backend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// Client certificate chain and key, PEM.
    pub client_certificate: Option<ClientCertificate>,
    /// Bearer token.
    pub bearer_token: Option<Secret>,
}

/// A client certificate with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// PEM chain, leaf first.
    pub chain: Arc<[u8]>,
    /// PEM private key.
    pub key: Secret,
}

/// What one backend may be asked to carry. A request over a limit is refused for that backend alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections to each endpoint. Over HTTP/1.1, where a watch has a connection for itself, those that
    /// carry one are not counted here, but against sixteen times this number.
    pub max_connections: usize,
    /// Requests in flight, long-running ones not counted.
    pub max_in_flight: usize,
    /// Bytes of a request body; none: unlimited, as upstream's proxy.
    pub max_body_bytes: Option<u64>,
    /// Until a connection must stand, TLS included.
    pub connect_timeout: Duration,
    /// Until an ordinary request must be answered (upstream: `--request-timeout`, 60 s).
    pub request_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 64,
            max_in_flight: 1000,
            max_body_bytes: None,
            connect_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(60),
        }
    }
}
