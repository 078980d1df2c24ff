//! TLS towards one server, prepared once.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use catalog::{Cause, ClientCertificate, Endpoint, Failure, Roots, Server};
use pki::{ALPN_H2, ALPN_HTTP1, CertifiedKey, ClientTls};
use rustls::{ClientConfig, client::Resumption, pki_types::ServerName};

use crate::Offer;

/// Sessions remembered for resumption, for all endpoints of one server together.
const RESUMPTION_SESSIONS: usize = 16;

/// What every connection to a server needs, made from its registration once per revision: parsed
/// roots, client certificate, the name to expect.
#[derive(Clone, Debug)]
pub struct TlsSetup {
    /// The failure is kept for servers that have no TLS endpoint now but may get one later.
    configs: Result<Configs, Failure>,
    server_name: Option<ServerName<'static>>,
}

#[derive(Clone, Debug)]
struct Configs {
    any: Arc<ClientConfig>,
    http1: Arc<ClientConfig>,
    /// Kept for the next server with the same trust.
    _shared: Arc<ClientConfig>,
}

impl TlsSetup {
    /// Reads the trust and the credentials of `server`.
    ///
    /// # Errors
    /// [`Cause::InvalidCredentials`] when the CA bundle, the client certificate, its key or the
    /// server name cannot be used. A server without TLS endpoints is forgiven all but the name.
    pub fn new(server: &Server) -> Result<Self, Failure> {
        let server_name = server.trust.server_name.as_deref().map(name).transpose()?;
        let configs = Configs::new(server);
        let needs_tls =
            server.endpoints.iter().any(|endpoint| matches!(endpoint, Endpoint::Network { tls: true, .. }));
        match configs {
            Err(failure) if needs_tls => Err(failure),
            configs => Ok(Self { configs, server_name }),
        }
    }

    pub(crate) fn config(&self, offer: Offer) -> Result<Arc<ClientConfig>, Failure> {
        let configs = self.configs.as_ref().map_err(Clone::clone)?;
        Ok(match offer {
            Offer::Any => configs.any.clone(),
            Offer::Http1 => configs.http1.clone(),
        })
    }

    /// The name to look for in the certificate of this host.
    pub(crate) fn server_name(&self, host: &str) -> Result<ServerName<'static>, Failure> {
        match &self.server_name {
            Some(name) => Ok(name.clone()),
            None => name(host),
        }
    }
}

impl Configs {
    fn new(server: &Server) -> Result<Self, Failure> {
        let shared = Shared::of(server)?;
        let mut any = ClientConfig::clone(&shared);
        // What is remembered of one server's sessions is of no use to another one.
        any.resumption = Resumption::in_memory_sessions(RESUMPTION_SESSIONS);
        let mut http1 = any.clone();
        http1.alpn_protocols = vec![ALPN_HTTP1.to_vec()];
        Ok(Self { any: Arc::new(any), http1: Arc::new(http1), _shared: shared })
    }
}

/// What servers share that trust the same roots and are shown the same certificate. To parse roots and to
/// check a key costs more than everything else about a server, and often there is one authority for all.
struct Shared {
    roots: Roots,
    skip_verification: bool,
    certificate: Option<ClientCertificate>,
    /// Gone with the last server that uses it.
    config: Weak<ClientConfig>,
}

static SHARED: Mutex<Vec<Shared>> = Mutex::new(Vec::new());

impl Shared {
    fn of(server: &Server) -> Result<Arc<ClientConfig>, Failure> {
        // Nothing panics while it is held.
        let mut all = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|shared| shared.config.strong_count() > 0);
        if let Some(config) = all.iter().filter(|s| s.fits(server)).find_map(|s| s.config.upgrade()) {
            return Ok(config);
        }
        let config = build(server)?;
        all.push(Self {
            roots: server.trust.roots.clone(),
            skip_verification: server.trust.skip_verification,
            certificate: server.credentials.client_certificate.clone(),
            config: Arc::downgrade(&config),
        });
        Ok(config)
    }

    fn fits(&self, server: &Server) -> bool {
        self.skip_verification == server.trust.skip_verification
            && self.roots == server.trust.roots
            && self.certificate == server.credentials.client_certificate
    }
}

fn build(server: &Server) -> Result<Arc<ClientConfig>, Failure> {
    let certificate = server.credentials.client_certificate.as_ref().map(|certificate| {
        CertifiedKey::from_pem(&*certificate.chain, certificate.key.expose(), "the client certificate")
    });
    let tls = ClientTls {
        roots: match &server.trust.roots {
            Roots::System => pki::Roots::System,
            Roots::Pem(pem) => pki::Roots::Pem(pem),
        },
        skip_verification: server.trust.skip_verification,
        certificate: certificate.as_ref(),
        alpn: &[ALPN_H2, ALPN_HTTP1],
        resumption_sessions: 0,
    };
    tls.build().map(Arc::new).map_err(|error| Failure::new(Cause::InvalidCredentials, error.to_string()))
}

fn name(host: &str) -> Result<ServerName<'static>, Failure> {
    pki::server_name(host).map_err(|error| Failure::new(Cause::InvalidCredentials, error.to_string()))
}

#[cfg(test)]
mod tests {
    use catalog::{Credentials, IdentityMode, Limits, Role, Trust};

    use super::*;

    fn server(roots: Roots, skip_verification: bool) -> Server {
        Server {
            name: catalog::ServerName::new("a"),
            revision: 1,
            role: Role::Federated,
            endpoints: Vec::new(),
            base_path: String::new(),
            trust: Trust { roots, server_name: None, skip_verification },
            identity: IdentityMode::RequestHeader,
            credentials: Credentials::default(),
            limits: Limits::default(),
            direct_address: None,
        }
    }

    #[test]
    fn servers_with_the_same_trust_share_its_parts_and_others_do_not() {
        let authority = || pki::Authority::make("a", std::time::Duration::from_secs(60)).expect("authority");
        let (one, other) = (authority(), authority());
        let pem = |authority: &pki::Authority| Roots::Pem(authority.certificate_pem().into());
        let config = |server: &Server| Shared::of(server).expect("usable");
        let first = config(&server(pem(&one), false));
        assert!(Arc::ptr_eq(&first, &config(&server(pem(&one), false))));
        assert!(!Arc::ptr_eq(&first, &config(&server(pem(&other), false))));
        assert!(!Arc::ptr_eq(&first, &config(&server(pem(&one), true))));
    }
}
