//! What an administrator writes to make an API server known: the spec of kind `APIServer`.

use std::{path::PathBuf, sync::Arc};

use catalog::{IdentityMode, Limits};

/// API group of the kind `APIServer`.
pub const GROUP: &str = "federation.trellis.dev";
/// Its version.
pub const VERSION: &str = "v1alpha1";
/// The kind.
pub const KIND: &str = "APIServer";
/// Its plural, as in paths.
pub const PLURAL: &str = "apiservers";

/// `groupPriorityMinimum` when a registration does not say.
pub const DEFAULT_GROUP_PRIORITY: i32 = 1000;
/// `versionPriority` when a registration does not say.
pub const DEFAULT_VERSION_PRIORITY: i32 = 15;

/// A valid spec, defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Where the server is.
    pub target: Target,
    /// Path prefix below which its API starts: `""` or `/prefix`.
    pub base_path: String,
    /// Which authorities may have signed its certificate.
    pub roots: RootsSource,
    /// Name expected in its certificate, when it is not the host of the URL.
    pub server_name: Option<String>,
    /// `insecureSkipTLSVerify`; only an APIService can say so.
    pub skip_verification: bool,
    /// What the door shows of itself.
    pub credentials: CredentialSource,
    /// Where its OpenAPI documents are.
    pub openapi: OpenApiPaths,
    /// How the caller's identity travels.
    pub identity: IdentityMode,
    /// Rank of its groups.
    pub group_priority: i32,
    /// Rank of its versions.
    pub version_priority: i32,
    /// What it may be asked to carry.
    pub limits: Limits,
    /// `host:port` at which clients may reach it directly.
    pub direct_address: Option<String>,
}

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Addresses known from the registration itself: one for a URL, several for `endpoints`.
    Addresses(Vec<Address>),
    /// A Service of the core, followed to its endpoints.
    Service(ServiceReference),
}

/// One address of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// TLS, or clear text (loopback only).
    pub tls: bool,
    /// IP address (IPv6 without brackets) or DNS name.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

/// A Service of the core.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServiceReference {
    /// Namespace of the Service.
    pub namespace: String,
    /// Name of the Service.
    pub name: String,
    /// Which of its ports.
    pub port: ServicePort,
}

/// A port of a Service, as a registration names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ServicePort {
    /// `spec.ports[].port`.
    Number(u16),
    /// `spec.ports[].name`.
    Name(String),
}

/// Where the certificate authorities come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootsSource {
    /// Those of the operating system.
    System,
    /// PEM written into the registration.
    Bundle(Arc<[u8]>),
    /// A PEM file on the door's host, read again when it changes.
    File(PathBuf),
}

/// Where the door's credentials towards a server come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CredentialSource {
    /// Client certificate chain and key files.
    pub certificate: Option<CertificateFiles>,
    /// File with a bearer token.
    pub token_file: Option<PathBuf>,
    /// A Secret of the core with `tls.crt` and `tls.key`, or `token`.
    pub secret: Option<SecretReference>,
}

/// Client certificate files on the door's host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// PEM chain, leaf first.
    pub chain: PathBuf,
    /// PEM private key.
    pub key: PathBuf,
}

/// A Secret of the core.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SecretReference {
    /// Namespace of the Secret.
    pub namespace: String,
    /// Name of the Secret.
    pub name: String,
}

/// Where the OpenAPI documents of a server are, below its base path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenApiPaths {
    /// Swagger 2.0 document.
    pub v2: String,
    /// Index of the OpenAPI v3 documents.
    pub v3: String,
}

impl Default for OpenApiPaths {
    fn default() -> Self {
        Self { v2: "/openapi/v2".to_owned(), v3: "/openapi/v3".to_owned() }
    }
}

impl Spec {
    /// The host files that this spec names: they are watched, and only some sources may name any.
    pub fn files(&self) -> Vec<&PathBuf> {
        let mut files = Vec::new();
        if let RootsSource::File(path) = &self.roots {
            files.push(path);
        }
        if let Some(certificate) = &self.credentials.certificate {
            files.extend([&certificate.chain, &certificate.key]);
        }
        files.extend(&self.credentials.token_file);
        files
    }

    /// The Service whose endpoints it follows.
    pub fn service(&self) -> Option<&ServiceReference> {
        match &self.target {
            Target::Service(service) => Some(service),
            Target::Addresses(_) => None,
        }
    }
}
