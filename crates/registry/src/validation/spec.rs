//! The spec of an `APIServer`.

use std::{path::PathBuf, sync::Arc, time::Duration};

use base64::Engine as _;
use catalog::{IdentityMode, Limits, ServerName};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use serde_json::Value;

use super::{
    Problems, address,
    fields::{Fields, nearest},
    scalars::{dns_1035_problem, label_problem, parse_duration, subdomain_problem, within},
};
use crate::registration::{
    CertificateFiles, CredentialSource, DEFAULT_GROUP_PRIORITY, DEFAULT_VERSION_PRIORITY, OpenApiPaths,
    RootsSource, SecretReference, ServicePort, ServiceReference, Spec, Target,
};

/// Name of the backend that serves registrations themselves.
pub(crate) const RESERVED_NAME: &str = "registrations";
/// Most endpoints in one registration.
const MAX_ENDPOINTS: usize = 256;
/// Longest CA bundle, in bytes of PEM.
const MAX_BUNDLE: usize = 1 << 20;
/// The longest timeout that can be asked for.
const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

/// Checks the name of a registration.
pub fn check_name(field: &str, name: &str, problems: &mut Problems) {
    if name.is_empty() {
        problems.required(field, "a registration has a name");
    } else if name == ServerName::CORE || name == RESERVED_NAME {
        problems.invalid(field, &Value::from(name), "this name is reserved");
    } else if let Some(reason) = subdomain_problem(name) {
        problems.invalid(field, &Value::from(name), reason);
    }
}

/// Reads the spec of an `APIServer`. With problems in it the result is of no use.
pub fn check_spec(value: Option<&Value>, problems: &mut Problems) -> Option<Spec> {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        problems.required("spec", "say where the server is: spec.url, spec.endpoints or spec.service");
        return None;
    };
    let mut spec = Fields::of("spec", value, problems);
    let (target, base_path) = target(&mut spec, problems);
    let roots = roots(&mut spec, problems);
    let server_name = server_name(&mut spec, problems);
    let credentials = credentials(&mut spec, problems);
    let openapi = openapi_paths(&mut spec, problems);
    let identity = identity(&mut spec, problems);
    let group_priority = priority(&mut spec, "groupPriorityMinimum", 20_000, problems);
    let version_priority = priority(&mut spec, "versionPriority", 1000, problems);
    let limits = limits(&mut spec, problems);
    let direct_address = direct(&mut spec, target.as_ref(), problems);
    spec.finish(problems);
    Some(Spec {
        target: target?,
        base_path,
        roots,
        server_name,
        skip_verification: false,
        credentials,
        openapi,
        identity,
        group_priority: group_priority.unwrap_or(DEFAULT_GROUP_PRIORITY),
        version_priority: version_priority.unwrap_or(DEFAULT_VERSION_PRIORITY),
        limits,
        direct_address,
    })
}

fn target(spec: &mut Fields<'_>, problems: &mut Problems) -> (Option<Target>, String) {
    let url = spec.text("url", problems);
    let endpoints = spec.list("endpoints", problems);
    let service = spec.object("service", problems);
    let path = spec.text("path", problems);
    let given =
        usize::from(url.is_some()) + usize::from(endpoints.is_some()) + usize::from(service.is_some());
    if given == 0 {
        problems.required("spec.url", "say where the server is: spec.url, spec.endpoints or spec.service");
    } else if given > 1 {
        problems.forbidden("spec", "only one of url, endpoints and service may be given");
    }
    let mut base_path =
        path.and_then(|path| address::base_path("spec.path", path, problems)).unwrap_or_default();
    let from_url = url.and_then(|url| address::base_url("spec.url", url, problems));
    let target = if let Some(url) = from_url {
        if !url.path.is_empty() && path.is_some() {
            problems.forbidden("spec.path", "the path already stands in spec.url");
        } else if !url.path.is_empty() {
            base_path = url.path;
        }
        Some(Target::Addresses(vec![url.address]))
    } else if let Some(endpoints) = endpoints {
        self::endpoints(endpoints, problems)
    } else {
        service.and_then(|service| service_reference(service, problems)).map(Target::Service)
    };
    (target, base_path)
}

fn endpoints(list: &[Value], problems: &mut Problems) -> Option<Target> {
    if list.is_empty() {
        problems.required("spec.endpoints", "at least one host:port");
        return None;
    }
    if list.len() > MAX_ENDPOINTS {
        problems.invalid(
            "spec.endpoints",
            &Value::from(list.len()),
            format!("must have at most {MAX_ENDPOINTS} items"),
        );
        return None;
    }
    let mut addresses = Vec::with_capacity(list.len());
    for (index, value) in list.iter().enumerate() {
        let field = format!("spec.endpoints[{index}]");
        let Some(text) = value.as_str() else {
            problems.invalid(&field, value, "must be a string such as host:port");
            continue;
        };
        let Some(found) = address::endpoint(&field, text, problems) else { continue };
        if addresses.contains(&found) {
            problems.report(&field, super::ProblemKind::Duplicate(value.to_string()), "", None);
        }
        addresses.push(found);
    }
    Some(Target::Addresses(addresses))
}

fn service_reference(mut service: Fields<'_>, problems: &mut Problems) -> Option<ServiceReference> {
    let namespace = service.required_text("namespace", "the namespace of the Service", problems);
    let name = service.required_text("name", "the name of the Service", problems);
    if let Some(reason) = namespace.and_then(label_problem) {
        problems.invalid(&service.path("namespace"), &Value::from(namespace), reason);
    }
    if let Some(reason) = name.and_then(dns_1035_problem) {
        problems.invalid(&service.path("name"), &Value::from(name), reason);
    }
    let field = service.path("port");
    let port = match service.get("port") {
        None => Some(ServicePort::Number(443)),
        Some(Value::String(name)) => match label_problem(name) {
            None => Some(ServicePort::Name(name.clone())),
            Some(reason) => {
                problems.invalid(&field, &Value::from(name.as_str()), reason);
                None
            }
        },
        Some(value) => {
            match value.as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0) {
                Some(port) => Some(ServicePort::Number(port)),
                None => {
                    problems.invalid(
                        &field,
                        value,
                        "must be a port number between 1 and 65535, or a port's name",
                    );
                    None
                }
            }
        }
    };
    service.finish(problems);
    Some(ServiceReference { namespace: namespace?.to_owned(), name: name?.to_owned(), port: port? })
}

fn roots(spec: &mut Fields<'_>, problems: &mut Problems) -> RootsSource {
    let bundle = spec.text("caBundle", problems);
    let file = spec.text("caFile", problems);
    let system = spec.boolean("systemRoots", problems);
    if usize::from(bundle.is_some()) + usize::from(file.is_some()) + usize::from(system == Some(true)) > 1 {
        problems.forbidden("spec", "only one of caBundle, caFile and systemRoots may be given");
    }
    if let Some(pem) = bundle.and_then(|text| ca_bundle("spec.caBundle", text, problems)) {
        return RootsSource::Bundle(pem);
    }
    match file.and_then(|path| host_file("spec.caFile", path, problems)) {
        Some(path) => RootsSource::File(path),
        None => RootsSource::System,
    }
}

/// Decodes a base64 CA bundle and makes sure that there is a certificate in it.
pub(super) fn ca_bundle(field: &str, text: &str, problems: &mut Problems) -> Option<Arc<[u8]>> {
    let shown = Value::from(format!("({} characters)", text.len()));
    if text.trim_start().starts_with("-----BEGIN") {
        problems.invalid_but(
            field,
            &shown,
            "is the PEM itself",
            "write its base64 form, as `base64 -w0 ca.crt` prints it",
        );
        return None;
    }
    let compact: String = text.split_ascii_whitespace().collect();
    let Ok(pem) = base64::engine::general_purpose::STANDARD.decode(compact) else {
        problems.invalid(field, &shown, "is not base64");
        return None;
    };
    if pem.len() > MAX_BUNDLE {
        problems.invalid(field, &shown, "must be at most 1 MiB of PEM");
        return None;
    }
    match certificates_in(&pem) {
        Ok(0) => problems.invalid(field, &shown, "holds no PEM block of type CERTIFICATE"),
        Ok(_) => return Some(pem.into()),
        Err(error) => problems.invalid(field, &shown, format!("is no readable PEM: {error}")),
    }
    None
}

fn certificates_in(pem: &[u8]) -> Result<usize, String> {
    let mut count = 0;
    for certificate in CertificateDer::pem_slice_iter(pem) {
        certificate.map_err(|error| error.to_string())?;
        count += 1;
    }
    Ok(count)
}

fn server_name(spec: &mut Fields<'_>, problems: &mut Problems) -> Option<String> {
    let name = spec.text("serverName", problems)?;
    if rustls::pki_types::ServerName::try_from(name).is_err() {
        problems.invalid("spec.serverName", &Value::from(name), "must be a DNS name or an IP address");
        return None;
    }
    Some(name.to_owned())
}

fn credentials(spec: &mut Fields<'_>, problems: &mut Problems) -> CredentialSource {
    let Some(mut credentials) = spec.object("credentials", problems) else {
        return CredentialSource::default();
    };
    let chain = credentials.text("certificateFile", problems);
    let key = credentials.text("keyFile", problems);
    let token = credentials.text("tokenFile", problems);
    let secret = credentials.object("secretRef", problems);
    if chain.is_some() != key.is_some() {
        let missing = if chain.is_some() { "keyFile" } else { "certificateFile" };
        problems.required(&credentials.path(missing), "certificateFile and keyFile belong together");
    }
    let secret_given = secret.is_some();
    if secret_given && (chain.is_some() || token.is_some()) {
        problems.forbidden("spec.credentials.secretRef", "give either files or a Secret");
    }
    let secret = secret.and_then(|mut secret| {
        let namespace = secret.required_text("namespace", "the namespace of the Secret", problems);
        let name = secret.required_text("name", "the name of the Secret", problems);
        secret.finish(problems);
        Some(SecretReference { namespace: namespace?.to_owned(), name: name?.to_owned() })
    });
    let chain = chain.and_then(|path| host_file(&credentials.path("certificateFile"), path, problems));
    let key = key.and_then(|path| host_file(&credentials.path("keyFile"), path, problems));
    let token_file = token.and_then(|path| host_file(&credentials.path("tokenFile"), path, problems));
    credentials.finish(problems);
    CredentialSource {
        certificate: chain.zip(key).map(|(chain, key)| CertificateFiles { chain, key }),
        token_file,
        secret,
    }
}

fn host_file(field: &str, path: &str, problems: &mut Problems) -> Option<PathBuf> {
    if path.starts_with('/') {
        return Some(PathBuf::from(path));
    }
    problems.invalid(field, &Value::from(path), "must be an absolute path on the door's host");
    None
}

fn openapi_paths(spec: &mut Fields<'_>, problems: &mut Problems) -> OpenApiPaths {
    let mut paths = OpenApiPaths::default();
    let Some(mut fields) = spec.object("openAPI", problems) else { return paths };
    for (field, slot) in [("v2Path", &mut paths.v2), ("v3Path", &mut paths.v3)] {
        let Some(text) = fields.text(field, problems) else { continue };
        if let Some(path) = address::base_path(&fields.path(field), text, problems) {
            *slot = path;
        }
    }
    fields.finish(problems);
    paths
}

fn identity(spec: &mut Fields<'_>, problems: &mut Problems) -> IdentityMode {
    const MODES: [&str; 3] = ["requestHeader", "impersonate", "passThrough"];
    match spec.text("identity", problems) {
        None | Some("requestHeader") => IdentityMode::RequestHeader,
        Some("impersonate") => IdentityMode::Impersonate,
        Some("passThrough") => IdentityMode::PassThrough,
        Some(other) => {
            let suggestion = nearest(other, &MODES).map(|mode| format!("did you mean {mode:?}?"));
            problems.report(
                "spec.identity",
                super::ProblemKind::Invalid(super::shown(&Value::from(other))),
                "must be one of requestHeader, impersonate, passThrough",
                suggestion,
            );
            IdentityMode::RequestHeader
        }
    }
}

fn priority(spec: &mut Fields<'_>, field: &'static str, most: i64, problems: &mut Problems) -> Option<i32> {
    let value = spec.integer(field, problems)?;
    within(&spec.path(field), value, 1..=most, problems).and_then(|value| i32::try_from(value).ok())
}

fn limits(spec: &mut Fields<'_>, problems: &mut Problems) -> Limits {
    let mut limits = Limits::default();
    let Some(mut fields) = spec.object("limits", problems) else { return limits };
    let mut number = |field: &'static str, most: i64, fields: &mut Fields<'_>| {
        let value = fields.integer(field, problems)?;
        within(&fields.path(field), value, 1..=most, problems)
    };
    let size = |number: i64| usize::try_from(number).ok();
    if let Some(connections) = number("connections", 10_000, &mut fields).and_then(size) {
        limits.max_connections = connections;
    }
    if let Some(requests) = number("requestsInFlight", 1_000_000, &mut fields).and_then(size) {
        limits.max_in_flight = requests;
    }
    if let Some(bytes) = number("bodyBytes", i64::MAX, &mut fields) {
        limits.max_body_bytes = u64::try_from(bytes).ok();
    }
    for (field, slot) in
        [("connectTimeout", &mut limits.connect_timeout), ("requestTimeout", &mut limits.request_timeout)]
    {
        if let Some(timeout) = timeout(&mut fields, field, problems) {
            *slot = timeout;
        }
    }
    fields.finish(problems);
    limits
}

fn timeout(fields: &mut Fields<'_>, field: &'static str, problems: &mut Problems) -> Option<Duration> {
    let text = fields.text(field, problems)?;
    let path = fields.path(field);
    match parse_duration(text) {
        Some(timeout) if !timeout.is_zero() && timeout <= MAX_TIMEOUT => return Some(timeout),
        Some(_) => problems.invalid(&path, &Value::from(text), "must be more than 0 and at most 1h"),
        None => {
            let reason = "must be a duration such as 5s, 500ms or 1m30s";
            problems.invalid(&path, &Value::from(text), reason);
        }
    }
    None
}

/// `direct: {}` stands for the only address of the registration itself.
fn direct(spec: &mut Fields<'_>, target: Option<&Target>, problems: &mut Problems) -> Option<String> {
    let mut direct = spec.object("direct", problems)?;
    let address = direct.text("address", problems);
    direct.finish(problems);
    if let Some(text) = address {
        return match parse_host_port_or_report("spec.direct.address", text, problems) {
            true => Some(text.to_owned()),
            false => None,
        };
    }
    match target {
        Some(Target::Addresses(addresses)) if addresses.len() == 1 => {
            Some(address::join_host_port(&addresses[0].host, addresses[0].port))
        }
        Some(_) => {
            problems.required("spec.direct.address", "only a registration with one URL can leave it out");
            None
        }
        None => None,
    }
}

fn parse_host_port_or_report(field: &str, text: &str, problems: &mut Problems) -> bool {
    match address::parse_host_port(text) {
        Ok(_) => true,
        Err(reason) => {
            problems.invalid_but(field, &Value::from(text), reason, "write host:port");
            false
        }
    }
}
