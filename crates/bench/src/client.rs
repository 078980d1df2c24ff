//! The load: connections that each send one request after another.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, client::conn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use pki::{ALPN_H2, ALPN_HTTP1, CertifiedKey, ClientTls, Roots};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, rustls::ClientConfig};

/// The version of HTTP that a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Http {
    /// HTTP/1.1.
    One,
    /// HTTP/2.
    Two,
}

impl std::fmt::Display for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Self::One { "h1" } else { "h2" })
    }
}

/// Where to connect and as whom.
#[derive(Clone)]
pub struct Target {
    /// Address of the peer.
    pub address: SocketAddr,
    one: Arc<ClientConfig>,
    two: Arc<ClientConfig>,
}

impl Target {
    /// A target that trusts `ca` and shows `certificate`.
    pub fn new(address: SocketAddr, ca: &[u8], certificate: Option<&CertifiedKey>) -> Result<Self> {
        let config = |alpn: &[&[u8]]| -> Result<Arc<ClientConfig>> {
            let tls = ClientTls {
                roots: Roots::Pem(ca),
                skip_verification: false,
                certificate,
                alpn,
                resumption_sessions: 0,
            };
            Ok(Arc::new(tls.build()?))
        };
        Ok(Self { address, one: config(&[ALPN_HTTP1])?, two: config(&[ALPN_H2])? })
    }

    /// Opens one connection.
    pub async fn connect(&self, http: Http) -> Result<Connection> {
        let stream =
            TcpStream::connect(self.address).await.with_context(|| format!("connect {}", self.address))?;
        stream.set_nodelay(true)?;
        let config = if http == Http::One { self.one.clone() } else { self.two.clone() };
        let name = pki::server_name(&self.address.ip().to_string())?;
        let io = TokioIo::new(TlsConnector::from(config).connect(name, stream).await?);
        Ok(match http {
            Http::One => {
                let (sender, connection) = conn::http1::handshake(io).await?;
                tokio::spawn(connection);
                Connection::One(sender)
            }
            Http::Two => {
                let (sender, connection) = conn::http2::handshake(TokioExecutor::new(), io).await?;
                tokio::spawn(connection);
                Connection::Two(sender)
            }
        })
    }

    /// One request on a connection of its own; the body is read to its end.
    pub async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<(StatusCode, Bytes)> {
        let mut connection = self.connect(Http::Two).await?;
        let response = connection.send(method, path, body).await?;
        let status = response.status();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }

    /// Repeats a GET until it answers 200.
    pub async fn wait(&self, path: &str, limit: Duration) -> Result<()> {
        let start = Instant::now();
        loop {
            let answer =
                tokio::time::timeout(Duration::from_secs(2), self.request(Method::GET, path, None)).await;
            match answer {
                Ok(Ok((StatusCode::OK, _))) => return Ok(()),
                other if start.elapsed() > limit => bail!("{path} at {}: {other:?}", self.address),
                _ => tokio::time::sleep(Duration::from_millis(2)).await,
            }
        }
    }
}

/// One connection.
pub enum Connection {
    /// HTTP/1.1.
    One(conn::http1::SendRequest<Full<Bytes>>),
    /// HTTP/2.
    Two(conn::http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    /// Sends a request and waits for the head of the answer.
    pub async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<Response<Incoming>> {
        let builder = Request::builder().method(method);
        let builder = match self {
            Self::One(_) => builder.uri(path).header(header::HOST, "bench.example.com"),
            Self::Two(_) => builder.uri(format!("https://bench.example.com{path}")),
        };
        let builder = match body {
            Some(_) => builder.header(header::CONTENT_TYPE, "application/json"),
            None => builder,
        };
        let request = builder
            .header(header::ACCEPT, "application/json")
            .header(header::USER_AGENT, "bench/1")
            .body(Full::new(body.unwrap_or_default().into()))?;
        Ok(match self {
            Self::One(sender) => {
                sender.ready().await?;
                sender.send_request(request).await?
            }
            Self::Two(sender) => {
                sender.ready().await?;
                sender.send_request(request).await?
            }
        })
    }
}

/// What a burst of requests took.
#[derive(Clone, Debug, Default)]
pub struct Burst {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Requests answered with 200 in full.
    pub requests: usize,
    /// Everything else.
    pub errors: usize,
    /// Seconds of each request.
    pub latencies: Vec<f64>,
}

/// Sends `requests` GETs of `path` over the connections, each connection one after another.
pub async fn burst(connections: &mut [Connection], path: &str, requests: usize) -> Burst {
    let each = requests.div_ceil(connections.len());
    let start = Instant::now();
    let mut burst = Burst::default();
    let results = futures_util::future::join_all(connections.iter_mut().map(|c| repeat(c, path, each))).await;
    for (latencies, errors) in results {
        burst.requests += latencies.len();
        burst.errors += errors;
        burst.latencies.extend(latencies);
    }
    burst.seconds = start.elapsed().as_secs_f64();
    burst
}

async fn repeat(connection: &mut Connection, path: &str, times: usize) -> (Vec<f64>, usize) {
    let mut latencies = Vec::with_capacity(times);
    let mut errors = 0;
    for _ in 0..times {
        let start = Instant::now();
        match get(connection, path).await {
            Ok(StatusCode::OK) => latencies.push(start.elapsed().as_secs_f64()),
            _ => errors += 1,
        }
    }
    (latencies, errors)
}

async fn get(connection: &mut Connection, path: &str) -> Result<StatusCode> {
    let response = connection.send(Method::GET, path, None).await?;
    let status = response.status();
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        frame?;
    }
    Ok(status)
}

/// Opens `count` connections.
pub async fn connections(target: &Target, http: Http, count: usize) -> Result<Vec<Connection>> {
    let mut opened = Vec::with_capacity(count);
    for _ in 0..count {
        opened.push(target.connect(http).await?);
    }
    Ok(opened)
}
