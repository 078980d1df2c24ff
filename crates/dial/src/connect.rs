//! One connection.

use std::time::Duration;

use catalog::{Cause, Endpoint, Failure};
use pki::ALPN_H2;
use tokio_rustls::TlsConnector;

use crate::{Io, TlsSetup, failure::handshake_failure, read_ahead::ReadAhead, tcp};

/// The protocols that we offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// HTTP/2 or HTTP/1.1, as the server likes.
    Any,
    /// HTTP/1.1 only: upgrades need it.
    Http1,
}

/// The protocol that a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1; also where the server takes no part in ALPN, and always in clear text.
    Http1,
    /// HTTP/2.
    Http2,
}

/// A connection that stands.
#[derive(Debug)]
pub struct Connected {
    /// The bytes.
    pub io: Io,
    /// What is spoken on it.
    pub protocol: Protocol,
}

/// Connects to a network endpoint: name, TCP with every address, TLS, all within `timeout`.
///
/// # Errors
/// With the cause as exact as can be known; its detail names the address. An in-process endpoint
/// takes no connections: [`Cause::NoEndpoints`].
pub async fn connect(
    setup: &TlsSetup,
    endpoint: &Endpoint,
    offer: Offer,
    timeout: Duration,
) -> Result<Connected, Failure> {
    let Endpoint::Network { tls, host, port } = endpoint else {
        return Err(Failure::new(Cause::NoEndpoints, "an in-process endpoint takes no connections"));
    };
    let deadline = tokio::time::Instant::now() + timeout;
    let too_late = |step: &str| {
        let detail = format!("{}: no {step} within {timeout:?}", endpoint.address());
        Failure::new(Cause::ConnectTimeout, detail)
    };
    let tcp = tokio::time::timeout_at(deadline, tcp::open(host, *port));
    let stream = tcp.await.map_err(|_| too_late("TCP connection"))??;
    if !tls {
        return Ok(Connected { io: Io::Clear(stream), protocol: Protocol::Http1 });
    }
    let connector = TlsConnector::from(setup.config(offer)?);
    let handshake = connector.connect(setup.server_name(host)?, ReadAhead::new(stream));
    let stream = tokio::time::timeout_at(deadline, handshake)
        .await
        .map_err(|_| too_late("TLS handshake"))?
        .map_err(|error| at(endpoint, handshake_failure(&error)))?;
    let protocol = match stream.get_ref().1.alpn_protocol() {
        Some(protocol) if protocol == ALPN_H2 => Protocol::Http2,
        _ => Protocol::Http1,
    };
    Ok(Connected { io: Io::Tls(Box::new(stream)), protocol })
}

fn at(endpoint: &Endpoint, failure: Failure) -> Failure {
    Failure::new(failure.cause, format!("{}: {}", endpoint.address(), failure.detail))
}
