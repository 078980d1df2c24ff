//! A test server before it starts.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicUsize},
    },
};

use pki::{ALPN_H2, ALPN_HTTP1};
use rustls::{RootCertStore, ServerConfig, server::WebPkiClientVerifier};
use tokio::sync::watch;

use super::{Answer, FakeServer, Group, Recorded, Resource, Script, Shared, connection::Setup, gate::Gate};
use crate::{Serving, TempPki};

/// Answers some requests itself; the rest are answered as usual.
pub type Handler = Arc<dyn Fn(&Recorded) -> Option<Answer> + Send + Sync>;

/// What a test server shall be. Without any call: clear text, one group `wardle.example.com/v1` with
/// `flunders`, discovery in all forms, OpenAPI v2 and v3.
#[derive(Default)]
pub struct Builder {
    script: Script,
    tls: Option<pki::CertifiedKey>,
    client_ca: Option<Vec<u8>>,
    client_required: bool,
    protocols: Protocols,
    listen: Option<SocketAddr>,
    raw: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Protocols {
    #[default]
    Both,
    Http1,
    Http2,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self { script: Script { openapi_v3: true, ..Script::default() }, ..Self::default() }
    }

    /// Adds a group version.
    #[must_use]
    pub fn group(mut self, group: Group) -> Self {
        self.script.groups.push(group);
        self
    }

    /// Serves everything below this path prefix, for example `/prefix`.
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.script.prefix);
        self
    }

    /// TLS with a certificate of this PKI.
    #[must_use]
    pub fn tls(self, pki: &TempPki, serving: Serving) -> Self {
        self.tls_with(pki.serving(serving))
    }

    /// TLS with this certificate.
    #[must_use]
    pub fn tls_with(mut self, certificate: pki::CertifiedKey) -> Self {
        self.tls = Some(certificate);
        self
    }

    /// Clients must show a certificate of this CA (PEM).
    #[must_use]
    pub fn require_client(mut self, ca: &[u8]) -> Self {
        (self.client_ca, self.client_required) = (Some(ca.to_vec()), true);
        self
    }

    /// Clients may show a certificate of this CA (PEM).
    #[must_use]
    pub fn accept_client(mut self, ca: &[u8]) -> Self {
        (self.client_ca, self.client_required) = (Some(ca.to_vec()), false);
        self
    }

    /// No HTTP/2.
    #[must_use]
    pub fn http1_only(mut self) -> Self {
        self.protocols = Protocols::Http1;
        self
    }

    /// No HTTP/1.1; in clear text, HTTP/2 from the first byte.
    #[must_use]
    pub fn http2_only(mut self) -> Self {
        self.protocols = Protocols::Http2;
        self
    }

    /// Discovery in the legacy form only.
    #[must_use]
    pub fn legacy_discovery_only(mut self) -> Self {
        self.script.legacy_only = true;
        self
    }

    /// No OpenAPI v3.
    #[must_use]
    pub fn openapi_v2_only(mut self) -> Self {
        self.script.openapi_v3 = false;
        self
    }

    /// Makes each definition in OpenAPI larger by so many bytes.
    #[must_use]
    pub fn openapi_padding(mut self, bytes: usize) -> Self {
        self.script.openapi_padding = bytes;
        self
    }

    /// Lets `handler` answer first.
    #[must_use]
    pub fn handler(mut self, handler: impl Fn(&Recorded) -> Option<Answer> + Send + Sync + 'static) -> Self {
        self.script.handler = Some(Arc::new(handler));
        self
    }

    /// Keeps all bytes as they come, for [`FakeServer::raw`].
    #[must_use]
    pub fn record_raw(mut self) -> Self {
        self.raw = true;
        self
    }

    /// Listens there rather than on a free port of 127.0.0.1.
    #[must_use]
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = Some(address);
        self
    }

    /// Starts it.
    ///
    /// # Panics
    /// When the port cannot be had or a certificate cannot be used.
    pub async fn start(mut self) -> FakeServer {
        if self.script.groups.is_empty() {
            let flunders = [Resource::namespaced("flunders", "Flunder")];
            self.script.groups.push(Group::new("wardle.example.com", "v1", flunders));
        }
        let setup = Setup {
            tls: self.tls.as_ref().map(|certificate| Arc::new(self.server_config(certificate))),
            clear_http2: self.protocols == Protocols::Http2,
        };
        let gate = Gate::default();
        if self.raw {
            gate.record_raw();
        }
        let shared = Arc::new(Shared {
            script: Mutex::new(self.script),
            store: Default::default(),
            log: Default::default(),
            gate,
            connections: AtomicUsize::new(0),
            accepted: AtomicUsize::new(0),
            half_open: AtomicBool::new(false),
            garbage: AtomicBool::new(false),
            goaway_every: AtomicU32::new(0),
            goaway_first: AtomicU32::new(0),
            cancelled: watch::channel(0).0,
            killed: watch::channel(0).0,
        });
        let listen = self.listen.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, 0).into());
        FakeServer::start(shared, setup, listen).await
    }

    fn server_config(&self, certificate: &pki::CertifiedKey) -> ServerConfig {
        let builder = ServerConfig::builder_with_provider(pki::provider())
            .with_safe_default_protocol_versions()
            .expect("TLS versions");
        let verifier = match &self.client_ca {
            None => WebPkiClientVerifier::no_client_auth(),
            Some(ca) => {
                let mut roots = RootCertStore::empty();
                for certificate in pki::certificates(ca, "the client CA").expect("a CA bundle") {
                    roots.add(certificate).expect("a CA");
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), pki::provider());
                match self.client_required {
                    true => verifier.build(),
                    false => verifier.allow_unauthenticated().build(),
                }
                .expect("a verifier of clients")
            }
        };
        let chain = pki::certificates(certificate.chain_pem(), "the certificate").expect("a chain");
        let key = pki::private_key(certificate.key_pem(), "the key").expect("a key");
        let mut config = builder
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .expect("certificate and key");
        let offered: &[&[u8]] = match self.protocols {
            Protocols::Both => &[ALPN_H2, ALPN_HTTP1],
            Protocols::Http1 => &[ALPN_HTTP1],
            Protocols::Http2 => &[ALPN_H2],
        };
        config.alpn_protocols = offered.iter().map(|protocol| protocol.to_vec()).collect();
        config
    }
}
