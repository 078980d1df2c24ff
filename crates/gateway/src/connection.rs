//! One client connection: TLS, then HTTP as the client likes it.

mod coalesce;
mod io;

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::{HeaderValue, Request, Response};
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::{
    authn::ConnectionIdentity,
    body::Body,
    drain::{Active, Phase},
    limits::Permit,
    proxy::Door,
    workers::Seat,
};
use io::ClientIo;

/// How long an idle client may take to leave when the door stops.
const GOODBYE: Duration = Duration::from_secs(2);

/// A client's connection, as its requests see it.
pub(crate) struct Client {
    pub(crate) door: Arc<Door>,
    pub(crate) identity: ConnectionIdentity,
    /// The client's address as a header value.
    pub(crate) peer: HeaderValue,
    /// Several requests at a time.
    pub(crate) http2: bool,
    open: AtomicUsize,
    long_running: AtomicUsize,
}

impl Client {
    fn has_requests(&self) -> bool {
        self.open.load(Ordering::Relaxed) > 0
    }

    fn has_long_running(&self) -> bool {
        self.long_running.load(Ordering::Relaxed) > 0
    }

    /// A request begins.
    pub(crate) fn begin(self: &Arc<Self>) -> OpenRequest {
        self.open.fetch_add(1, Ordering::Relaxed);
        OpenRequest { client: self.clone(), long_running: false }
    }
}

/// A request of a client, until the end of its answer.
pub(crate) struct OpenRequest {
    client: Arc<Client>,
    long_running: bool,
}

impl OpenRequest {
    /// It is a watch, a log, an exec.
    pub(crate) fn is_long_running(&mut self) {
        if !std::mem::replace(&mut self.long_running, true) {
            self.client.long_running.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.client.open.fetch_sub(1, Ordering::Relaxed);
        if self.long_running {
            self.client.long_running.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// What a connection holds on to while it is open.
pub(crate) struct Place {
    pub(crate) _permit: Permit,
    pub(crate) _active: Active,
    pub(crate) _seat: Seat,
}

/// Serves one connection from the handshake to its end.
pub(crate) async fn serve(
    door: Arc<Door>,
    tls: Arc<rustls::ServerConfig>,
    stream: std::net::TcpStream,
    peer: SocketAddr,
    place: Place,
) {
    let stream = match TcpStream::from_std(stream) {
        Ok(stream) => stream,
        Err(error) => return tracing::warn!(%peer, %error, "cannot serve a connection"),
    };
    let _ = stream.set_nodelay(true);
    let handshake = TlsAcceptor::from(tls).accept(stream);
    let limit = door.limits.handshake_timeout;
    let stream = match timeout(limit, handshake).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%peer, %error, "TLS handshake failed"),
        Err(_) => return tracing::debug!(%peer, "TLS handshake took too long"),
    };
    let session = stream.get_ref().1;
    let http2 = session.alpn_protocol() == Some(b"h2");
    let identity = door.authenticator.connection(session.peer_certificates().unwrap_or_default(), peer);
    let peer = HeaderValue::from_str(&peer.ip().to_string()).unwrap_or(HeaderValue::from_static("unknown"));
    let (open, long_running) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let client = Arc::new(Client { door, identity, peer, http2, open, long_running });
    // A task of its own, so that the room the handshake needed is given back.
    if http2 {
        tokio::spawn(serve_http2(client, stream, place));
    } else {
        tokio::spawn(serve_http1(client, stream, place));
    }
}

fn serve_http1(client: Arc<Client>, stream: TlsStream<TcpStream>, place: Place) -> impl Future<Output = ()> {
    let door = &client.door;
    let io = TokioIo::new(ClientIo::http1(stream, client.clone()));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(door.limits.header_timeout)
        .max_buf_size(door.limits.max_head_bytes.max(8192));
    let connection = builder.serve_connection(io, Requests(client.clone())).with_upgrades();
    until_ended(connection, |connection| connection.graceful_shutdown(), client, place)
}

fn serve_http2(client: Arc<Client>, stream: TlsStream<TcpStream>, place: Place) -> impl Future<Output = ()> {
    let limits = &client.door.limits;
    let io = TokioIo::new(ClientIo::http2(stream, client.clone()));
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.max_streams)
        .max_header_list_size(limits.max_head_bytes.min(1 << 24) as u32)
        .max_pending_accept_reset_streams(limits.max_pending_resets)
        .max_local_error_reset_streams(limits.max_pending_resets)
        .keep_alive_interval(limits.ping_interval)
        .keep_alive_timeout(limits.ping_interval);
    let connection = builder.serve_connection(io, Requests(client.clone()));
    until_ended(connection, |connection| connection.graceful_shutdown(), client, place)
}

/// Drives a connection; tells it to come to an end when the door stops, and leaves it when the time for
/// that is over.
#[expect(
    clippy::manual_async_fn,
    reason = "an async fn holds its arguments twice; each client has one of these"
)]
fn until_ended<C: Future + Unpin>(
    mut connection: C,
    graceful_shutdown: fn(Pin<&mut C>),
    client: Arc<Client>,
    place: Place,
) -> impl Future<Output = ()> {
    async move {
        let _place = &place;
        let shutdown = &client.door.shutdown;
        tokio::select! {
            _ = &mut connection => return,
            () = shutdown.reached(Phase::Draining) => graceful_shutdown(Pin::new(&mut connection)),
        }
        tokio::select! {
            _ = &mut connection => {}
            () = shutdown.reached(Phase::Ended) => {}
            () = quiet(&client) => {}
        }
    }
}

/// Returns when the client had no request for a while. HTTP/2 says goodbye in two steps, and waits between
/// them for an answer that a client may never give.
async fn quiet(client: &Client) {
    let mut was_idle = false;
    while !was_idle || client.has_requests() {
        was_idle = !client.has_requests();
        sleep(GOODBYE).await;
    }
}

/// Hands each request of a connection to the door.
struct Requests(Arc<Client>);

impl hyper::service::Service<Request<Incoming>> for Requests {
    type Response = Response<Body>;
    type Error = Infallible;
    /// Boxed, so that its room is given back as soon as the answer streams.
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let client = self.0.clone();
        Box::pin(async move { Ok(crate::proxy::handle(&client, request).await) })
    }
}
