//! One connection of a test server.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use hyper::{
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ServerConfig;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
    sync::Notify,
};
use tokio_rustls::TlsAcceptor;

use super::{
    SharedRef,
    answer::{Caller, service},
    gate::Gated,
    goaway,
};

/// How a server listens.
#[derive(Clone)]
pub(crate) struct Setup {
    /// None: clear text.
    pub(crate) tls: Option<Arc<ServerConfig>>,
    /// Clear text is HTTP/2 from its first byte.
    pub(crate) clear_http2: bool,
}

pub(crate) async fn serve(shared: SharedRef, setup: Setup, stream: TcpStream) {
    let number = shared.accepted.fetch_add(1, Relaxed);
    let _open = Open::new(shared.clone());
    if shared.half_open.load(Relaxed) {
        return std::future::pending().await;
    }
    // Frozen are handshakes too; what is recorded is what TLS has decrypted.
    let stream = Gated { stream, gate: shared.gate.clone(), records: false };
    let _ = match setup.tls {
        None => speak(shared, stream, setup.clear_http2, Caller { peer: None, connection: number }).await,
        Some(config) => {
            let Ok(stream) = TlsAcceptor::from(config).accept(stream).await else { return };
            let session = stream.get_ref().1;
            let http2 = session.alpn_protocol() == Some(pki::ALPN_H2);
            let peer = session.peer_certificates().and_then(|chain| chain.first());
            let peer = peer.and_then(|leaf| pki::Peer::parse(leaf).ok()).map(|peer| peer.common_name);
            speak(shared, stream, http2, Caller { peer, connection: number }).await
        }
    };
}

async fn speak<S>(shared: SharedRef, stream: S, http2: bool, caller: Caller) -> Result<(), hyper::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut stream = Gated { stream, gate: shared.gate.clone(), records: true };
    if shared.garbage.load(Relaxed) {
        let _ = stream.write_all(b"220 mail.example.com ESMTP at your service\r\n").await;
        let _ = stream.shutdown().await;
        return Ok(());
    }
    let refuse = |left: u32| left.checked_sub(1);
    if http2 && shared.goaway_first.fetch_update(Relaxed, Relaxed, refuse).is_ok() {
        let _ = goaway::refuse_first(stream).await;
        return Ok(());
    }
    match http2 {
        true => speak_http2(shared, stream, caller).await,
        false => speak_http1(shared, stream, caller).await,
    }
}

async fn speak_http2<S>(shared: SharedRef, stream: S, caller: Caller) -> Result<(), hyper::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (counter, enough) = count(&shared);
    let service = service_fn(service(shared, caller, counter));
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.max_concurrent_streams(1000);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        ended = &mut connection => return ended,
        () = enough.notified() => {}
    }
    connection.as_mut().graceful_shutdown();
    connection.await
}

async fn speak_http1<S>(shared: SharedRef, stream: S, caller: Caller) -> Result<(), hyper::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (counter, enough) = count(&shared);
    let service = service_fn(service(shared, caller, counter));
    let mut builder = http1::Builder::new();
    builder.max_headers(1000);
    let mut connection =
        std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service).with_upgrades());
    tokio::select! {
        ended = &mut connection => return ended,
        () = enough.notified() => {}
    }
    connection.as_mut().graceful_shutdown();
    connection.await
}

/// Told of every request of a connection; notifies when it had as many as the script allows it.
fn count(shared: &SharedRef) -> (Arc<dyn Fn() + Send + Sync>, Arc<Notify>) {
    let enough = Arc::new(Notify::new());
    let (shared, notify, requests) = (shared.clone(), enough.clone(), AtomicU32::new(0));
    let each = move || {
        let so_far = requests.fetch_add(1, Relaxed) + 1;
        let allowed = shared.goaway_every.load(Relaxed);
        if allowed != 0 && so_far >= allowed {
            notify.notify_one();
        }
    };
    (Arc::new(each), enough)
}

/// Counts while it lives.
struct Open(SharedRef);

impl Open {
    fn new(shared: SharedRef) -> Self {
        shared.connections.fetch_add(1, Relaxed);
        Self(shared)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Relaxed);
    }
}
