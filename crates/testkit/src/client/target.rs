//! Where a test client connects to, and as whom.

use std::{net::SocketAddr, sync::Arc};

use pki::{CertifiedKey, ClientTls, Roots};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

/// A byte stream, encrypted or not.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// An address with all that a connection to it needs.
#[derive(Clone, Debug)]
pub struct Target {
    address: SocketAddr,
    ca: Option<Vec<u8>>,
    identity: Option<CertifiedKey>,
    server_name: String,
}

impl Target {
    /// In clear text.
    pub fn clear(address: SocketAddr) -> Self {
        Self { address, ca: None, identity: None, server_name: address.ip().to_string() }
    }

    /// Over TLS, trusting this CA (PEM).
    pub fn tls(address: SocketAddr, ca: &[u8]) -> Self {
        Self { ca: Some(ca.to_vec()), ..Self::clear(address) }
    }

    /// Shows this client certificate.
    #[must_use]
    pub fn identity(mut self, identity: CertifiedKey) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Expects this name in the certificate.
    #[must_use]
    pub fn server_name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.server_name);
        self
    }

    /// `host:port`.
    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    /// `https` or `http`.
    pub fn scheme(&self) -> &'static str {
        if self.ca.is_some() { "https" } else { "http" }
    }

    /// Connects, offering this protocol alone.
    ///
    /// # Errors
    /// When the connection is refused, or TLS fails.
    pub async fn connect(&self, alpn: &[u8]) -> std::io::Result<Box<dyn Stream>> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let Some(ca) = &self.ca else { return Ok(Box::new(stream)) };
        let tls = ClientTls {
            roots: Roots::Pem(ca),
            skip_verification: false,
            certificate: self.identity.as_ref(),
            alpn: &[alpn],
            resumption_sessions: 0,
        };
        let config = Arc::new(tls.build().map_err(std::io::Error::other)?);
        let name = pki::server_name(&self.server_name).map_err(std::io::Error::other)?;
        Ok(Box::new(TlsConnector::from(config).connect(name, stream).await?))
    }
}
