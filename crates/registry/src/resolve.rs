//! From a registration to a [`Server`]: files read, Services followed, Secrets fetched.

use std::{collections::HashMap, path::Path, sync::Arc};

use catalog::{
    Cause, ClientCertificate, Credentials, Endpoint, IdentityMode, Role, Roots, Secret, Server, Trust,
};

use crate::{
    candidate::Candidate,
    registration::{Address, RootsSource, SecretReference, ServicePort, ServiceReference, Spec, Target},
};

/// Largest certificate, key or token file.
const MAX_FILE: u64 = 1 << 20;

/// What registrations may refer to, as it is at the moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Environment {
    /// The door's own client certificate.
    pub(crate) client_certificate: Option<ClientCertificate>,
    /// Endpoints of Services of the core.
    pub(crate) services: HashMap<ServiceReference, ServiceState>,
    /// Secrets of the core; the error is a sentence.
    pub(crate) secrets: HashMap<SecretReference, Result<Credentials, String>>,
    /// Whether there is a core at all.
    pub(crate) has_core: bool,
}

/// What is known of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServiceState {
    /// The addresses that are ready.
    Ready(Vec<(String, u16)>),
    /// It is not there.
    Missing,
    /// It has no such port.
    NoPort,
    /// It has no EndpointSlices.
    NoSlices,
    /// No address in them is ready; carries the name of the port.
    NoAddresses(String),
    /// The core refuses to tell; carries what it said.
    Refused(String),
}

/// Why a server cannot be reached before anything is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// CamelCase, for the condition; for Services kube-aggregator's word.
    pub(crate) reason: String,
    pub(crate) message: String,
}

impl Trouble {
    fn new(reason: &str, message: impl Into<String>) -> Self {
        Self { reason: reason.to_owned(), message: message.into() }
    }

    fn credentials(message: impl Into<String>) -> Self {
        Self::new(Cause::InvalidCredentials.reason(), message)
    }
}

/// The server as it can be reached now. With trouble it has no endpoints.
pub(crate) fn resolve(
    candidate: &Candidate,
    environment: &Environment,
    revision: u64,
) -> (Server, Option<Trouble>) {
    let spec = &candidate.spec;
    let mut trouble = None;
    let mut note = |found: Trouble| {
        trouble.get_or_insert(found);
    };
    let endpoints = endpoints(spec, environment).unwrap_or_else(|found| {
        note(found);
        Vec::new()
    });
    let roots = roots(spec).unwrap_or_else(|found| {
        note(found);
        Roots::System
    });
    let credentials = credentials(spec, environment).unwrap_or_else(|found| {
        note(found);
        Credentials::default()
    });
    let server = Server {
        name: candidate.name.clone(),
        revision,
        role: Role::Federated,
        endpoints: if trouble.is_none() { endpoints } else { Vec::new() },
        base_path: spec.base_path.clone(),
        trust: Trust { roots, server_name: server_name(spec), skip_verification: spec.skip_verification },
        identity: spec.identity,
        credentials,
        limits: spec.limits.clone(),
        direct_address: spec.direct_address.clone(),
    };
    (server, trouble)
}

/// Whether connections to `old` can serve `new` as well.
pub(crate) fn same_revision(old: &Server, new: &Server) -> bool {
    old.role == new.role
        && old.base_path == new.base_path
        && old.trust == new.trust
        && old.identity == new.identity
        && old.credentials == new.credentials
        && old.limits == new.limits
        && old.direct_address == new.direct_address
}

/// Behind a Service the addresses are those of pods: the certificate is for the Service.
fn server_name(spec: &Spec) -> Option<String> {
    let of_service = || spec.service().map(|service| format!("{}.{}.svc", service.name, service.namespace));
    spec.server_name.clone().or_else(of_service)
}

fn endpoints(spec: &Spec, environment: &Environment) -> Result<Vec<Endpoint>, Trouble> {
    let service = match &spec.target {
        Target::Addresses(addresses) => {
            let network = |Address { tls, host, port }: &Address| Endpoint::Network {
                tls: *tls,
                host: host.clone(),
                port: *port,
            };
            return Ok(addresses.iter().map(network).collect());
        }
        Target::Service(service) => service,
    };
    let object = format!("service/{} in {:?}", service.name, service.namespace);
    let port = match &service.port {
        ServicePort::Number(port) => port.to_string(),
        ServicePort::Name(name) => format!("{name:?}"),
    };
    match environment.services.get(service) {
        Some(ServiceState::Ready(addresses)) => Ok(addresses
            .iter()
            .map(|(host, port)| Endpoint::Network { tls: true, host: host.clone(), port: *port })
            .collect()),
        None if !environment.has_core => Err(Trouble::new(
            "ServiceNotFound",
            format!(
                "{object} cannot be looked up: the door runs without a core. Register the server by its URL with an APIServer object"
            ),
        )),
        None => Err(Trouble::new("EndpointsAccessError", format!("{object} has not been looked up yet"))),
        Some(ServiceState::Missing) => {
            Err(Trouble::new("ServiceNotFound", format!("{object} is not present")))
        }
        Some(ServiceState::NoPort) => {
            Err(Trouble::new("ServicePortError", format!("{object} is not listening on port {port}")))
        }
        Some(ServiceState::NoSlices) => {
            Err(Trouble::new("EndpointsNotFound", format!("cannot find endpointslices for {object}")))
        }
        Some(ServiceState::NoAddresses(name)) => Err(Trouble::new(
            "MissingEndpoints",
            format!("endpoints for {object} have no addresses with port name {name:?}"),
        )),
        Some(ServiceState::Refused(why)) => {
            Err(Trouble::new("ServiceAccessError", format!("{object} cannot be accessed due to: {why}")))
        }
    }
}

fn roots(spec: &Spec) -> Result<Roots, Trouble> {
    match &spec.roots {
        RootsSource::System => Ok(Roots::System),
        RootsSource::Bundle(pem) => Ok(Roots::Pem(Arc::clone(pem))),
        RootsSource::File(path) => Ok(Roots::Pem(read(path)?.into())),
    }
}

fn credentials(spec: &Spec, environment: &Environment) -> Result<Credentials, Trouble> {
    let source = &spec.credentials;
    if let Some(secret) = &source.secret {
        let name = format!("Secret {}/{}", secret.namespace, secret.name);
        return match environment.secrets.get(secret) {
            Some(Ok(credentials)) => Ok(credentials.clone()),
            Some(Err(why)) => Err(Trouble::credentials(format!("{name}: {why}"))),
            None if environment.has_core => {
                Err(Trouble::credentials(format!("{name} has not been read yet")))
            }
            None => Err(Trouble::credentials(format!(
                "{name} cannot be read: the door runs without a core. Name files in the watched directory instead"
            ))),
        };
    }
    let mut credentials = Credentials::default();
    if let Some(files) = &source.certificate {
        let (chain, key) = (read(&files.chain)?.into(), Secret::new(read(&files.key)?));
        credentials.client_certificate = Some(ClientCertificate { chain, key });
    }
    if let Some(path) = &source.token_file {
        let token = read(path)?;
        credentials.bearer_token = Some(Secret::new(token.trim_ascii()));
    }
    // The pair that makes servers believe `X-Remote-*` belongs to the mode that needs it.
    let own = spec.identity == IdentityMode::RequestHeader && credentials.client_certificate.is_none();
    if own {
        credentials.client_certificate.clone_from(&environment.client_certificate);
    }
    Ok(credentials)
}

fn read(path: &Path) -> Result<Vec<u8>, Trouble> {
    let failed = |why: String| {
        let message = format!("{}: {why}. Correct the path or the file's permissions", path.display());
        Trouble::credentials(message)
    };
    let length = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if length > MAX_FILE {
        return Err(failed(format!("is {length} bytes long, more than {MAX_FILE}")));
    }
    std::fs::read(path).map_err(|error| failed(error.to_string()))
}
