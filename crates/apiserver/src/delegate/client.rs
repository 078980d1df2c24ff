//! A client of the core, over one kept connection.

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http::{HeaderValue, Method, Request, Response, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use pki::{CertifiedKey, ClientTls, Roots};
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use tokio::{net::TcpStream, sync::Mutex, time::timeout};
use tokio_rustls::TlsConnector;

use super::{Core, CoreError, Lines};
use crate::hooks::Later;

/// Until a connection must stand, and until an answer must be there.
const LIMIT: Duration = Duration::from_secs(10);
/// Longest answer, and longest line of a watch, in bytes.
const MAX_ANSWER: usize = 3 << 20;
/// How much of a refusal is shown.
const SHOWN: usize = 256;
/// How often a silent connection is pinged.
const PING: Duration = Duration::from_secs(30);

/// How the core is reached.
#[derive(Clone, Debug)]
pub struct Connection {
    /// `https://host:port`, maybe with a path.
    pub server: String,
    /// CAs of the core, PEM; none: those of the system.
    pub ca: Option<Vec<u8>>,
    /// Name to look for in its certificate, in place of the host.
    pub server_name: Option<String>,
    /// As whom.
    pub credential: Credential,
}

/// The server's own account.
#[derive(Clone)]
pub enum Credential {
    /// A certificate and its key.
    Certificate(CertifiedKey),
    /// A bearer token.
    Token(String),
    /// A file with a bearer token, read anew for each request, as those in pods must be.
    TokenFile(PathBuf),
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Certificate(_) => "Certificate",
            Self::Token(_) => "Token",
            Self::TokenFile(_) => "TokenFile",
        })
    }
}

/// A client of the core.
pub struct Client {
    authority: String,
    /// Before every path.
    base: String,
    name: ServerName<'static>,
    tls: Arc<ClientConfig>,
    credential: Credential,
    /// Carries all requests at once. With HTTP/1.1 each has a connection of its own.
    kept: Mutex<Option<http2::SendRequest<Full<Bytes>>>>,
}

impl Client {
    /// A client that will connect when it is first used.
    ///
    /// # Errors
    /// When the address is none, or certificates cannot be used.
    pub fn new(connection: &Connection) -> Result<Self, CoreError> {
        let wrong = |problem: String| CoreError::Connect(format!("{}: {problem}", connection.server));
        let uri: Uri = connection.server.parse().map_err(|error| wrong(format!("{error}")))?;
        let (Some("https"), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(wrong("only https addresses can be used".to_owned()));
        };
        let name = connection.server_name.as_deref().unwrap_or(authority.host());
        let name = pki::server_name(name).map_err(|error| wrong(error.to_string()))?;
        let certificate = match &connection.credential {
            Credential::Certificate(pair) => Some(pair),
            _ => None,
        };
        let tls = ClientTls {
            roots: connection.ca.as_deref().map_or(Roots::System, Roots::Pem),
            skip_verification: false,
            certificate,
            alpn: &[pki::ALPN_H2, pki::ALPN_HTTP1],
            resumption_sessions: 4,
        };
        let tls = tls.build().map_err(|error| wrong(error.to_string()))?;
        Ok(Self {
            authority: format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(443)),
            base: uri.path().trim_end_matches('/').to_owned(),
            name,
            tls: Arc::new(tls),
            credential: connection.credential.clone(),
            kept: Mutex::new(None),
        })
    }

    async fn ask(&self, method: Method, path: &str, body: Bytes) -> Result<Bytes, CoreError> {
        let asked = async {
            let response = self.send(method, path, body).await?;
            let code = response.status();
            let bytes = match Limited::new(response.into_body(), MAX_ANSWER).collect().await {
                Ok(whole) => whole.to_bytes(),
                Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                    return Err(CoreError::TooLarge(MAX_ANSWER));
                }
                Err(error) => return Err(CoreError::Broken(error.to_string())),
            };
            match code.is_success() {
                true => Ok(bytes),
                false => Err(refused(code.as_u16(), &bytes)),
            }
        };
        timeout(LIMIT, asked).await.unwrap_or(Err(CoreError::Timeout))
    }

    async fn send(&self, method: Method, path: &str, body: Bytes) -> Result<Response<Incoming>, CoreError> {
        let kept = self.kept.lock().await.clone().filter(|kept| !kept.is_closed());
        if let Some(mut kept) = kept
            && kept.ready().await.is_ok()
        {
            let sent = kept.send_request(self.request(&method, path, body.clone(), true)?).await;
            match sent {
                Ok(response) => return Ok(response),
                // Reviews change nothing: they can be asked again on a connection that lives.
                Err(error) => tracing::debug!(%error, "asks the core once more"),
            }
        }
        self.connect_and_send(&method, path, body).await
    }

    async fn connect_and_send(
        &self,
        method: &Method,
        path: &str,
        body: Bytes,
    ) -> Result<Response<Incoming>, CoreError> {
        let refused = |error: std::io::Error| CoreError::Connect(format!("{}: {error}", self.authority));
        let broken = |error: hyper::Error| CoreError::Broken(error.to_string());
        let stream = TcpStream::connect(&self.authority).await.map_err(refused)?;
        let _ = stream.set_nodelay(true);
        let connector = TlsConnector::from(Arc::clone(&self.tls));
        let stream = connector.connect(self.name.clone(), stream).await.map_err(refused)?;
        let multiplexed = stream.get_ref().1.alpn_protocol() == Some(pki::ALPN_H2);
        let request = self.request(method, path, body, multiplexed)?;
        if multiplexed {
            let (mut sender, connection) = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .keep_alive_interval(PING)
                .keep_alive_timeout(PING)
                .handshake(TokioIo::new(stream))
                .await
                .map_err(broken)?;
            tokio::spawn(connection);
            *self.kept.lock().await = Some(sender.clone());
            sender.send_request(request).await.map_err(broken)
        } else {
            let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
            tokio::spawn(connection);
            sender.send_request(request).await.map_err(broken)
        }
    }

    fn request(
        &self,
        method: &Method,
        path: &str,
        body: Bytes,
        multiplexed: bool,
    ) -> Result<Request<Full<Bytes>>, CoreError> {
        let path = format!("{}{path}", self.base);
        // HTTP/2 carries the authority in the address, HTTP/1.1 beside it.
        let uri = if multiplexed { format!("https://{}{path}", self.authority) } else { path };
        let mut builder = Request::builder()
            .method(method)
            .uri(uri)
            .header(header::HOST, &self.authority)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(token) = self.token()? {
            builder = builder.header(header::AUTHORIZATION, token);
        }
        builder.body(Full::new(body)).map_err(|error| CoreError::Connect(error.to_string()))
    }

    fn token(&self) -> Result<Option<HeaderValue>, CoreError> {
        let token = match &self.credential {
            Credential::Certificate(_) => return Ok(None),
            Credential::Token(token) => token.clone(),
            Credential::TokenFile(path) => {
                let bytes =
                    pki::read_limited(path).map_err(|error| CoreError::Credential(error.to_string()))?;
                String::from_utf8_lossy(&bytes).trim().to_owned()
            }
        };
        let mut value = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| CoreError::Credential("the token has characters that none can have".to_owned()))?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

impl Core for Client {
    fn get<'a>(&'a self, path: &'a str) -> Later<'a, Result<Bytes, CoreError>> {
        Box::pin(self.ask(Method::GET, path, Bytes::new()))
    }

    fn post<'a>(&'a self, path: &'a str, body: Bytes) -> Later<'a, Result<Bytes, CoreError>> {
        Box::pin(self.ask(Method::POST, path, body))
    }

    fn watch<'a>(&'a self, path: &'a str) -> Later<'a, Result<Lines, CoreError>> {
        Box::pin(async {
            let begun = timeout(LIMIT, self.send(Method::GET, path, Bytes::new())).await;
            let response = begun.unwrap_or(Err(CoreError::Timeout))?;
            let code = response.status();
            if !code.is_success() {
                return Err(refused(code.as_u16(), b""));
            }
            let state = (response.into_body(), BytesMut::new());
            Ok(Box::pin(stream::try_unfold(state, line)) as Lines)
        })
    }
}

type Unread = (Incoming, BytesMut);

/// The next line that is not empty; none at the end. What stands behind the last line feed is no line.
async fn line((mut body, mut read): Unread) -> Result<Option<(Bytes, Unread)>, CoreError> {
    loop {
        if let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            let line = read.split_to(end + 1).freeze().slice(..end);
            if !line.is_empty() {
                return Ok(Some((line, (body, read))));
            }
            continue;
        }
        if read.len() > MAX_ANSWER {
            return Err(CoreError::TooLarge(MAX_ANSWER));
        }
        match body.frame().await {
            None => return Ok(None),
            Some(Err(error)) => return Err(CoreError::Broken(error.to_string())),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    read.extend_from_slice(&data);
                }
            }
        }
    }
}

fn refused(code: u16, body: &[u8]) -> CoreError {
    let message = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]).into_owned();
    CoreError::Refused { code, message }
}
