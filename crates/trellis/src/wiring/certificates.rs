//! The door's own keys: given, or made under `STATE/pki`; read again when their files change.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use arc_swap::ArcSwap;
use catalog::{ClientCertificate, Secret};
use gateway::authn::Authenticator;
use pki::{Authority, CertifiedKey, Ensured, Kubeconfig, KubeconfigUser, Leaf, Reloading};
use rustls::{
    ServerConfig,
    server::{NoServerSessionStorage, ProducesTickets},
    sign::SingleCertAndKey,
};
use tokio::{sync::watch, task::JoinHandle};

use crate::{
    config::{KeyPair, Settings},
    exit::{Outcome, Problem},
};

/// Name of the kubeconfig with all rights, in the state folder.
const ADMIN_KUBECONFIG: &str = "admin.kubeconfig";
/// Name of the file with the front proxy's authority, in the state folder.
const FRONT_PROXY_CA: &str = "front-proxy-ca.crt";
/// Ten years: an authority is trusted by others, who would all have to change.
const AUTHORITY_VALIDITY: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
/// Self-made certificates live for a year and are made anew in the last fifth of it.
const RENEWAL: Duration = Duration::from_secs(12 * 3600);

/// The serving certificate, with the TLS configuration that the listener uses.
pub(super) struct Serving {
    tls: Arc<ArcSwap<ServerConfig>>,
    _reloading: Reloading<()>,
    _renewal: Option<Task>,
}

impl Serving {
    /// Reads the certificate, or makes it for this address.
    pub(super) fn start(
        settings: &Settings,
        address: SocketAddr,
        authenticator: Arc<Authenticator>,
    ) -> Outcome<Self> {
        let (pair, renewal) = match &settings.serving {
            Some(pair) => (pair.clone(), None),
            None => {
                let make = SelfMade::serving(settings, address)?;
                make.ensure()?;
                (make.pair.clone(), Some(make.keep_fresh()))
            }
        };
        let wrong = if settings.serving.is_some() { Problem::given } else { Problem::state };
        // Kept over a change of certificate, so that clients resume their sessions.
        let tickets = pki::ticketer().map_err(wrong)?;
        let first = CertifiedKey::load(&pair.cert, &pair.key).map_err(wrong)?;
        let tls = Arc::new(ArcSwap::from_pointee(
            server_config(&first, &authenticator, tickets.clone()).map_err(wrong)?,
        ));
        let objects = (pair.cert.display().to_string(), tls.clone());
        let reloading = Reloading::start(vec![pair.cert, pair.key], move |files| {
            let (object, tls) = &objects;
            let certificate = CertifiedKey::from_pem(files.get(0), files.get(1), object);
            tls.store(Arc::new(server_config(&certificate, &authenticator, tickets.clone())?));
            Ok(())
        })
        .map_err(wrong)?;
        Ok(Self { tls, _reloading: reloading, _renewal: renewal })
    }

    /// What the listener uses, always the newest.
    pub(super) fn tls(&self) -> Arc<ArcSwap<ServerConfig>> {
        self.tls.clone()
    }
}

fn server_config(
    certificate: &CertifiedKey,
    authenticator: &Arc<Authenticator>,
    tickets: Arc<dyn ProducesTickets>,
) -> Result<ServerConfig, pki::Error> {
    let object = |error: rustls::Error| pki::Error::Tls {
        object: "the serving certificate".to_owned(),
        problem: error.to_string(),
    };
    let mut config = ServerConfig::builder_with_provider(pki::provider())
        .with_safe_default_protocol_versions()
        .map_err(object)?
        .with_client_cert_verifier(authenticator.client_certificate_verifier())
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(certificate.to_rustls()?)));
    config.alpn_protocols = vec![pki::ALPN_H2.to_vec(), pki::ALPN_HTTP1.to_vec()];
    // Sessions live in the clients' tickets, never in this process' memory.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.ticketer = tickets;
    config.send_tls13_tickets = 1;
    Ok(config)
}

/// The certificate that the door shows to servers as their front proxy.
pub(super) struct FrontProxyPair {
    current: watch::Receiver<Option<ClientCertificate>>,
    authority: Option<PathBuf>,
    _reloading: Reloading<()>,
    _renewal: Option<Task>,
}

impl FrontProxyPair {
    /// Reads the pair, or makes it and writes its authority to `STATE/front-proxy-ca.crt`.
    pub(super) fn start(settings: &Settings) -> Outcome<Self> {
        let (pair, authority, renewal) = match &settings.proxy_client {
            Some(pair) => (pair.clone(), None, None),
            None => {
                let make = SelfMade::front_proxy(settings)?;
                make.ensure()?;
                (make.pair.clone(), Some(settings.state.join(FRONT_PROXY_CA)), Some(make.keep_fresh()))
            }
        };
        let wrong = if settings.proxy_client.is_some() { Problem::given } else { Problem::state };
        let (sender, current) = watch::channel(None);
        let object = pair.cert.display().to_string();
        let reloading = Reloading::start(vec![pair.cert, pair.key], move |files| {
            // Whether the two belong together is found out here, not at the first connection.
            CertifiedKey::from_pem(files.get(0), files.get(1), &object).to_rustls()?;
            let certificate =
                ClientCertificate { chain: files.get(0).into(), key: Secret::new(files.get(1).to_vec()) };
            sender.send_replace(Some(certificate));
            Ok(())
        })
        .map_err(wrong)?;
        Ok(Self { current, authority, _reloading: reloading, _renewal: renewal })
    }

    /// The pair, and every later one.
    pub(super) fn subscribe(&self) -> watch::Receiver<Option<ClientCertificate>> {
        self.current.clone()
    }

    /// Where its authority is written, for servers to trust.
    pub(super) fn authority_file(&self) -> Option<PathBuf> {
        self.authority.clone()
    }
}

/// A certificate that the door makes and renews itself.
struct SelfMade {
    authority: Authority,
    leaf: Leaf,
    pair: KeyPair,
}

impl SelfMade {
    fn serving(settings: &Settings, address: SocketAddr) -> Outcome<Self> {
        let authority = authority(settings, "server", &settings.state.join("pki/server-ca.crt"))?;
        let mut leaf = Leaf::server("trellis")
            .dns("localhost")
            .ip(IpAddr::V4(Ipv4Addr::LOCALHOST))
            .ip(IpAddr::V6(Ipv6Addr::LOCALHOST));
        if !address.ip().is_unspecified() && !address.ip().is_loopback() {
            leaf = leaf.ip(address.ip());
        }
        for name in &settings.serving_names {
            leaf = leaf.name(name);
        }
        Ok(Self { authority, leaf, pair: own_pair(settings, "serving") })
    }

    fn front_proxy(settings: &Settings) -> Outcome<Self> {
        let authority = authority(settings, "front-proxy", &settings.state.join(FRONT_PROXY_CA))?;
        let leaf = Leaf::client("front-proxy-client");
        Ok(Self { authority, leaf, pair: own_pair(settings, "front-proxy-client") })
    }

    fn ensure(&self) -> Outcome {
        let (_, what) = pki::ensure_leaf(&self.authority, &self.pair.cert, &self.pair.key, &self.leaf)
            .map_err(Problem::state)?;
        if let Ensured::Renewed(why) = what {
            tracing::info!(certificate = %self.pair.cert.display(), why, "made anew");
        }
        Ok(())
    }

    /// Looks at it twice a day; whoever reads its files notices the change.
    fn keep_fresh(self) -> Task {
        Task(tokio::spawn(async move {
            loop {
                tokio::time::sleep(RENEWAL).await;
                if let Err(problem) = self.ensure() {
                    tracing::error!(%problem, "cannot renew a certificate");
                }
            }
        }))
    }
}

/// A task that ends with its owner.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The door's own authority for clients; none when users come with certificates or tokens of others.
pub(super) fn own_client_authority(settings: &Settings) -> Outcome<Option<Authority>> {
    if settings.client_ca.is_some() || settings.token_file.is_some() {
        return Ok(None);
    }
    authority(settings, "client", &settings.state.join("pki/client-ca.crt")).map(Some)
}

/// Writes the kubeconfig with all rights; returns its path.
pub(super) fn admin(settings: &Settings, clients: &Authority, address: SocketAddr) -> Outcome<PathBuf> {
    let pair = own_pair(settings, "admin");
    let leaf = Leaf::client("trellis-admin").organization("system:masters");
    let (certificate, _) = pki::ensure_leaf(clients, &pair.cert, &pair.key, &leaf).map_err(Problem::state)?;
    let ca = match &settings.serving {
        // Who signed a given certificate is not known; the end of its chain is the best there is.
        Some(given) => last_certificate(&given.cert).map_err(Problem::given)?,
        None => pki::read_limited(&settings.state.join("pki/server-ca.crt")).map_err(Problem::state)?,
    };
    let path = settings.state.join(ADMIN_KUBECONFIG);
    let kubeconfig = Kubeconfig {
        server: url(address),
        ca_pem: ca,
        user: KubeconfigUser::Certificate(certificate),
        context: "trellis".to_owned(),
    };
    kubeconfig.write(&path).map_err(Problem::state)?;
    Ok(path)
}

fn last_certificate(chain: &Path) -> Result<Vec<u8>, pki::Error> {
    const BEGIN: &[u8] = b"-----BEGIN CERTIFICATE-----";
    let pem = pki::read_limited(chain)?;
    let start = pem.windows(BEGIN.len()).rposition(|window| window == BEGIN).unwrap_or_default();
    Ok(pem[start..].to_vec())
}

/// URL of a door that listens on this address; loopback when that is every address.
pub(super) fn url(address: SocketAddr) -> String {
    let ip = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    };
    format!("https://{}", SocketAddr::new(ip, address.port()))
}

fn authority(settings: &Settings, name: &str, certificate: &Path) -> Outcome<Authority> {
    let folder = settings.state.join("pki");
    pki::create_private_dir(&folder).map_err(Problem::state)?;
    let key = folder.join(format!("{name}-ca.key"));
    let (authority, _) =
        pki::ensure_authority(certificate, &key, &format!("trellis-{name}-ca"), AUTHORITY_VALIDITY)
            .map_err(Problem::state)?;
    Ok(authority)
}

fn own_pair(settings: &Settings, name: &str) -> KeyPair {
    let folder = settings.state.join("pki");
    KeyPair { cert: folder.join(format!("{name}.crt")), key: folder.join(format!("{name}.key")) }
}
