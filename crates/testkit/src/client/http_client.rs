//! A well-behaved HTTP client.

use std::io;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, Version, header};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use pki::{ALPN_H2, ALPN_HTTP1};

use super::Target;

/// Body of a request.
pub type OutBody = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// Bytes as a request's body.
pub fn out(bytes: impl Into<Bytes>) -> OutBody {
    OutBody::new(Full::new(bytes.into()).map_err(|never| match never {}))
}

/// One connection that speaks HTTP/1.1 or HTTP/2; closed when dropped.
pub struct Client {
    sender: Sender,
    target: Target,
}

enum Sender {
    Http1(http1::SendRequest<OutBody>),
    Http2(http2::SendRequest<OutBody>),
}

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Status code.
    pub status: StatusCode,
    /// HTTP version.
    pub version: Version,
    /// Header fields.
    pub headers: HeaderMap,
    /// Trailer fields.
    pub trailers: HeaderMap,
    /// Body.
    pub body: Bytes,
}

impl Reply {
    /// A header as text; empty when it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

impl Client {
    /// A connection that speaks HTTP/1.1.
    ///
    /// # Errors
    /// When it does not come about.
    pub async fn http1(target: &Target) -> io::Result<Self> {
        let io = TokioIo::new(target.connect(ALPN_HTTP1).await?);
        let (sender, connection) = http1::handshake(io).await.map_err(io::Error::other)?;
        tokio::spawn(connection.with_upgrades());
        Ok(Self { sender: Sender::Http1(sender), target: target.clone() })
    }

    /// A connection that speaks HTTP/2, in clear text from the first byte.
    ///
    /// # Errors
    /// When it does not come about.
    pub async fn http2(target: &Target) -> io::Result<Self> {
        let io = TokioIo::new(target.connect(ALPN_H2).await?);
        let handshake = http2::handshake(TokioExecutor::new(), io).await;
        let (sender, connection) = handshake.map_err(io::Error::other)?;
        tokio::spawn(connection);
        Ok(Self { sender: Sender::Http2(sender), target: target.clone() })
    }

    /// A second handle on the same HTTP/2 connection.
    ///
    /// # Panics
    /// With HTTP/1.1, which carries one request at a time.
    #[must_use]
    pub fn share(&self) -> Self {
        let Sender::Http2(sender) = &self.sender else { panic!("HTTP/1.1 connections are not shared") };
        Self { sender: Sender::Http2(sender.clone()), target: self.target.clone() }
    }

    /// Sends a request and gives the answer as soon as its head is there. The URI may be a path alone;
    /// `Host` or `:authority` are filled in when absent.
    ///
    /// # Errors
    /// When the connection or the stream ends before.
    pub async fn open(&mut self, mut request: Request<OutBody>) -> Result<Response<Incoming>, hyper::Error> {
        self.address(&mut request);
        match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Sender::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }

    /// Sends a request and waits for the whole answer.
    ///
    /// # Errors
    /// When the connection or the stream ends before.
    pub async fn send(&mut self, request: Request<OutBody>) -> Result<Reply, hyper::Error> {
        let (parts, mut body) = self.open(request).await?.into_parts();
        let (mut whole, mut trailers) = (BytesMut::new(), HeaderMap::new());
        while let Some(frame) = body.frame().await {
            match frame?.into_data() {
                Ok(data) => whole.extend_from_slice(&data),
                Err(frame) => trailers = frame.into_trailers().unwrap_or_default(),
            }
        }
        Ok(Reply {
            status: parts.status,
            version: parts.version,
            headers: parts.headers,
            trailers,
            body: whole.freeze(),
        })
    }

    /// A GET with these headers.
    ///
    /// # Panics
    /// When no whole answer comes.
    pub async fn get(&mut self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.request("GET", path, headers, "").await
    }

    /// Any request with these headers and this body.
    ///
    /// # Panics
    /// When no whole answer comes, or a header is none.
    pub async fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(out(body)).expect("a request");
        self.send(request).await.unwrap_or_else(|error| panic!("{method} {path}: {error:?}"))
    }

    fn address(&self, request: &mut Request<OutBody>) {
        let authority = self.target.authority();
        match &self.sender {
            Sender::Http1(_) if !request.headers().contains_key(header::HOST) => {
                let host = HeaderValue::try_from(authority).expect("an address");
                request.headers_mut().insert(header::HOST, host);
            }
            Sender::Http2(_) if request.uri().authority().is_none() => {
                let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
                let uri = Uri::builder().scheme(self.target.scheme()).authority(authority);
                *request.uri_mut() = uri.path_and_query(path).build().expect("a URI");
            }
            _ => {}
        }
    }
}
