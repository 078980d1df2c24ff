//! The gateway alone, for `bench door --trellis target/release/examples/door --only get,list,watches`:
//! what the data path costs without the registry. It takes the same arguments as `trellis serve`, and
//! registrations by POST, whose groups are `g0.bench.example.com` and so on in their order.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{collections::HashMap, path::Path, sync::Arc};

use arc_swap::ArcSwap;
use bytes::Bytes;
use catalog::{
    Body, Catalog, Contribution, Credentials, Discovery, DocumentRef, Documents, Endpoint, GroupOffer,
    HealthReport, IdentityMode, Limits as ServerLimits, Observation, Observer, OpenApi, Origin, Ownership,
    Role, Roots, Selection, Server, ServerName, Service, ServiceFuture, Trust, VersionOffer,
};
use gateway::{
    Backends, Config, Gateway, Limits, Shutdown, Workers,
    audit::Audit,
    authn::{Authenticator, ClientTrust, Secrets, TokenFile},
    authz::Authorizer,
    metrics::Metrics,
};
use http_body_util::{BodyExt as _, Full};
use tokio::{net::TcpListener, sync::watch};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Takes registrations, as the registry would.
struct Registrations {
    ca: Arc<[u8]>,
    made: std::sync::Mutex<Vec<Contribution>>,
    catalog: watch::Sender<Arc<Catalog>>,
}

impl Service for Registrations {
    fn call(&self, request: http::Request<Body>) -> ServiceFuture<'_> {
        Box::pin(async move {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let object: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let spec = &object["spec"];
            let listed = spec["endpoints"].as_array().cloned().unwrap_or_else(|| vec![spec["url"].clone()]);
            let addresses = listed.iter().filter_map(|url| url.as_str()?.strip_prefix("https://"));
            self.add(object["metadata"]["name"].as_str().unwrap(), addresses.map(network).collect());
            let mut answer = http::Response::new(Body::new(Full::new(body).map_err(|never| match never {})));
            *answer.status_mut() = http::StatusCode::CREATED;
            answer
        })
    }
}

impl Registrations {
    fn add(&self, name: &str, endpoints: Vec<Endpoint>) {
        let mut made = self.made.lock().unwrap();
        let group = match made.len() {
            0 => "federation.trellis.dev".to_owned(),
            n => format!("g{}.bench.example.com", n - 1),
        };
        made.push(contribution(name, &group, endpoints, self.ca.clone()));
        let built = Catalog::build(&Ownership::default(), made.len() as u64, &made);
        self.catalog.send_replace(Arc::new(built.catalog));
    }
}

fn network(address: &str) -> Endpoint {
    let (host, port) = address.rsplit_once(':').unwrap();
    Endpoint::Network { tls: true, host: host.to_owned(), port: port.parse().unwrap() }
}

fn contribution(name: &str, group: &str, endpoints: Vec<Endpoint>, ca: Arc<[u8]>) -> Contribution {
    let server = Server {
        name: ServerName::new(name),
        revision: 1,
        role: Role::Federated,
        endpoints,
        base_path: String::new(),
        trust: Trust { roots: Roots::Pem(ca), server_name: None, skip_verification: false },
        identity: IdentityMode::RequestHeader,
        credentials: Credentials::default(),
        limits: ServerLimits::default(),
        direct_address: None,
    };
    let version = VersionOffer {
        version: if group == "federation.trellis.dev" { "v1alpha1" } else { "v1" }.to_owned(),
        resources: serde_json::value::RawValue::from_string("[]".to_owned()).unwrap().into(),
        legacy: None,
        current: true,
    };
    let group = GroupOffer { name: group.to_owned(), versions: vec![version], origin: Origin::Server };
    Contribution {
        server: Arc::new(server),
        registered_at: 0,
        selection: Selection::All { group_priority: 1000, version_priority: 15 },
        discovery: Some(Arc::new(Discovery { core: Vec::new(), groups: vec![group] })),
        openapi: Arc::new(OpenApi::default()),
    }
}

struct Nothing;

impl Documents for Nothing {
    fn get(&self, _: &DocumentRef) -> std::io::Result<Bytes> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

impl Observer for Nothing {
    fn observe(&self, _: &ServerName, _: Observation) {}
}

fn tls(arguments: &HashMap<String, String>, authenticator: &Authenticator) -> rustls::ServerConfig {
    let read = |flag: &str| std::fs::read(Path::new(&arguments[flag])).unwrap();
    let mut config = rustls::ServerConfig::builder_with_provider(pki::provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(authenticator.client_certificate_verifier())
        .with_single_cert(
            pki::certificates(&read("--tls-cert"), "the certificate").unwrap(),
            pki::private_key(&read("--tls-key"), "the key").unwrap(),
        )
        .unwrap();
    config.alpn_protocols = vec![pki::ALPN_H2.to_vec(), pki::ALPN_HTTP1.to_vec()];
    config
}

#[tokio::main]
async fn main() {
    let words: Vec<_> = std::env::args().skip(1).filter(|word| word != "serve").collect();
    let arguments: HashMap<_, _> = words.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    let ca = std::fs::read(&arguments["--client-ca"]).unwrap();
    let (sender, catalogs) = watch::channel(Arc::new(Catalog::empty()));
    let registrations =
        Arc::new(Registrations { ca: ca.clone().into(), made: Default::default(), catalog: sender });
    registrations.add("registrations", vec![Endpoint::InProcess(registrations.clone())]);
    let metrics = Arc::new(Metrics::default());
    let trust = ClientTrust::new(Some(&ca), None).unwrap();
    let authenticator = Arc::new(Authenticator::new(Secrets { trust, tokens: TokenFile::default() }, None));
    let tls = Arc::new(ArcSwap::from_pointee(tls(&arguments, &authenticator)));
    let config = Config {
        backends: Backends::new(
            catalogs,
            Arc::new(Nothing),
            metrics.clone(),
            Workers::for_this_machine().unwrap(),
        ),
        health: watch::channel(Arc::new(HealthReport::default())).1,
        documents: Arc::new(Nothing),
        authenticator,
        authorizer: Authorizer::new(None),
        metrics,
        audit: Audit::off(),
        limits: Limits::default(),
        checks: Vec::new(),
        discovery_only: false,
    };
    let listener = TcpListener::bind(&arguments["--listen"]).await.unwrap();
    let (_handle, shutdown) = Shutdown::new();
    Gateway::new(config, shutdown).serve(listener, tls).await;
}
