//! TLS towards one server, prepared once.

use std::sync::Arc;

use catalog::{Cause, Endpoint, Failure, Roots, Server};
use pki::{ALPN_H2, ALPN_HTTP1, CertifiedKey, ClientTls};
use rustls::{ClientConfig, pki_types::ServerName};

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
        let certificate = server.credentials.client_certificate.as_ref().map(|certificate| {
            CertifiedKey::from_pem(&*certificate.chain, certificate.key.expose(), "the client certificate")
        });
        let mut tls = ClientTls {
            roots: match &server.trust.roots {
                Roots::System => pki::Roots::System,
                Roots::Pem(pem) => pki::Roots::Pem(pem),
            },
            skip_verification: server.trust.skip_verification,
            certificate: certificate.as_ref(),
            alpn: &[ALPN_H2, ALPN_HTTP1],
            resumption_sessions: RESUMPTION_SESSIONS,
        };
        let any = build(&tls)?;
        // Roots, certificate and remembered sessions are shared; only the offer differs.
        let mut http1 = (*any).clone();
        tls.alpn = &[ALPN_HTTP1];
        http1.alpn_protocols = tls.alpn.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(Self { any, http1: Arc::new(http1) })
    }
}

fn build(tls: &ClientTls<'_>) -> Result<Arc<ClientConfig>, Failure> {
    tls.build().map(Arc::new).map_err(|error| Failure::new(Cause::InvalidCredentials, error.to_string()))
}

fn name(host: &str) -> Result<ServerName<'static>, Failure> {
    pki::server_name(host).map_err(|error| Failure::new(Cause::InvalidCredentials, error.to_string()))
}
