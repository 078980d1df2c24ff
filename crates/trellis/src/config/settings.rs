//! What the options mean: checked, with every default filled in.

use std::{
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    path::{Path, PathBuf},
    time::Duration,
};

use gateway::Limits;
use kube_wire::identity::request_header::Names;

use super::{LogFormat, Period, ServeOptions};
use crate::exit::{Code, Outcome, Problem};

/// The door as it is to run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Where it listens; port 0 for any.
    pub(crate) listen: SocketAddr,
    /// Folder for everything that is kept.
    pub(crate) state: PathBuf,
    /// Folder with registrations.
    pub(crate) registrations: Option<PathBuf>,
    /// Kubeconfig of the core, and the context in it.
    pub(crate) core: Option<(PathBuf, Option<String>)>,
    /// Whether the core's APIServices are routed here.
    pub(crate) adopt_apiservices: bool,
    /// Whether the core gets the definition of APIServer.
    pub(crate) install_crds: bool,
    /// Whether requests are not proxied.
    pub(crate) discovery_only: bool,
    /// Serving certificate; none: self-made.
    pub(crate) serving: Option<KeyPair>,
    /// Further names for a self-made serving certificate.
    pub(crate) serving_names: Vec<String>,
    /// Front-proxy certificate shown to servers; none: self-made.
    pub(crate) proxy_client: Option<KeyPair>,
    /// Authorities of client certificates, beside the door's own.
    pub(crate) client_ca: Option<PathBuf>,
    /// Static bearer tokens.
    pub(crate) token_file: Option<PathBuf>,
    /// A front proxy before the door.
    pub(crate) front_proxy: Option<FrontProxy>,
    /// What clients may cost.
    pub(crate) limits: Limits,
    /// Audit log; `-` is standard output.
    pub(crate) audit_log: Option<PathBuf>,
    /// Log filter.
    pub(crate) log: String,
    /// Form of the log.
    pub(crate) log_format: LogFormat,
}

/// A certificate chain and its key, as PEM files.
#[derive(Clone, Debug)]
pub(crate) struct KeyPair {
    /// Chain, leaf first.
    pub(crate) cert: PathBuf,
    /// Private key.
    pub(crate) key: PathBuf,
}

/// A front proxy that names users to the door.
#[derive(Clone, Debug)]
pub(crate) struct FrontProxy {
    /// Its authorities.
    pub(crate) ca: PathBuf,
    /// Common names that its certificate may have; empty for any.
    pub(crate) allowed_names: Vec<String>,
    /// Headers in which it names users.
    pub(crate) headers: Names,
}

impl Settings {
    /// Checks `options` as far as that goes without reading the files it names.
    pub(crate) fn new(options: ServeOptions) -> Outcome<Self> {
        let listen = options.listen.as_deref().unwrap_or("127.0.0.1:6443");
        let front_proxy = front_proxy(&options)?;
        needs(options.core_context.is_none() || options.core.is_some(), "--core-context", "--core")?;
        needs(!options.install_crds.unwrap_or(false) || options.core.is_some(), "--install-crds", "--core")?;
        let context = options.core_context;
        let usual = Limits::default();
        let limits = Limits {
            max_in_flight: at_least_one(
                "--max-requests-inflight",
                options.max_requests_inflight,
                usual.max_in_flight,
            )?,
            max_mutating_in_flight: at_least_one(
                "--max-mutating-requests-inflight",
                options.max_mutating_requests_inflight,
                usual.max_mutating_in_flight,
            )?,
            max_connections: at_least_one(
                "--max-connections",
                options.max_connections,
                usual.max_connections,
            )?,
            request_timeout: period(options.request_timeout, usual.request_timeout),
            header_timeout: period(options.header_timeout, usual.header_timeout),
            shutdown_delay: period(options.shutdown_delay, usual.shutdown_delay),
            drain_timeout: period(options.shutdown_grace, usual.drain_timeout),
            ..usual
        };
        Ok(Self {
            listen: listen_address(listen)?,
            state: options.state.ok_or_else(|| {
                usage("--state is missing")
                    .next("give the folder in which the door keeps its state: --state DIR")
            })?,
            registrations: options.registrations,
            core: options.core.map(|path| (path, context)),
            adopt_apiservices: options.adopt_apiservices.unwrap_or(true),
            install_crds: options.install_crds.unwrap_or(false),
            discovery_only: options.discovery_only.unwrap_or(false),
            serving: key_pair("--tls-cert", options.tls_cert, "--tls-key", options.tls_key)?,
            serving_names: options.tls_san.into_iter().map(serving_name).collect::<Outcome<_>>()?,
            proxy_client: key_pair(
                "--proxy-client-cert",
                options.proxy_client_cert,
                "--proxy-client-key",
                options.proxy_client_key,
            )?,
            client_ca: options.client_ca,
            token_file: options.token_file,
            front_proxy,
            limits,
            audit_log: options.audit_log,
            log: options.log.unwrap_or_else(|| "info".to_owned()),
            log_format: options.log_format.unwrap_or_default(),
        })
    }

    /// The files named, each with the flag that names it.
    pub(crate) fn files(&self) -> Vec<(&'static str, &Path)> {
        let mut files: Vec<(&'static str, &Path)> = Vec::new();
        if let Some(pair) = &self.serving {
            files.extend([("--tls-cert", &*pair.cert), ("--tls-key", &*pair.key)]);
        }
        if let Some(pair) = &self.proxy_client {
            files.extend([("--proxy-client-cert", &*pair.cert), ("--proxy-client-key", &*pair.key)]);
        }
        let single = [
            ("--core", self.core.as_ref().map(|(path, _)| path)),
            ("--client-ca", self.client_ca.as_ref()),
            ("--token-file", self.token_file.as_ref()),
            ("--requestheader-client-ca", self.front_proxy.as_ref().map(|proxy| &proxy.ca)),
        ];
        files.extend(single.into_iter().filter_map(|(flag, path)| Some((flag, path?.as_path()))));
        files
    }
}

/// `host:port`, resolved to the first address.
pub(crate) fn listen_address(text: &str) -> Outcome<SocketAddr> {
    let wrong = |cause: &str| {
        Problem::new(Code::Input, format!("cannot listen on `{text}`: {cause}"))
            .next("write an address and a port, for instance 127.0.0.1:6443, [::1]:6443 or 0.0.0.0:443")
    };
    let mut addresses = text.to_socket_addrs().map_err(|error| wrong(&error.to_string()))?;
    addresses.next().ok_or_else(|| wrong("the name has no address"))
}

fn usage(what: &str) -> Problem {
    Problem::new(Code::Usage, what)
}

fn needs(holds: bool, flag: &str, other: &str) -> Outcome {
    if holds { Ok(()) } else { Err(usage(&format!("{flag} needs {other}"))) }
}

fn period(given: Option<Period>, default: Duration) -> Duration {
    given.map_or(default, |period| period.0)
}

fn at_least_one(flag: &str, given: Option<usize>, default: usize) -> Outcome<usize> {
    match given {
        Some(0) => Err(usage(&format!("{flag} is 0, and must be at least 1"))),
        given => Ok(given.unwrap_or(default)),
    }
}

fn key_pair(
    cert_flag: &str,
    cert: Option<PathBuf>,
    key_flag: &str,
    key: Option<PathBuf>,
) -> Outcome<Option<KeyPair>> {
    match (cert, key) {
        (Some(cert), Some(key)) => Ok(Some(KeyPair { cert, key })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(usage(&format!("{cert_flag} needs {key_flag}"))),
        (None, Some(_)) => Err(usage(&format!("{key_flag} needs {cert_flag}"))),
    }
}

fn front_proxy(options: &ServeOptions) -> Outcome<Option<FrontProxy>> {
    let headers = [
        ("--requestheader-username-headers", &options.requestheader_username_headers),
        ("--requestheader-group-headers", &options.requestheader_group_headers),
        ("--requestheader-uid-headers", &options.requestheader_uid_headers),
        ("--requestheader-extra-headers-prefix", &options.requestheader_extra_headers_prefix),
    ];
    let Some(ca) = options.requestheader_client_ca.clone() else {
        let names = ("--requestheader-allowed-names", &options.requestheader_allowed_names);
        for (flag, given) in headers.into_iter().chain([names]) {
            needs(given.is_empty(), flag, "--requestheader-client-ca")?;
        }
        return Ok(None);
    };
    let usual = Names::default();
    let usual = [usual.user, usual.group, usual.uid, usual.extra_prefix];
    let mut chosen = headers.into_iter().zip(usual).map(|((flag, given), usual)| match given.is_empty() {
        true => Ok(usual),
        false => given.iter().map(|name| header_name(flag, name)).collect::<Outcome<Vec<String>>>(),
    });
    let mut next = || chosen.next().unwrap_or_else(|| Ok(Vec::new()));
    let headers = Names { user: next()?, group: next()?, uid: next()?, extra_prefix: next()? };
    Ok(Some(FrontProxy { ca, allowed_names: options.requestheader_allowed_names.clone(), headers }))
}

/// A DNS name, also `*.` and one, or an IP address.
fn serving_name(name: String) -> Outcome<String> {
    let label = |label: &str| {
        let inner = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        inner && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    let host = name.strip_prefix("*.").unwrap_or(&name);
    let dns = name.len() <= 253 && host.split('.').all(label);
    if dns || name.parse::<IpAddr>().is_ok() {
        return Ok(name);
    }
    Err(usage(&format!("--tls-san: `{name}` is neither a DNS name nor an IP address"))
        .next("write names without scheme, port and spaces, for instance door.example.com or 192.0.2.7"))
}

/// A header name, or the beginning of one.
fn header_name(flag: &str, name: &str) -> Outcome<String> {
    match http::HeaderName::try_from(name) {
        Ok(_) => Ok(name.to_owned()),
        Err(_) => Err(usage(&format!("{flag}: `{name}` cannot be the name of a header"))
            .next("write names with letters, digits and dashes, for instance X-Remote-User")),
    }
}
