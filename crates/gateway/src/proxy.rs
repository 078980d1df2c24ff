//! The life of a request, from its head to the head of its answer.

use std::sync::Arc;

use catalog::{Cause, Documents, Failure, HealthReport, Role, Server};
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri, Version, header, request};
use hyper::body::Incoming;
use kube_wire::{RequestInfo, status::Status};
use tokio::{sync::watch, time::Instant};

use crate::{
    Backends, Config, Limits, Shutdown,
    audit::Audit,
    authn::Authenticator,
    authz::Authorizer,
    body::{Body, Held, Proxied, RequestBody, SharedUpload, Upload, UploadFailure, UploadLimits},
    connection::Client,
    documents,
    drain::{Actives, Watches},
    forward::{self, Answer, AuditId, Head, HeadSource},
    health::Checks,
    identity::Identity,
    limits::Gauge,
    metrics::Metrics,
    pool::{Class, ServerPool},
    respond::{self, Wanted},
    retry::{Delivery, Failed},
    timeout, upgrade,
};

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
            backends: config.backends,
            health: config.health,
            documents: config.documents,
            authenticator: config.authenticator,
            authorizer: config.authorizer,
            metrics: config.metrics,
            audit: config.audit,
            shutdown,
            watches: Arc::default(),
            actives: Actives::default(),
            reading: Gauge::new(config.limits.max_in_flight),
            writing: Gauge::new(config.limits.max_mutating_in_flight),
            limits: config.limits,
        }
    }
}

/// A request while the door works on it.
pub(crate) struct Asked<'a> {
    pub(crate) client: &'a Arc<Client>,
    pub(crate) info: &'a RequestInfo<'a>,
    pub(crate) uri: &'a Uri,
    pub(crate) audit_id: &'a AuditId,
    pub(crate) long_running: bool,
}

/// What the client gets.
enum Reply {
    /// The door's own answer.
    Own(Response<Body>),
    /// A backend's.
    Backend(Answer, Arc<Server>, Option<Instant>),
}

/// Answers one request.
pub(crate) async fn handle(client: &Arc<Client>, request: Request<Incoming>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let (method, uri) = (parts.method.clone(), parts.uri.clone());
    let wanted = Wanted::new(&parts.headers, &uri);
    let audit_id = forward::audit_id(&parts.headers);
    let mut held = Held::default();
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

fn note(held: &mut Held, status: StatusCode, server: Option<&Arc<Server>>) {
    if let Some(metrics) = &mut held.metrics {
        metrics.answered(status);
    }
    if let Some(audit) = &mut held.audit {
        audit.answered(status, server.map(|server| &server.name));
    }
}

impl Asked<'_> {
    async fn reply(
        &self,
        mut parts: request::Parts,
        body: Incoming,
        held: &mut Held,
    ) -> Result<Reply, Box<Status>> {
        let door = &*self.client.door;
        if let Some(refused) = malformed(&parts) {
            return Ok(Reply::Own(refused));
        }
        // Resources are never the door's own documents: the ordinary request does not ask.
        if !self.info.is_resource
            && let Some(answer) = Box::pin(documents::answer(door, &parts, None)).await
        {
            return Ok(Reply::Own(answer));
        }
        let caller = door.authenticator.authenticate(&self.client.identity, &parts.headers).await?;
        held.audit = door.audit.begin(&parts, self.client.identity.peer(), &caller, &self.audit_id.value);
        let identity = door.authorizer.impersonate(caller.clone(), &mut parts.headers).await?;
        if let Some(audit) = &mut held.audit
            && !Arc::ptr_eq(&caller, &identity)
        {
            audit.impersonates(&identity);
        }
        if !self.info.is_resource
            && let Some(answer) = Box::pin(documents::answer(door, &parts, Some(&identity))).await
        {
            return Ok(Reply::Own(answer));
        }
        door.own.passes_on()?;
        self.enter(&parts.method, &caller, held)?;
        self.pass_on(parts, body, &identity, held).await
    }

    /// Takes a place among the requests in flight, as upstream: none for what is long-running, and
    /// `system:masters` is never refused.
    fn enter(&self, method: &Method, caller: &Identity, held: &mut Held) -> Result<(), Box<Status>> {
        if self.long_running {
            held.long_running = Some(self.client.begin_long_running());
            return Ok(());
        }
        let door = &self.client.door;
        let gauge = if method.is_safe() { &door.reading } else { &door.writing };
        match gauge.enter() {
            Some(permit) => held.permits[0] = Some(permit),
            None if caller.master => {}
            None => return Err(Box::new(Status::too_many_in_flight())),
        }
        Ok(())
    }

    async fn pass_on(
        &self,
        mut parts: request::Parts,
        body: Incoming,
        identity: &Arc<Identity>,
        held: &mut Held,
    ) -> Result<Reply, Box<Status>> {
        let Some((server, pool)) = self.route() else { return Ok(Reply::Own(respond::not_found())) };
        if !self.long_running {
            held.permits[1] =
                Some(pool.enter().ok_or_else(|| self.failed(&pool, Failure::new(Cause::Overloaded, "")))?);
        }
        let deadline = self.deadline(&server)?;
        if let Some(upgrade) = upgrade::wanted(&mut parts) {
            let response =
                Box::pin(upgrade::serve(self, upgrade, parts, body, identity, (&server, &pool), held));
            return response.await.map(Reply::Own);
        }
        let body = self.body(body, &server)?;
        let head = self.head(parts, identity, &server, true)?;
        let class = if self.long_running { Class::LongRunning } else { Class::Ordinary };
        let delivery = Delivery { pool: &pool, head: &head, body, class };
        let mut answer = delivery.send(deadline).await.map_err(|failed| self.undelivered(&pool, failed))?;
        pool.note_answer(answer.parts.status);
        if redirects(&answer) && server.role == Role::Federated {
            return Err(self.failed(&pool, Failure::new(Cause::RedirectRefused, "")));
        }
        let from_http1 = answer.parts.version < Version::HTTP_2;
        forward::clean_answer(&mut answer.parts.headers, from_http1);
        Ok(Reply::Backend(answer, server, deadline))
    }

    /// The server that answers for this request, with its connections.
    fn route(&self) -> Option<(Arc<Server>, Arc<ServerPool>)> {
        let routing = self.client.door.backends.routing();
        let route = match self.info.is_resource {
            true => routing.catalog.route(&self.info.group, &self.info.version),
            // A group without a document of its own is its owner's, everything else the core's.
            false => routing.catalog.route_path(self.uri.path()),
        };
        let server = route.server()?;
        Some((server.clone(), routing.pool(&server.name)?.clone()))
    }

    fn deadline(&self, server: &Server) -> Result<Option<Instant>, Box<Status>> {
        if self.long_running {
            return Ok(None);
        }
        let most = self.client.door.limits.request_timeout.min(server.limits.request_timeout);
        let time = timeout::of_request(self.uri.query().unwrap_or_default(), most)?;
        Ok(Some(Instant::now() + time))
    }

    fn body(&self, body: Incoming, server: &Server) -> Result<RequestBody, Box<Status>> {
        if hyper::body::Body::is_end_stream(&body) {
            return Ok(RequestBody::Empty);
        }
        let limits = &self.client.door.limits;
        let max_bytes = server.limits.max_body_bytes;
        if max_bytes.is_some_and(|max| hyper::body::Body::size_hint(&body).lower() > max) {
            return Err(upload_failed(UploadFailure::TooLarge));
        }
        let limits = UploadLimits {
            replay_bytes: limits.replay_bytes,
            max_bytes,
            stall: (!self.long_running).then_some(limits.body_stall_timeout),
        };
        Ok(RequestBody::Upload(SharedUpload::new(Upload::new(body, limits))))
    }

    pub(crate) fn head(
        &self,
        parts: request::Parts,
        identity: &Arc<Identity>,
        server: &Server,
        traced: bool,
    ) -> Result<Head, Box<Status>> {
        let source = HeadSource {
            method: parts.method,
            uri: self.uri,
            headers: parts.headers,
            identity,
            peer: &self.client.peer,
            audit_id: self.audit_id,
            traced,
        };
        Head::new(source, server)
    }

    fn undelivered(&self, pool: &ServerPool, failed: Failed) -> Box<Status> {
        match failed {
            Failed::Server(failure) => self.failed(pool, failure),
            Failed::Upload(failure) => upload_failed(failure),
            Failed::TimedOut => Box::new(Status::timeout()),
        }
    }

    /// The answer for a failure of the server, told to the log and the metrics on the way.
    pub(crate) fn failed(&self, pool: &ServerPool, failure: Failure) -> Box<Status> {
        let server = &pool.shared.server;
        tracing::debug!(server = %server.name, path = %self.info.path, %failure, "request failed");
        pool.shared.metrics.failed(failure.cause.reason());
        Box::new(respond::unavailable(server, self.info, failure.cause))
    }
}

fn upload_failed(failure: UploadFailure) -> Box<Status> {
    Box::new(match failure {
        UploadFailure::TooLarge => Status::request_too_large(&failure.to_string()),
        UploadFailure::Stalled => Status::timeout(),
        UploadFailure::Broken => Status::bad_request(failure.to_string()),
    })
}

/// Requests that two parsers may understand differently, or that are none for a server.
fn malformed(parts: &request::Parts) -> Option<Response<Body>> {
    let smuggling = parts.headers.contains_key(header::TRANSFER_ENCODING)
        && (parts.headers.contains_key(header::CONTENT_LENGTH) || parts.version < Version::HTTP_11);
    let unusable = parts.method == Method::CONNECT || !parts.uri.path().starts_with('/');
    if !smuggling && !unusable {
        return None;
    }
    let mut response = respond::text_response(StatusCode::BAD_REQUEST, "400 Bad Request\n");
    if parts.version < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Some(response)
}

fn redirects(answer: &Answer) -> bool {
    answer.parts.status.is_redirection() && answer.parts.headers.contains_key(header::LOCATION)
}
