//! Opening a connection, on a task of its own: whoever asked for it may be gone by then.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use catalog::{Cause, Failure};
use dial::{Connected, Io, Offer, Protocol};
use hyper_util::rt::TokioIo;
use socket2::{SockRef, TcpKeepalive};

use super::{
    EndpointPool,
    http1::{self, Idle},
    http2::Http2Connection,
};

/// Bytes that a backend may send on a stream before the client has taken them.
const STREAM_WINDOW: u32 = 256 * 1024;
/// The streams limit themselves; the connection as a whole must not let one slow client stop the rest.
const CONNECTION_WINDOW: u32 = (1 << 31) - 1;
/// Larger frames make large answers cheaper.
const FRAME_BYTES: u32 = 64 * 1024;
/// Bytes of headers in an answer.
const MAX_HEADER_BYTES: u32 = 256 * 1024;
/// Bytes of a request body that wait for the backend to take them, for each stream.
const SEND_BUFFER: usize = 64 * 1024;

/// Opens a connection, driven by the thread that this runs on, and hands it, or why there is none, to
/// `endpoint`. `home`: the place of that thread.
pub(super) async fn dial(endpoint: Arc<EndpointPool>, home: usize) {
    let connected = match connect(&endpoint, Offer::Any).await {
        Ok(connected) => connected,
        Err(failure) => return endpoint.dial_failed(failure),
    };
    let ready = match connected.protocol {
        Protocol::Http2 => start_http2(&endpoint, connected.io, home).await,
        Protocol::Http1 => start_http1(&endpoint, connected.io, home).await,
    };
    if let Err(failure) = ready {
        endpoint.dial_failed(failure);
    }
}

/// A bare connection, tuned; for pools and for upgrades.
pub(crate) async fn connect(endpoint: &EndpointPool, offer: Offer) -> Result<Connected, Failure> {
    let shared = &endpoint.shared;
    let tls = shared.tls.as_ref().map_err(Clone::clone)?;
    let timeout = shared.server.limits.connect_timeout;
    let connected = dial::connect(tls, &endpoint.endpoint, offer, timeout).await?;
    tune(&connected.io);
    Ok(connected)
}

/// HTTP/1.1 has no ping: the kernel finds out whether the other side is still there. Data that is not
/// acknowledged ends the connection as well.
fn tune(io: &Io) {
    let socket = SockRef::from(io.tcp());
    let second = Duration::from_secs(1);
    let keepalive = TcpKeepalive::new().with_time(second).with_interval(second).with_retries(2);
    // A kernel that cannot do it leaves us with slower detection, nothing worse.
    let _ = socket.set_tcp_keepalive(&keepalive);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(Duration::from_millis(1500)));
}

async fn start_http2(endpoint: &Arc<EndpointPool>, io: Io, home: usize) -> Result<(), Failure> {
    let mut builder = h2::client::Builder::new();
    builder
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_frame_size(FRAME_BYTES)
        .max_header_list_size(MAX_HEADER_BYTES)
        .max_send_buffer_size(SEND_BUFFER)
        .enable_push(false);
    let (sender, connection) = builder
        .handshake::<_, Bytes>(io)
        .await
        .map_err(|error| Failure::new(Cause::ProtocolError, format!("{}: {error}", endpoint.address)))?;
    let shared = Http2Connection::new(sender);
    tokio::spawn(shared.clone().drive(connection, Arc::downgrade(endpoint), home));
    endpoint.shared.metrics.connections(1);
    endpoint.dialed_http2(&shared, home);
    Ok(())
}

async fn start_http1(endpoint: &Arc<EndpointPool>, io: Io, home: usize) -> Result<(), Failure> {
    let (sender, connection) = http1::builder()
        .handshake(TokioIo::new(io))
        .await
        .map_err(|error| Failure::new(Cause::ProtocolError, format!("{}: {error}", endpoint.address)))?;
    let (weak, metrics) = (Arc::downgrade(endpoint), endpoint.shared.metrics.clone());
    tokio::spawn(async move {
        let _ = connection.await;
        metrics.connections(-1);
        if let Some(endpoint) = weak.upgrade() {
            endpoint.closed_http1();
        }
    });
    endpoint.shared.metrics.connections(1);
    endpoint.dialed_http1(Idle::new(sender, home));
    Ok(())
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    /// The kernel notices within 1.5 s that sent data is not acknowledged, and soon after that nobody is
    /// there at all.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_kernel_watches_connections() -> std::io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let io = Io::Clear(TcpStream::connect(listener.local_addr()?).await?);
        tune(&io);
        let socket = SockRef::from(io.tcp());
        assert!(socket.keepalive()?);
        assert_eq!(socket.tcp_keepalive_time()?, Duration::from_secs(1));
        assert_eq!(socket.tcp_keepalive_interval()?, Duration::from_secs(1));
        assert_eq!(socket.tcp_user_timeout()?, Some(Duration::from_millis(1500)));
        Ok(())
    }
}
