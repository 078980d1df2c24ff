//! TLS as a client: whom to trust, what to show.

use std::sync::Arc;

use rustls::{ClientConfig, client::Resumption, pki_types::ServerName};

use crate::{CertifiedKey, Error, certificates, private_key, provider, verifier};

/// Certificate authorities that may have signed a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots<'a> {
    /// Those of the operating system, read once per process.
    System,
    /// A PEM bundle. A server's own self-signed certificate may stand in it too.
    Pem(&'a [u8]),
}

/// A client's side of TLS.
#[derive(Clone, Copy, Debug)]
pub struct ClientTls<'a> {
    /// Whom to trust.
    pub roots: Roots<'a>,
    /// Trust anybody under any name; `roots` is then not read.
    pub skip_verification: bool,
    /// What to show to a server that asks.
    pub certificate: Option<&'a CertifiedKey>,
    /// Protocols to offer, best first.
    pub alpn: &'a [&'a [u8]],
    /// Sessions remembered for resumption; each costs some kB. Zero: none.
    pub resumption_sessions: usize,
}

impl ClientTls<'_> {
    /// The rustls configuration.
    ///
    /// # Errors
    /// When the bundle, certificate or key cannot be used, or the system has no roots.
    pub fn build(&self) -> Result<ClientConfig, Error> {
        let verifier = match self.skip_verification {
            true => verifier::trust_anybody(),
            false => verifier::trust(&self.roots)?,
        };
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|e| Error::tls("the TLS versions", e))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match self.certificate {
            None => builder.with_no_client_auth(),
            Some(pair) => with_certificate(builder, pair)?,
        };
        config.alpn_protocols = self.alpn.iter().map(|protocol| protocol.to_vec()).collect();
        config.resumption = match self.resumption_sessions {
            0 => Resumption::disabled(),
            sessions => Resumption::in_memory_sessions(sessions),
        };
        Ok(config)
    }
}

fn with_certificate(
    builder: rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert>,
    pair: &CertifiedKey,
) -> Result<ClientConfig, Error> {
    pair.to_rustls()?;
    let chain = certificates(pair.chain_pem(), "the client certificate")?;
    let key = private_key(pair.key_pem(), "the client key")?;
    builder.with_client_auth_cert(chain, key).map_err(|e| Error::tls("the client certificate", e))
}

/// A host as the name to look for in a certificate and to send as SNI.
///
/// # Errors
/// When it is neither a DNS name nor an IP address.
pub fn server_name(host: &str) -> Result<ServerName<'static>, Error> {
    let unbracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    ServerName::try_from(unbracketed.to_owned()).map_err(|_| Error::Name { name: host.to_owned() })
}

/// For callers that share it among connections.
impl TryFrom<ClientTls<'_>> for Arc<ClientConfig> {
    type Error = Error;

    fn try_from(tls: ClientTls<'_>) -> Result<Self, Error> {
        tls.build().map(Arc::new)
    }
}
