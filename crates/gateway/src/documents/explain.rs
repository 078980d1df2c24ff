//! What the door would do with a request: who answers it, why, and what that server would be sent.
//!
//! It goes through the same functions as the request itself, so that it cannot tell another story.

use std::sync::Arc;

use catalog::{IdentityMode, Role, Route, Server};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header, request::Parts};
use kube_wire::{RequestInfo, query, status::Status};
use serde_json::{Value, json};

use super::answer;
use crate::{
    forward::{Head, HeadSource, audit_id},
    identity::Identity,
    proxy::Door,
};

/// Where a route is explained.
pub(super) const ROUTE: &str = "/debug/route";

/// The request to explain, as `?method=` and `?path=` name it.
struct Asked {
    method: Method,
    uri: Uri,
}

impl Asked {
    fn read(request_query: &str) -> Result<Self, Box<Status>> {
        let wrong = |what: String| Box::new(Status::bad_request(what));
        let method = query::first(request_query, "method").unwrap_or("GET".into()).to_uppercase();
        let path = query::first(request_query, "path").unwrap_or_default();
        if !path.starts_with('/') {
            return Err(wrong(format!("the path {path:?} does not begin with a slash")));
        }
        Ok(Self {
            method: Method::try_from(&*method).map_err(|_| wrong(format!("{method:?} is no method")))?,
            uri: Uri::try_from(&*path).map_err(|error| wrong(format!("{path:?} is no path: {error}")))?,
        })
    }

    /// The head that a client with these headers would send.
    fn parts(&self, headers: &HeaderMap) -> Parts {
        let (mut parts, ()) = Request::new(()).into_parts();
        (parts.method, parts.uri) = (self.method.clone(), self.uri.clone());
        parts.headers = headers.clone();
        parts
    }
}

/// The explanation, as JSON.
///
/// # Errors
/// When the request that is asked about is none.
pub(super) async fn explain(door: &Door, parts: &Parts, identity: &Identity) -> Result<Value, Box<Status>> {
    let asked = Asked::read(parts.uri.query().unwrap_or_default())?;
    let (path, request_query) = (asked.uri.path(), asked.uri.query().unwrap_or_default());
    let info = RequestInfo::parse(asked.method.as_str(), path, request_query)
        .map_err(|error| Box::new(Status::bad_request(error.to_string())))?;
    let mut explanation = json!({
        "kind": "Route",
        "request": request(&asked, &info),
        "user": identity.user,
        "generation": door.backends.routing().catalog.generation(),
    });
    let own = path == ROUTE
        || !info.is_resource
            && Box::pin(answer(door, &asked.parts(&parts.headers), Some(identity))).await.is_some();
    if own {
        explanation["reason"] = json!("the door answers this path itself");
        return Ok(explanation);
    }
    let catalog = Arc::clone(&door.backends.routing().catalog);
    let route = match info.is_resource {
        true => catalog.route(&info.group, &info.version),
        false => catalog.route_path(path),
    };
    explanation["reason"] = json!(reason(route, &info));
    if let Some(server) = route.server() {
        explanation["server"] = describe(door, server);
        explanation["sent"] = sent(&asked, &parts.headers, identity, server)?;
    }
    Ok(explanation)
}

fn request(asked: &Asked, info: &RequestInfo<'_>) -> Value {
    json!({
        "method": asked.method.as_str(),
        "path": asked.uri.to_string(),
        "resource": info.is_resource,
        "verb": info.verb,
        "apiGroup": info.group,
        "apiVersion": info.version,
        "resourceName": info.resource,
        "subresource": info.subresource,
        "namespace": info.namespace,
        "name": info.name,
        "longRunning": info.is_long_running(),
    })
}

/// Why the request goes where it goes.
fn reason(route: Route<'_>, info: &RequestInfo<'_>) -> String {
    let group = match info.is_resource {
        true => Some(&*info.group),
        false => info.path.strip_prefix("/apis/").map(|rest| rest.split('/').next().unwrap_or_default()),
    };
    let named = match group {
        Some("") => "the legacy group".to_owned(),
        Some(group) => format!("the group {group:?}"),
        None => "this path".to_owned(),
    };
    match route {
        Route::Server(server) => format!("{named} belongs to the registration {:?}", server.name.as_str()),
        Route::Core(_) => format!("{named} belongs to no registration, so it goes to the core"),
        Route::None => format!("{named} belongs to no registration and there is no core: 404"),
    }
}

fn describe(door: &Door, server: &Server) -> Value {
    let health = door.health.borrow();
    let health = health.servers.iter().find(|health| health.name == server.name);
    let available = health.and_then(|health| {
        let condition = health.conditions.iter().find(|condition| condition.kind == "Available")?;
        Some(json!({"status": condition.status, "reason": condition.reason, "message": condition.message}))
    });
    json!({
        "name": server.name.as_str(),
        "role": match server.role { Role::Core => "core", Role::Federated => "federated" },
        "source": health.map(|health| health.source),
        "identity": mode(server.identity),
        "clientCertificate": server.credentials.client_certificate.is_some(),
        "available": available,
        "endpoints": server.endpoints.iter().map(|endpoint| endpoint.address()).collect::<Vec<_>>(),
    })
}

fn mode(identity: IdentityMode) -> &'static str {
    match identity {
        IdentityMode::RequestHeader => "requestHeader",
        IdentityMode::Impersonate => "impersonate",
        IdentityMode::PassThrough => "passThrough",
    }
}

/// The head as the server would see it, with secrets left out.
fn sent(
    asked: &Asked,
    client_headers: &HeaderMap,
    identity: &Identity,
    server: &Server,
) -> Result<Value, Box<Status>> {
    let peer = HeaderValue::from_static("(address of the client)");
    let identity = Arc::new(Identity {
        user: identity.user.clone(),
        request_headers: identity.request_headers.clone(),
        impersonate_headers: identity.impersonate_headers.clone(),
        master: identity.master,
        acted: identity.acted,
    });
    let source = HeadSource {
        method: asked.method.clone(),
        uri: &asked.uri,
        headers: client_headers.clone(),
        identity: &identity,
        peer: &peer,
        audit_id: &audit_id(&HeaderMap::new()),
        traced: true,
    };
    let request = Head::new(source, server)?.to_service(());
    let headers: Vec<Value> = request
        .headers()
        .iter()
        .map(|(name, value)| json!({ "name": name.as_str(), "value": shown(name, value, server) }))
        .collect();
    Ok(json!({ "method": request.method().as_str(), "path": request.uri().to_string(), "headers": headers }))
}

fn shown(name: &HeaderName, value: &HeaderValue, server: &Server) -> String {
    match name.as_str() {
        "audit-id" | "traceparent" => "(new for each request)".to_owned(),
        _ if *name == header::AUTHORIZATION && server.identity == IdentityMode::PassThrough => {
            "(the caller's own)".to_owned()
        }
        _ if *name == header::AUTHORIZATION => "(the door's own)".to_owned(),
        _ if *name == header::COOKIE => "(a secret)".to_owned(),
        _ => String::from_utf8_lossy(value.as_bytes()).into_owned(),
    }
}
