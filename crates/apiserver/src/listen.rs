//! HTTPS: connections from the handshake to their end.

use std::{convert::Infallible, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use http_body_util::{BodyExt as _, combinators::UnsyncBoxBody};
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::{
    authn::PeerCertificates,
    service::{Body, BodyError, PeerAddress, Service},
};

/// What connections may cost.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at a time; more wait in the kernel's queue.
    pub max_connections: usize,
    /// Until a TLS handshake must be done.
    pub handshake_timeout: Duration,
    /// Until the head of a request must be there.
    pub header_timeout: Duration,
    /// Bytes of a request's head; at least 8 kB.
    pub max_head_bytes: u32,
    /// Requests at a time over one HTTP/2 connection.
    pub max_streams: u32,
    /// How often a silent HTTP/2 client is pinged.
    pub ping_interval: Duration,
    /// How long `/readyz` fails before connections are closed.
    pub shutdown_delay: Duration,
    /// Until a stopping server ends what is still there.
    pub drain_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 20_000,
            handshake_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(32),
            max_head_bytes: 64 * 1024,
            max_streams: 1000,
            ping_interval: Duration::from_secs(30),
            shutdown_delay: Duration::ZERO,
            drain_timeout: Duration::from_secs(30),
        }
    }
}

/// After an error of `accept` (no file descriptors left): what is open may close meanwhile.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves `listener` until `stop` is done: then `/readyz` fails, watches end, what is in flight finishes, and
/// what has not after a while is cut off. The TLS configuration is read anew for each connection.
pub async fn serve(
    service: Arc<Service>,
    listener: TcpListener,
    tls: Arc<ArcSwap<ServerConfig>>,
    limits: Limits,
    stop: impl Future<Output = ()>,
) {
    let (leave, left) = watch::channel(false);
    let places = Arc::new(Semaphore::new(limits.max_connections));
    let mut connections = JoinSet::new();
    let stopping = async {
        stop.await;
        service.stop();
        sleep(limits.shutdown_delay).await;
    };
    tokio::pin!(stopping);
    loop {
        let accepted = tokio::select! {
            () = &mut stopping => break,
            accepted = accept(&listener, &places) => accepted,
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, peer, place)) => {
                let connection = Connection {
                    service: Arc::clone(&service),
                    limits: limits.clone(),
                    peer,
                    left: left.clone(),
                };
                let tls = tls.load_full();
                connections.spawn(async move {
                    let _place = place;
                    connection.serve(stream, tls).await;
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    leave.send_replace(true);
    let drained = async { while connections.join_next().await.is_some() {} };
    if timeout(limits.drain_timeout, drained).await.is_err() {
        tracing::info!("ended connections that were still busy");
    }
}

type Place = tokio::sync::OwnedSemaphorePermit;

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, SocketAddr, Place)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(std::io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    Ok((stream, peer, place))
}

struct Connection {
    service: Arc<Service>,
    limits: Limits,
    peer: SocketAddr,
    left: watch::Receiver<bool>,
}

impl Connection {
    async fn serve(self, stream: TcpStream, tls: Arc<ServerConfig>) {
        let _ = stream.set_nodelay(true);
        let handshake = TlsAcceptor::from(tls).accept(stream);
        let stream = match timeout(self.limits.handshake_timeout, handshake).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return tracing::debug!(peer = %self.peer, %error, "TLS handshake failed"),
            Err(_) => return tracing::debug!(peer = %self.peer, "TLS handshake took too long"),
        };
        let session = stream.get_ref().1;
        let chain = session.peer_certificates().unwrap_or_default();
        let requests = Requests {
            service: Arc::clone(&self.service),
            certificates: Arc::new(PeerCertificates::new(chain)),
            peer: PeerAddress(self.peer),
        };
        match session.alpn_protocol() == Some(pki::ALPN_H2) {
            true => self.http2(stream, requests).await,
            false => self.http1(stream, requests).await,
        }
    }

    async fn http1(self, stream: TlsStream<TcpStream>, requests: Requests) {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_timeout)
            .max_buf_size((self.limits.max_head_bytes as usize).max(8192));
        let connection = builder.serve_connection(TokioIo::new(stream), requests);
        self.until_ended(connection, |connection| connection.graceful_shutdown()).await;
    }

    async fn http2(self, stream: TlsStream<TcpStream>, requests: Requests) {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .max_concurrent_streams(self.limits.max_streams)
            .max_header_list_size(self.limits.max_head_bytes)
            .keep_alive_interval(self.limits.ping_interval)
            .keep_alive_timeout(self.limits.ping_interval);
        let connection = builder.serve_connection(TokioIo::new(stream), requests);
        self.until_ended(connection, |connection| connection.graceful_shutdown()).await;
    }

    async fn until_ended<C: Future>(mut self, connection: C, graceful_shutdown: fn(Pin<&mut C>)) {
        tokio::pin!(connection);
        tokio::select! {
            _ = &mut connection => return,
            _ = self.left.wait_for(|left| *left) => graceful_shutdown(connection.as_mut()),
        }
        let _ = connection.await;
    }
}

/// Hands each request of a connection to the service.
struct Requests {
    service: Arc<Service>,
    certificates: Arc<PeerCertificates>,
    peer: PeerAddress,
}

impl hyper::service::Service<http::Request<Incoming>> for Requests {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

    fn call(&self, request: http::Request<Incoming>) -> Self::Future {
        let mut request = request.map(|body| UnsyncBoxBody::new(body.map_err(broken_off)));
        request.extensions_mut().insert(Arc::clone(&self.certificates));
        request.extensions_mut().insert(self.peer);
        let service = Arc::clone(&self.service);
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}

fn broken_off(error: hyper::Error) -> BodyError {
    BodyError(error.to_string())
}
