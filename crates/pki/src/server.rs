//! TLS as a server: what to show, and whose client certificates count.

use std::sync::Arc;

use rustls::{
    DigitallySignedStruct, DistinguishedName, Error as TlsError, RootCertStore, ServerConfig,
    SignatureScheme,
    crypto::aws_lc_rs::Ticketer,
    pki_types::{CertificateDer, UnixTime},
    server::{
        NoServerSessionStorage, ProducesTickets, WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
    sign::SingleCertAndKey,
};

use crate::{CertifiedKey, Error, certificates, provider};

/// A server's side of TLS.
#[derive(Clone)]
pub struct ServerTls<'a> {
    /// What to show.
    pub certificate: &'a CertifiedKey,
    /// Who may sign clients. A client without a certificate is let in all the same; one with a
    /// certificate of nobody's is not.
    pub clients: Option<&'a ClientAuthorities>,
    /// Protocols to accept, best first.
    pub alpn: &'a [&'a [u8]],
    /// Keys of session tickets, kept over a change of certificate; none: no resumption. A resumed
    /// session is not verified again, so ask [`ClientAuthorities::authority_of`] on every connection.
    pub tickets: Option<Arc<dyn ProducesTickets>>,
}

impl ServerTls<'_> {
    /// The rustls configuration.
    ///
    /// # Errors
    /// When the certificate or its key cannot be used.
    pub fn build(&self) -> Result<ServerConfig, Error> {
        let verifier = match self.clients {
            Some(authorities) => Arc::new(authorities.clone()) as Arc<dyn ClientCertVerifier>,
            None => WebPkiClientVerifier::no_client_auth(),
        };
        let certified = self.certificate.to_rustls()?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|e| Error::tls("the TLS versions", e))?
            .with_client_cert_verifier(verifier)
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
        config.alpn_protocols = self.alpn.iter().map(|protocol| protocol.to_vec()).collect();
        // Sessions live in the clients' tickets, never in this process' memory.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        match &self.tickets {
            Some(tickets) => {
                config.ticketer = tickets.clone();
                config.send_tls13_tickets = 1;
            }
            None => config.send_tls13_tickets = 0,
        }
        Ok(config)
    }
}

/// Keys for session tickets, rotated every six hours.
///
/// # Errors
/// When the system gives no random bytes.
pub fn ticketer() -> Result<Arc<dyn ProducesTickets>, Error> {
    Ticketer::new().map_err(|e| Error::tls("session tickets", e))
}

/// Which authority signed a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerAuthority {
    /// The CA of users.
    Client,
    /// The CA of front proxies, whose request headers may be believed.
    FrontProxy,
}

/// The authorities that sign clients: users, front proxies, or both.
#[derive(Clone, Debug)]
pub struct ClientAuthorities {
    verifiers: Vec<(PeerAuthority, Arc<dyn ClientCertVerifier>)>,
    hints: Vec<DistinguishedName>,
}

impl ClientAuthorities {
    /// Users signed by the CAs of this bundle; `object` names it in errors.
    ///
    /// # Errors
    /// When the PEM is damaged or a certificate cannot be a root.
    pub fn new(client_ca: &[u8], object: &str) -> Result<Self, Error> {
        Self { verifiers: Vec::new(), hints: Vec::new() }.with(PeerAuthority::Client, client_ca, object)
    }

    /// Front proxies signed by the CAs of this bundle, and nobody else.
    ///
    /// # Errors
    /// When the PEM is damaged or a certificate cannot be a root.
    pub fn front_proxy_only(ca: &[u8], object: &str) -> Result<Self, Error> {
        Self { verifiers: Vec::new(), hints: Vec::new() }.with(PeerAuthority::FrontProxy, ca, object)
    }

    /// Adds the CAs of front proxies.
    ///
    /// # Errors
    /// When the PEM is damaged or a certificate cannot be a root.
    pub fn with_front_proxy(self, ca: &[u8], object: &str) -> Result<Self, Error> {
        self.with(PeerAuthority::FrontProxy, ca, object)
    }

    fn with(mut self, authority: PeerAuthority, pem: &[u8], object: &str) -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(pem, object)? {
            roots.add(certificate).map_err(|e| Error::tls(object, e))?;
        }
        self.hints.extend(roots.subjects());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider())
            .build()
            .map_err(|e| Error::tls(object, e))?;
        self.verifiers.push((authority, verifier));
        Ok(self)
    }

    /// Which authority signed this chain, as of now; none when nobody did or it has expired. Front
    /// proxies are asked first, as in upstream's order of authenticators. It costs a signature check
    /// or two: ask once per connection.
    pub fn authority_of(&self, chain: &[CertificateDer<'_>]) -> Option<PeerAuthority> {
        let (leaf, intermediates) = chain.split_first()?;
        let now = UnixTime::now();
        let signed = |wanted: PeerAuthority| {
            let verifiers = self.verifiers.iter().filter(move |(authority, _)| *authority == wanted);
            verifiers
                .map(|(_, verifier)| verifier)
                .any(|v| v.verify_client_cert(leaf, intermediates, now).is_ok())
        };
        [PeerAuthority::FrontProxy, PeerAuthority::Client].into_iter().find(|wanted| signed(*wanted))
    }
}

impl ClientCertVerifier for ClientAuthorities {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.hints
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        let mut verdict = Err(rustls::CertificateError::UnknownIssuer.into());
        for (_, verifier) in &self.verifiers {
            match verifier.verify_client_cert(end_entity, intermediates, now) {
                Ok(verified) => return Ok(verified),
                // Expired, say, tells more than that the other CA does not know it.
                Err(TlsError::InvalidCertificate(rustls::CertificateError::UnknownIssuer)) => {}
                Err(error) => verdict = Err(error),
            }
        }
        verdict
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, TlsError> {
        let algorithms = &provider().signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, TlsError> {
        let algorithms = &provider().signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}
