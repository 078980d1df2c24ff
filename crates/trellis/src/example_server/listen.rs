//! The listener: TLS with the example's own certificate, HTTP/1.1 and HTTP/2.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    sync::Arc,
    time::Duration,
};

use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use pki::{Ensured, Leaf, ServerTls};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::{caller::FrontProxy, route::Api, store::Store};
use crate::exit::{Code, Outcome, Problem};

/// Longest time for a TLS handshake and for the headers of a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the example's authority is valid.
const AUTHORITY_VALIDITY: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Accepts connections until the process ends.
pub(super) struct Listener {
    listener: TcpListener,
    tls: TlsAcceptor,
    front_proxy: FrontProxy,
    store: Arc<Store>,
}

impl Listener {
    /// Binds, with a certificate kept under `state`.
    pub(super) async fn bind(
        address: SocketAddr,
        state: &Path,
        front_proxy: FrontProxy,
        store: Arc<Store>,
    ) -> Outcome<Self> {
        let tls = acceptor(state, address.ip(), &front_proxy).map_err(Problem::state)?;
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| Problem::new(Code::Listen, format!("cannot listen on {address}: {error}")))?;
        Ok(Self { listener, tls, front_proxy, store })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Accepts for ever.
    pub(super) async fn run(self) {
        loop {
            let stream = match self.listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of file descriptors, most likely: wait for some to come free.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let (tls, front_proxy, store) = (self.tls.clone(), self.front_proxy.clone(), self.store.clone());
            tokio::spawn(async move {
                if let Err(error) = serve(stream, tls, front_proxy, store).await {
                    tracing::debug!(%error, "connection ended");
                }
            });
        }
    }
}

async fn serve(
    stream: TcpStream,
    tls: TlsAcceptor,
    front_proxy: FrontProxy,
    store: Arc<Store>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    stream.set_nodelay(true)?;
    let stream = tokio::time::timeout(PATIENCE, tls.accept(stream)).await??;
    let trusted = front_proxy.is_shown_by(stream.get_ref().1.peer_certificates());
    let api = Api { store, trusted };
    let service = service_fn(move |request| {
        let api = api.clone();
        async move { Ok::<_, std::convert::Infallible>(api.answer(request).await) }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(1000);
    builder.serve_connection(TokioIo::new(stream), service).await
}

fn acceptor(state: &Path, address: IpAddr, front_proxy: &FrontProxy) -> Result<TlsAcceptor, pki::Error> {
    pki::create_private_dir(state)?;
    let (authority, _): (_, Ensured) = pki::ensure_authority(
        &state.join("ca.crt"),
        &state.join("ca.key"),
        "trellis-example-server-ca",
        AUTHORITY_VALIDITY,
    )?;
    let mut leaf =
        Leaf::server("trellis-example-server").dns("localhost").ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    if !address.is_unspecified() {
        leaf = leaf.ip(address);
    }
    let (certificate, _) =
        pki::ensure_leaf(&authority, &state.join("serving.crt"), &state.join("serving.key"), &leaf)?;
    let config = ServerTls {
        certificate: &certificate,
        clients: Some(&front_proxy.authorities),
        alpn: &[pki::ALPN_H2, pki::ALPN_HTTP1],
        tickets: Some(pki::ticketer()?),
    };
    Ok(TlsAcceptor::from(Arc::new(config.build()?)))
}
