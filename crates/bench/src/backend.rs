//! A federated API server that costs as little as possible, in a process of its own.
//!
//! One process can be many servers: port `p + i` serves group `g<i>.bench.example.com`.

use std::{convert::Infallible, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::{Frame, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use pki::{ALPN_H2, ALPN_HTTP1, CertifiedKey, ServerTls};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

type Body = UnsyncBoxBody<Bytes, Infallible>;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// How the backend is started.
#[derive(clap::Args)]
pub struct Args {
    /// First address.
    #[arg(long)]
    pub listen: SocketAddr,
    /// How many servers, on consecutive ports.
    #[arg(long, default_value_t = 1)]
    pub servers: u16,
    /// Number of the first group; several processes with one number are endpoints of one server.
    #[arg(long, default_value_t = 0)]
    pub first: u16,
    /// Serving certificate, PEM.
    #[arg(long)]
    pub cert: PathBuf,
    /// Its key, PEM.
    #[arg(long)]
    pub key: PathBuf,
    /// Bytes of each server's OpenAPI v3 document.
    #[arg(long, default_value_t = 64 * 1024)]
    pub openapi_bytes: usize,
    /// The server with this number never answers anything.
    #[arg(long)]
    pub hanging: Option<u16>,
}

/// What one server answers; made once.
struct Answers {
    group: String,
    discovery: Bytes,
    legacy_groups: Bytes,
    legacy_resources: Bytes,
    openapi_index: Bytes,
    openapi: Bytes,
    item: Bytes,
    list: Bytes,
    event: Bytes,
    hangs: bool,
}

/// Serves until it is killed.
pub async fn run(args: Args) -> Result<()> {
    let certificate = CertifiedKey::load(&args.cert, &args.key)?;
    let tls =
        ServerTls { certificate: &certificate, clients: None, alpn: &[ALPN_H2, ALPN_HTTP1], tickets: None };
    let acceptor = TlsAcceptor::from(Arc::new(tls.build()?));
    for place in 0..args.servers {
        let address = SocketAddr::new(args.listen.ip(), args.listen.port() + place);
        let listener = TcpListener::bind(address).await.with_context(|| format!("listen on {address}"))?;
        let number = args.first + place;
        let answers = Arc::new(Answers::new(number, args.openapi_bytes, args.hanging == Some(number)));
        tokio::spawn(accept(listener, acceptor.clone(), answers));
    }
    std::future::pending().await
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, answers: Arc<Answers>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        stream.set_nodelay(true).ok();
        let (acceptor, answers) = (acceptor.clone(), answers.clone());
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let http2 = stream.get_ref().1.alpn_protocol() == Some(ALPN_H2);
            let io = TokioIo::new(stream);
            let service = hyper::service::service_fn(move |request| {
                let answers = answers.clone();
                async move { Ok::<_, Infallible>(answers.answer(request).await) }
            });
            if http2 {
                let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                builder.max_concurrent_streams(1000);
                builder.serve_connection(io, service).await.ok();
            } else {
                hyper::server::conn::http1::Builder::new().serve_connection(io, service).await.ok();
            }
        });
    }
}

impl Answers {
    fn new(number: u16, openapi_bytes: usize, hangs: bool) -> Self {
        let group = format!("g{number}.bench.example.com");
        let item = |pad: usize| {
            format!(
                r#"{{"kind":"Item","apiVersion":"{group}/v1","metadata":{{"name":"a","namespace":"default"}},"spec":{{"pad":"{}"}}}}"#,
                "x".repeat(pad)
            )
        };
        let one = item(1000 - item(0).len().min(1000));
        let list = format!(
            r#"{{"kind":"ItemList","apiVersion":"{group}/v1","metadata":{{"resourceVersion":"1"}},"items":[{}]}}"#,
            vec![one.as_str(); 1000].join(",")
        );
        let resource = format!(
            r#"{{"resource":"items","responseKind":{{"group":"{group}","version":"v1","kind":"Item"}},"scope":"Namespaced","singularResource":"item","verbs":["create","delete","get","list","patch","update","watch"]}}"#
        );
        let openapi = format!(
            r#"{{"openapi":"3.0.0","info":{{"title":"bench","version":"v1"}},"paths":{{"/apis/{group}/v1/items":{{"get":{{"description":"{}","responses":{{"200":{{"description":"OK"}}}}}}}}}}}}"#,
            "d".repeat(openapi_bytes)
        );
        Self {
            discovery: format!(
                r#"{{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{{}},"items":[{{"metadata":{{"name":"{group}"}},"versions":[{{"version":"v1","freshness":"Current","resources":[{resource}]}}]}}]}}"#
            )
            .into(),
            legacy_groups: format!(
                r#"{{"kind":"APIGroupList","apiVersion":"v1","groups":[{{"name":"{group}","versions":[{{"groupVersion":"{group}/v1","version":"v1"}}],"preferredVersion":{{"groupVersion":"{group}/v1","version":"v1"}}}}]}}"#
            )
            .into(),
            legacy_resources: format!(
                r#"{{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"{group}/v1","resources":[{{"name":"items","singularName":"item","namespaced":true,"kind":"Item","verbs":["create","delete","get","list","patch","update","watch"]}}]}}"#
            )
            .into(),
            openapi_index: format!(
                r#"{{"paths":{{"apis/{group}/v1":{{"serverRelativeURL":"/openapi/v3/apis/{group}/v1?hash=H{number}"}}}}}}"#
            )
            .into(),
            openapi: openapi.into(),
            event: format!("{{\"type\":\"ADDED\",\"object\":{one}}}\n").into(),
            item: one.into(),
            list: list.into(),
            group,
            hangs,
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if self.hangs {
            return std::future::pending().await;
        }
        let path = request.uri().path();
        let prefix = format!("/apis/{}/v1", self.group);
        let rest = path.strip_prefix(&prefix);
        match (path, rest) {
            ("/apis", _) => self.discovery(&request),
            ("/api", _) => json(Bytes::from_static(br#"{"kind":"APIVersions","versions":[]}"#)),
            ("/openapi/v3", _) if is_known(&request) => not_modified(),
            ("/openapi/v3", _) => tagged(json(self.openapi_index.clone())),
            (_, Some("")) => json(self.legacy_resources.clone()),
            (_, Some("/items")) if request.uri().query().is_some_and(|q| q.contains("watch=")) => {
                self.watch()
            }
            (_, Some("/items")) => json(self.list.clone()),
            (_, Some("/namespaces/default/items/a")) => json(self.item.clone()),
            (_, None) if path.strip_prefix("/openapi/v3") == Some(&prefix) => json(self.openapi.clone()),
            _ => status(StatusCode::NOT_FOUND),
        }
    }

    fn discovery(&self, request: &Request<Incoming>) -> Response<Body> {
        let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
        if !accept.is_some_and(|accept| accept.contains("as=APIGroupDiscoveryList")) {
            return json(self.legacy_groups.clone());
        }
        if is_known(request) {
            return not_modified();
        }
        let mut response = json(self.discovery.clone());
        response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(AGGREGATED));
        tagged(response)
    }

    /// One event, then silence for an hour.
    fn watch(&self) -> Response<Body> {
        let event = self.event.clone();
        let stream = futures_stream(event);
        let mut response = Response::new(StreamBody::new(stream).boxed_unsync());
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
        response
    }
}

fn futures_stream(event: Bytes) -> impl futures_util::Stream<Item = Result<Frame<Bytes>, Infallible>> {
    futures_util::stream::unfold(Some(event), |next| async move {
        match next {
            Some(event) => Some((Ok(Frame::data(event)), None)),
            None => {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                None
            }
        }
    })
}

/// The entity tag of discovery and of the OpenAPI index, which API servers give too.
const ETAG: &str = "\"1\"";

fn is_known(request: &Request<Incoming>) -> bool {
    request.headers().get(header::IF_NONE_MATCH).is_some_and(|value| value == ETAG)
}

fn not_modified() -> Response<Body> {
    tagged(status(StatusCode::NOT_MODIFIED))
}

fn tagged(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(header::ETAG, header::HeaderValue::from_static(ETAG));
    response
}

fn json(body: Bytes) -> Response<Body> {
    let mut response = Response::new(Full::new(body).boxed_unsync());
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    response
}

fn status(code: StatusCode) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::new()).boxed_unsync());
    *response.status_mut() = code;
    response
}
