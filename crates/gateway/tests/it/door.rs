//! A door to test: the gateway on a free port, with the backends of the test.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use catalog::{
    Catalog, Contribution, Credentials, Discovery, DocumentRef, Documents, Endpoint, GroupOffer,
    HealthReport, IdentityMode, Limits as ServerLimits, Observation, Observer, OpenApi, Origin, Ownership,
    Role, Roots, Selection, Server, ServerName, Trust, VersionOffer,
};
use gateway::{
    Backends, Config, Gateway, Limits, Shutdown, ShutdownHandle, Workers,
    audit::Audit,
    authn::{Authenticator, ClientTrust, FrontProxy, Secrets, TokenFile},
    authz::Authorizer,
    metrics::Metrics,
};
use testkit::{Client, FakeServer, Serving, Target, TempPki};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

/// The group that the test's server has.
pub const GROUP: &str = "wardle.example.com";
/// Where its resources are.
pub const FLUNDERS: &str = "/apis/wardle.example.com/v1/namespaces/default/flunders";

/// A door that serves; it ends at once when dropped.
pub struct Door {
    /// Where it listens.
    pub address: SocketAddr,
    /// The certificates of this test.
    pub pki: Arc<TempPki>,
    /// Takes new catalogs.
    catalog: watch::Sender<Arc<Catalog>>,
    /// Stops it.
    pub shutdown: ShutdownHandle,
    /// What the data path told.
    pub observer: Arc<Told>,
    /// Ends when the door has stopped.
    pub served: JoinHandle<()>,
    /// What it shows to clients.
    pub tls: Arc<ArcSwap<rustls::ServerConfig>>,
    generation: u64,
}

/// Observations, in their order.
#[derive(Default)]
pub struct Told(Mutex<Vec<(String, Observation)>>);

impl Told {
    /// All so far: the server, and the reason word of the failure or `Answered`.
    pub fn all(&self) -> Vec<(String, &'static str)> {
        let told = self.0.lock().unwrap();
        let word = |observation: &Observation| match observation {
            Observation::Failed { failure, .. } => failure.cause.reason(),
            Observation::Answered { .. } => "Answered",
        };
        told.iter().map(|(server, observation)| (server.clone(), word(observation))).collect()
    }
}

impl Observer for Told {
    fn observe(&self, server: &ServerName, observation: Observation) {
        self.0.lock().unwrap().push((server.to_string(), observation));
    }
}

struct NoDocuments;

impl Documents for NoDocuments {
    fn get(&self, document: &DocumentRef) -> std::io::Result<Bytes> {
        Err(std::io::Error::other(format!("{document:?} is in no test")))
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.shutdown.signal();
        self.shutdown.signal();
    }
}

impl Door {
    /// With these backends and usual limits.
    pub async fn start(pki: &Arc<TempPki>, backends: Vec<Backend>) -> Self {
        Self::with_limits(pki, backends, Limits::default()).await
    }

    /// With these backends and limits.
    pub async fn with_limits(pki: &Arc<TempPki>, backends: Vec<Backend>, limits: Limits) -> Self {
        Self::configured(pki, backends, |config| config.limits = limits).await
    }

    /// With these backends, and whatever else `change` makes of the usual configuration.
    pub async fn configured(
        pki: &Arc<TempPki>,
        backends: Vec<Backend>,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let (catalog, catalogs) = watch::channel(Arc::new(build(&backends, 1)));
        let (_, health) = watch::channel(Arc::new(HealthReport::default()));
        let (metrics, observer) = (Arc::new(Metrics::default()), Arc::new(Told::default()));
        let (shutdown, stopping) = Shutdown::new();
        let trust = ClientTrust::new(
            Some(pki.client_ca.certificate_pem()),
            Some(FrontProxy { ca: pki.front_proxy_ca.certificate_pem(), allowed_names: &[] }),
        );
        let tokens = TokenFile::parse(b"secret-token,tokenuser,7,\"a,b\"\n").unwrap();
        let secrets = Secrets { trust: trust.unwrap(), tokens };
        let authenticator = Arc::new(Authenticator::new(secrets, None));
        let tls = Arc::new(ArcSwap::from_pointee(server_tls(pki, &authenticator)));
        let mut config = Config {
            backends: Backends::new(catalogs, observer.clone(), metrics.clone(), Workers::start(2).unwrap()),
            health,
            documents: Arc::new(NoDocuments),
            authenticator,
            authorizer: Authorizer::new(None),
            metrics,
            audit: Audit::off(),
            limits: Limits::default(),
            checks: Vec::new(),
            discovery_only: false,
        };
        change(&mut config);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let gateway = Gateway::new(config, stopping);
        let served = tokio::spawn({
            let tls = tls.clone();
            async move { gateway.serve(listener, tls).await }
        });
        let pki = pki.clone();
        Self { address, pki, catalog, shutdown, observer, served, tls, generation: 1 }
    }

    /// Changes the backends.
    pub fn set(&mut self, backends: &[Backend]) {
        self.generation += 1;
        self.catalog.send_replace(Arc::new(build(backends, self.generation)));
    }

    /// The door as a user sees it who has a certificate: `alice` of the group `dev`.
    pub fn alice(&self) -> Target {
        self.anonymous().identity(self.pki.user("alice", &["dev"]))
    }

    /// The same for a member of `system:masters`.
    pub fn admin(&self) -> Target {
        self.anonymous().identity(self.pki.user("admin", &["system:masters"]))
    }

    /// Without a client certificate.
    pub fn anonymous(&self) -> Target {
        Target::tls(self.address, self.pki.server_ca.certificate_pem())
    }

    /// A connection of alice's, HTTP/1.1.
    pub async fn http1(&self) -> Client {
        Client::http1(&self.alice()).await.unwrap()
    }

    /// A connection of alice's, HTTP/2.
    pub async fn http2(&self) -> Client {
        Client::http2(&self.alice()).await.unwrap()
    }
}

fn server_tls(pki: &TempPki, authenticator: &Authenticator) -> rustls::ServerConfig {
    let certificate = pki.serving(Serving::Good);
    let chain = pki::certificates(certificate.chain_pem(), "the certificate").unwrap();
    let key = pki::private_key(certificate.key_pem(), "the key").unwrap();
    let mut config = rustls::ServerConfig::builder_with_provider(pki::provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(authenticator.client_certificate_verifier())
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![pki::ALPN_H2.to_vec(), pki::ALPN_HTTP1.to_vec()];
    config
}

/// A backend, and the groups that it owns.
#[derive(Clone)]
pub struct Backend {
    /// As the catalog gives it.
    pub server: Server,
    groups: Vec<String>,
}

impl Backend {
    /// A federated server `wardle` with these endpoints and the group of the tests.
    pub fn wardle(pki: &TempPki, servers: &[&FakeServer]) -> Self {
        Self::federated("wardle", GROUP, pki, servers)
    }

    /// A federated server.
    pub fn federated(name: &str, group: &str, pki: &TempPki, servers: &[&FakeServer]) -> Self {
        let endpoints = servers.iter().map(|server| endpoint(server)).collect();
        Self { server: server(name, Role::Federated, pki, endpoints), groups: vec![group.to_owned()] }
    }

    /// A core with the group `apps` and the legacy group.
    pub fn core(pki: &TempPki, servers: &[&FakeServer]) -> Self {
        let endpoints = servers.iter().map(|server| endpoint(server)).collect();
        Self { server: server(ServerName::CORE, Role::Core, pki, endpoints), groups: vec!["apps".to_owned()] }
    }

    /// Changed, which makes it another revision.
    pub fn changed(mut self, change: impl FnOnce(&mut Server)) -> Self {
        change(&mut self.server);
        self.server.revision += 1;
        self
    }

    /// With other limits.
    pub fn limits(self, change: impl FnOnce(&mut ServerLimits)) -> Self {
        self.changed(|server| change(&mut server.limits))
    }
}

/// Where a test server is.
pub fn endpoint(server: &FakeServer) -> Endpoint {
    let address = server.address();
    let tls = server.url().starts_with("https");
    Endpoint::Network { tls, host: address.ip().to_string(), port: address.port() }
}

fn server(name: &str, role: Role, pki: &TempPki, endpoints: Vec<Endpoint>) -> Server {
    let roots = Roots::Pem(pki.server_ca.certificate_pem().into());
    Server {
        name: ServerName::new(name),
        revision: 1,
        role,
        endpoints,
        base_path: String::new(),
        trust: Trust { roots, server_name: None, skip_verification: false },
        identity: IdentityMode::RequestHeader,
        credentials: Credentials::default(),
        limits: ServerLimits::default(),
        direct_address: None,
    }
}

fn build(backends: &[Backend], generation: u64) -> Catalog {
    let contributions: Vec<_> = backends.iter().map(contribution).collect();
    Catalog::build(&Ownership::default(), generation, &contributions).catalog
}

fn contribution(backend: &Backend) -> Contribution {
    let core = backend.server.role == Role::Core;
    let version = || VersionOffer {
        version: "v1".to_owned(),
        resources: serde_json::value::RawValue::from_string("[]".to_owned()).unwrap().into(),
        legacy: None,
        current: true,
    };
    let origin = if core { Origin::BuiltIn } else { Origin::Server };
    let group = |name: &String| GroupOffer { name: name.clone(), versions: vec![version()], origin };
    let discovery = Discovery {
        core: if core { vec![version()] } else { Vec::new() },
        groups: backend.groups.iter().map(group).collect(),
    };
    Contribution {
        server: Arc::new(backend.server.clone()),
        registered_at: 0,
        selection: Selection::All { group_priority: 1000, version_priority: 15 },
        discovery: Some(Arc::new(discovery)),
        openapi: Arc::new(OpenApi::default()),
    }
}

/// A PKI, and a server of the test's group over TLS that speaks HTTP/1.1 and HTTP/2.
pub async fn backend() -> (Arc<TempPki>, FakeServer) {
    let pki = Arc::new(TempPki::new());
    let server = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    (pki, server)
}

/// The same, HTTP/1.1 only.
pub async fn backend_http1() -> (Arc<TempPki>, FakeServer) {
    let pki = Arc::new(TempPki::new());
    let server = FakeServer::builder().tls(&pki, Serving::Good).http1_only().start().await;
    (pki, server)
}
