//! The life of a request, from its head to the head of its answer.

mod asked;
mod refusals;

use std::sync::Arc;

use catalog::{Documents, HealthReport, Server};
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use kube_wire::{RequestInfo, status::Status};
use tokio::sync::watch;

pub(crate) use asked::Asked;

use crate::{
    Backends, Config, Limits, Shutdown,
    audit::Audit,
    authn::Authenticator,
    authz::Authorizer,
    body::{Body, Deadlines, Held, Proxied},
    connection::Client,
    documents,
    drain::{Actives, Watches},
    forward,
    health::Checks,
    limits::Gauge,
    metrics::Metrics,
    respond::{self, Wanted},
};
use asked::Reply;

/// What all requests share.
pub(crate) struct Door {
    pub(crate) backends: Arc<Backends>,
    pub(crate) health: watch::Receiver<Arc<HealthReport>>,
    pub(crate) documents: Arc<dyn Documents>,
    pub(crate) authenticator: Arc<Authenticator>,
    pub(crate) authorizer: Authorizer,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) audit: Audit,
    pub(crate) limits: Limits,
    pub(crate) shutdown: Shutdown,
    pub(crate) watches: Arc<Watches>,
    pub(crate) actives: Actives,
    pub(crate) deadlines: Arc<Deadlines>,
    pub(crate) own: documents::Own,
    reading: Arc<Gauge>,
    writing: Arc<Gauge>,
}

impl Door {
    pub(crate) fn new(config: Config, shutdown: Shutdown) -> Self {
        let (serving, backends) = (shutdown.clone(), config.backends.clone());
        let checks = Checks::new(
            move || serving.is_serving(),
            move || backends.routing().catalog.generation() > 0,
            config.checks,
        );
        Self {
            own: documents::Own::new(checks, config.backends.core_client(), config.discovery_only),
            health: config.health,
            documents: config.documents,
            authenticator: config.authenticator,
            authorizer: config.authorizer,
            metrics: config.metrics,
            audit: config.audit,
            shutdown,
            watches: Arc::default(),
            actives: Actives::default(),
            deadlines: Deadlines::new(config.backends.workers().places()),
            reading: Gauge::new(config.limits.max_in_flight),
            writing: Gauge::new(config.limits.max_mutating_in_flight),
            limits: config.limits,
            backends: config.backends,
        }
    }
}

/// Answers one request.
pub(crate) async fn handle(client: &Arc<Client>, request: Request<Incoming>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let (method, uri) = (parts.method.clone(), parts.uri.clone());
    let wanted = Wanted::new(&parts.headers, &uri);
    let audit_id = forward::audit_id(&parts.headers);
    let mut held = Held::new(client.begin());
    let info = RequestInfo::parse(method.as_str(), uri.path(), uri.query().unwrap_or_default());
    let reply = match &info {
        Err(error) => Err(Box::new(Status::bad_request(error.to_string()))),
        Ok(info) => {
            let long_running = info.is_long_running();
            held.metrics = Some(client.door.metrics.begin(info, long_running));
            let asked = Asked { client, info, uri: &uri, audit_id: &audit_id, long_running };
            asked.reply(parts, body, &mut held).await
        }
    };
    let is_watch = info.is_ok_and(|info| info.verb == "watch");
    let response = finish(client, reply, held, &wanted, audit_id.value, is_watch);
    if method == Method::HEAD { headless(response) } else { response }
}

/// Makes the response, and ties to it what lives as long as it does.
fn finish(
    client: &Client,
    reply: Result<Reply, Box<Status>>,
    mut held: Held,
    wanted: &Wanted,
    audit_id: HeaderValue,
    is_watch: bool,
) -> Response<Body> {
    let (mut response, server) = match reply {
        Ok(Reply::Own(response)) => (response, None),
        Err(status) => (respond::status_response(&status, wanted), None),
        Ok(Reply::Backend(answer, server, deadline)) => {
            note(&mut held, answer.parts.status, Some(&server));
            let mut proxied = Proxied::new(answer.source, held, deadline);
            if is_watch {
                proxied = proxied.ended_by(client.door.watches.open());
            } else if client.http2 {
                proxied = proxied.watched_by(&client.door.deadlines);
            }
            held = Held::default();
            (Response::from_parts(answer.parts, Body::proxied(proxied)), Some(server))
        }
    };
    if server.is_none() {
        note(&mut held, response.status(), None);
        let (parts, body) = response.into_parts();
        response = Response::from_parts(parts, body.hold(held));
    }
    forward::seal(response.headers_mut(), audit_id);
    response
}

/// The answer to HEAD: the length of the body, and no body.
fn headless(response: Response<Body>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    if let Some(length) = hyper::body::Body::size_hint(&body).exact().filter(|length| *length > 0) {
        parts.headers.entry(header::CONTENT_LENGTH).or_insert(length.into());
    }
    Response::from_parts(parts, body.without_bytes())
}

/// The head of the answer is known.
pub(crate) fn note(held: &mut Held, status: StatusCode, server: Option<&Arc<Server>>) {
    if let Some(metrics) = &mut held.metrics {
        metrics.answered(status);
    }
    if let Some(audit) = &mut held.audit {
        audit.answered(status, server.map(|server| &server.name));
    }
}
