//! The door, put together from the registry and the gateway, which do not know each other.

mod certificates;
mod credentials;
mod state;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use gateway::{
    Backends, Config, Gateway, Shutdown, ShutdownHandle, Workers, audit::Audit, authz::Authorizer,
    metrics::Metrics,
};
use registry::{Registry, StartError};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::{
    config::Settings,
    exit::{Code, Outcome, Problem, chain},
};

pub(crate) use credentials::check as check_certificates;

/// A door that serves.
pub(crate) struct RunningDoor {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// A kubeconfig with all rights; none when users come in with what they were given elsewhere.
    pub(crate) admin_kubeconfig: Option<PathBuf>,
    /// The authority of the door's own front-proxy certificate, for servers to trust; none when the
    /// certificate was given.
    pub(crate) front_proxy_ca: Option<PathBuf>,
    shutdown: ShutdownHandle,
    /// None when it has ended.
    served: Option<JoinHandle<()>>,
    registry: Arc<Registry>,
    audit: Audit,
    _keep: Keep,
}

/// What must live as long as the door: the lock of its folder, and the watches on its files.
struct Keep {
    _lock: state::Lock,
    _serving: certificates::Serving,
    _front_proxy: certificates::FrontProxyPair,
    _secrets: credentials::Secrets,
}

impl RunningDoor {
    /// Starts a door on this listener.
    pub(crate) async fn start(settings: &Settings, listener: TcpListener) -> Outcome<Self> {
        let address = listener.local_addr().map_err(|error| {
            Problem::new(Code::Listen, format!("cannot tell where the door listens: {error}"))
        })?;
        let lock = state::Lock::take(&settings.state)?;
        let front_proxy = certificates::FrontProxyPair::start(settings)?;
        let registry = Arc::new(start_registry(settings, &front_proxy)?);
        let metrics = Arc::new(Metrics::default());
        let workers = Workers::for_this_machine().map_err(|error| {
            Problem::new(Code::Failure, format!("cannot start the threads that serve clients: {error}"))
        })?;
        let backends = Backends::new(registry.catalog(), registry.observer(), metrics.clone(), workers);
        let core = settings.core.as_ref().map(|_| backends.core_client());
        let own_clients = certificates::own_client_authority(settings)?;
        let secrets = credentials::Secrets::start(settings, own_clients.as_ref(), core.clone())?;
        let serving = certificates::Serving::start(settings, address, secrets.authenticator())?;
        let admin_kubeconfig = match &own_clients {
            Some(authority) => Some(certificates::admin(settings, authority, address)?),
            None => None,
        };
        let audit = start_audit(settings.audit_log.as_deref(), &metrics)?;
        let config = Config {
            backends,
            health: registry.health(),
            documents: registry.documents(),
            authenticator: secrets.authenticator(),
            authorizer: Authorizer::new(core),
            metrics,
            audit: audit.clone(),
            limits: settings.limits.clone(),
            checks: Vec::new(),
            discovery_only: settings.discovery_only,
        };
        let (shutdown, stopping) = Shutdown::new();
        let gateway = Gateway::new(config, stopping);
        let tls = serving.tls();
        let served = Some(tokio::spawn(async move { gateway.serve(listener, tls).await }));
        let front_proxy_ca = front_proxy.authority_file();
        let keep = Keep { _lock: lock, _serving: serving, _front_proxy: front_proxy, _secrets: secrets };
        Ok(Self { address, admin_kubeconfig, front_proxy_ca, shutdown, served, registry, audit, _keep: keep })
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        certificates::url(self.address)
    }

    /// Says where registrations and files of the state folder are wrong.
    pub(crate) fn log_problems(&self) {
        let (_, files) = self.registry.problems();
        for problem in files {
            tracing::warn!("{problem}");
        }
    }

    /// Opens the audit log anew.
    pub(crate) fn reopen_audit(&self) {
        self.audit.reopen();
    }

    /// The first call begins an orderly stop, the second ends it at once.
    pub(crate) fn signal(&self) {
        self.shutdown.signal();
    }

    /// Returns when the gateway has stopped and everything is on disk. May be dropped and called again.
    pub(crate) async fn stopped(&mut self) {
        if let Some(served) = &mut self.served {
            // An error is a panic of the gateway's task, which has been logged where it happened.
            let _ = served.await;
            self.served = None;
        }
        self.registry.shutdown().await;
        let audit = self.audit.clone();
        let _ = tokio::task::spawn_blocking(move || audit.flush()).await;
    }
}

fn start_registry(settings: &Settings, front_proxy: &certificates::FrontProxyPair) -> Outcome<Registry> {
    let mut config = registry::Config::new(&settings.state);
    config.registrations.clone_from(&settings.registrations);
    config.client_certificate = front_proxy.subscribe();
    config.core = settings.core.as_ref().map(|(kubeconfig, context)| registry::CoreConfig {
        kubeconfig: kubeconfig.clone(),
        context: context.clone(),
        proxy_client: settings
            .proxy_client
            .as_ref()
            .map(|pair| registry::ProxyClientFiles { certificate: pair.cert.clone(), key: pair.key.clone() }),
        adopt_api_services: settings.adopt_apiservices,
        install_crds: settings.install_crds,
    });
    Registry::start(config).map_err(|error| {
        let code = match &error {
            StartError::State { .. } => Code::State,
            StartError::Registrations { .. } | StartError::Core(_) => Code::Input,
        };
        Problem::new(code, chain(&error))
    })
}

fn start_audit(file: Option<&Path>, metrics: &Metrics) -> Outcome<Audit> {
    let Some(file) = file else { return Ok(Audit::off()) };
    let path = if file.as_os_str() == "-" { Path::new("/dev/stdout") } else { file };
    Audit::to_file(path, metrics).map_err(|error| {
        Problem::new(Code::Input, format!("cannot write the audit log {}: {error}", file.display()))
            .next("give a file that can be written with --audit-log, or `-`")
    })
}

/// Binds the door's listener.
pub(crate) async fn listen(address: SocketAddr) -> Outcome<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let next = match error.kind() {
            std::io::ErrorKind::AddrInUse => format!(
                "see what listens there (`ss -ltnp 'sport = :{}'`), or choose another address with --listen",
                address.port()
            ),
            _ => "choose another address with --listen".to_owned(),
        };
        Problem::new(Code::Listen, format!("cannot listen on {address}: {error}")).next(next)
    })
}
