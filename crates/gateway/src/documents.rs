//! What the door answers itself: discovery, OpenAPI, version, health, metrics.
//!
//! Everything is read from the snapshot that the catalog's builder made, so that no answer here waits
//! for a backend.

mod conditional;
mod discovery;
mod explain;
mod of_core;
mod openapi_v2;
mod openapi_v3;
mod paths;
mod version;

use std::{sync::Arc, time::Duration};

use catalog::Catalog;
use http::{HeaderValue, Method, Response, StatusCode, header, request::Parts};
use kube_wire::{
    RequestInfo,
    status::{Reason, Status},
};

use crate::{
    authn::CoreClient,
    body::Body,
    health::{Checks, Endpoint, report},
    identity::Identity,
    metrics,
    proxy::Door,
    respond::{self, Wanted},
    timeout,
};

/// Where the report on all servers is. Below `/healthz`, but not for everybody.
const SERVERS: &str = "/healthz/servers";

/// What the door's own answers are made of, beside the catalog.
pub(crate) struct Own {
    checks: Checks,
    version: version::Version,
    paths: paths::Paths,
    openapi_v2: openapi_v2::OpenApiV2,
    /// Only the summary: nothing is passed on to backends.
    discovery_only: bool,
}

impl Own {
    pub(crate) fn new(checks: Checks, core: Arc<dyn CoreClient>, discovery_only: bool) -> Self {
        Self {
            checks,
            version: version::Version::new(core.clone()),
            paths: paths::Paths::new(core),
            openapi_v2: openapi_v2::OpenApiV2::default(),
            discovery_only,
        }
    }

    /// Refuses what would have to be passed on, when this door only summarises.
    ///
    /// # Errors
    /// 501, which says where to go.
    pub(crate) fn passes_on(&self) -> Result<(), Box<Status>> {
        const MESSAGE: &str = "this endpoint only summarises discovery (--discovery-only): send the request to the \
             server itself, whose address is in serverAddressByClientCIDRs of its group";
        match self.discovery_only {
            false => Ok(()),
            true => Err(Box::new(Status::failure(501, Reason::Unknown, MESSAGE))),
        }
    }
}

/// The answer when this path is the door's own; none when the request goes to a backend.
/// Paths that anybody may read are answered before authentication with `identity` none; a path that
/// wants one gives `None` then, and is asked again with it.
pub(crate) async fn answer(
    door: &Door,
    parts: &Parts,
    identity: Option<&Identity>,
) -> Option<Response<Body>> {
    let path = parts.uri.path();
    let mut segments = path.split('/').skip(1);
    let first = segments.next().unwrap_or_default();
    let wanted = || Wanted::new(&parts.headers, &parts.uri);
    let public = match first {
        "healthz" | "livez" | "readyz" if path != SERVERS => health(&door.own.checks, parts, first),
        "version" if path == "/version" || path == "/version/" => {
            Some(door.own.version.answer(door.backends.routing().catalog.core().is_some()).await)
        }
        _ => None,
    };
    if let Some(response) = public {
        return Some(only_reading(parts, response));
    }
    let identity = identity?;
    let catalog = || Arc::clone(&door.backends.routing().catalog);
    let response = match first {
        "api" | "apis" => discovery::answer(&catalog(), parts)?,
        "openapi" => openapi(door, &catalog(), parts).await?,
        "metrics" if path == "/metrics" => {
            protected(door, parts, identity, || metrics_text(door, &catalog())).await
        }
        "healthz" if path == SERVERS => protected(door, parts, identity, || servers(door, parts)).await,
        "debug" if path == explain::ROUTE => explanation(door, parts, identity).await,
        "" | "index.html" if matches!(path, "/" | "/index.html") => {
            root_paths(door, &catalog(), parts, identity).await
        }
        _ => return door.own.passes_on().err().map(|status| respond::status_response(&status, &wanted())),
    };
    Some(only_reading(parts, response))
}

/// `response` for GET and, without its body, for HEAD; 405 for everything else.
fn only_reading(parts: &Parts, response: Response<Body>) -> Response<Body> {
    // As upstream: a wish that cannot be understood is refused even where it would change nothing.
    if let Err(status) = timeout::of_request(parts.uri.query().unwrap_or_default(), Duration::MAX) {
        return respond::status_response(&status, &Wanted::new(&parts.headers, &parts.uri));
    }
    match parts.method {
        Method::GET => response,
        Method::HEAD => conditional::without_body(response),
        _ => {
            const MESSAGE: &str = "the server does not allow this method on the requested resource";
            let status = Status::failure(405, Reason::MethodNotAllowed, MESSAGE);
            let mut response = respond::status_response(&status, &Wanted::new(&parts.headers, &parts.uri));
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            response
        }
    }
}

fn health(checks: &Checks, parts: &Parts, first: &str) -> Option<Response<Body>> {
    let endpoint = match first {
        "healthz" => Endpoint::Healthz,
        "livez" => Endpoint::Livez,
        _ => Endpoint::Readyz,
    };
    let (path, query) = (parts.uri.path(), parts.uri.query().unwrap_or_default());
    Some(match path.strip_prefix('/')?.strip_prefix(first)? {
        "" => checks.answer(endpoint, query),
        rest => checks.answer_one(endpoint, rest.strip_prefix('/')?),
    })
}

async fn openapi(door: &Door, catalog: &Arc<Catalog>, parts: &Parts) -> Option<Response<Body>> {
    match parts.uri.path() {
        // A core whose document is not here yet has one all the same.
        "/openapi/v2" if !catalog.has_openapi_v2() && catalog.core().is_some() => None,
        "/openapi/v2" => Some(door.own.openapi_v2.answer(catalog, &door.documents, parts).await),
        "/openapi/v3" => {
            Some(conditional::document(parts, catalog.openapi_v3_index(), conditional::Cache::Default))
        }
        path => {
            let name = path.strip_prefix("/openapi/v3/")?;
            let document = catalog.openapi_v3(name)?;
            Some(openapi_v3::answer(&door.documents, parts, name, document).await)
        }
    }
}

/// The answer for whom the core (or `system:masters`) lets read this path.
async fn protected(
    door: &Door,
    parts: &Parts,
    identity: &Identity,
    answer: impl FnOnce() -> Response<Body>,
) -> Response<Body> {
    let wanted = Wanted::new(&parts.headers, &parts.uri);
    let allowed = match RequestInfo::parse(parts.method.as_str(), parts.uri.path(), "") {
        Ok(info) => door.authorizer.authorize(identity, &info).await,
        Err(error) => Err(Box::new(Status::bad_request(error.to_string()))),
    };
    match allowed {
        Ok(()) => answer(),
        Err(status) => respond::status_response(&status, &wanted),
    }
}

/// What the door would do with a request, for whom may know where servers are.
async fn explanation(door: &Door, parts: &Parts, identity: &Identity) -> Response<Body> {
    let explained = explain::explain(door, parts, identity).await;
    protected(door, parts, identity, || match explained {
        Ok(route) => with_type(format!("{route:#}\n"), HeaderValue::from_static("application/json")),
        Err(status) => respond::status_response(&status, &Wanted::new(&parts.headers, &parts.uri)),
    })
    .await
}

/// The list of all paths: for everybody whom the door knows, but with a core for whom the core lets read
/// it, because its own paths are among them.
async fn root_paths(door: &Door, catalog: &Catalog, parts: &Parts, identity: &Identity) -> Response<Body> {
    let of_core = door.own.paths.of_core(catalog).await;
    let list = || paths::answer(catalog, &door.own.checks, &of_core);
    match catalog.core() {
        Some(_) => protected(door, parts, identity, list).await,
        None => list(),
    }
}

fn metrics_text(door: &Door, catalog: &Catalog) -> Response<Body> {
    let text = door.metrics.render(&door.health.borrow(), catalog.generation());
    with_type(text, HeaderValue::from_static(metrics::CONTENT_TYPE))
}

fn servers(door: &Door, parts: &Parts) -> Response<Body> {
    let health = door.health.borrow().clone();
    let mut response = match report::form(&conditional::joined(&parts.headers, header::ACCEPT)) {
        report::Form::Json => with_type(report::json(&health), HeaderValue::from_static("application/json")),
        report::Form::Html => {
            let mut page =
                with_type(report::html(&health), HeaderValue::from_static("text/html; charset=utf-8"));
            let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");
            page.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
            page
        }
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    response
}

fn with_type(body: impl Into<Body>, content_type: HeaderValue) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests;
