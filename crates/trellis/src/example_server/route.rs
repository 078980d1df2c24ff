//! Which part answers a request.

use std::sync::Arc;

use bytes::Bytes;
use catalog::Body;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use kube_wire::{RequestInfo, Status, UserInfo, accept::Discovery, etag, query};
use serde_json::Value;

use super::{
    answer::{discovery_form, encode, failure, typed_answer},
    caller::caller,
    discovery,
    note::{GROUP, RESOURCE, VERSION},
    openapi, read,
    request::Call,
    store::Store,
    watch,
    write::{self, plain_not_found},
};

/// Bytes of a request body, as upstream's library allows.
const MAX_BODY: usize = 3 * 1024 * 1024;

/// What a connection needs to answer requests.
#[derive(Clone)]
pub(super) struct Api {
    /// The notes.
    pub(super) store: Arc<Store>,
    /// Whether the peer of this connection may name users.
    pub(super) trusted: bool,
}

impl Api {
    /// Answers one request; every failure is a `Status`.
    pub(super) async fn answer(self, request: Request<Incoming>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let headers = head.headers;
        if matches!(head.uri.path(), "/healthz" | "/livez" | "/readyz") {
            return plain("ok");
        }
        let body = match Limited::new(body, MAX_BODY).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => {
                let status = match error.downcast_ref::<http_body_util::LengthLimitError>() {
                    Some(_) => Status::request_too_large(&format!("limit is {MAX_BODY}")),
                    None => Status::bad_request("the body could not be read"),
                };
                return failure(&status, &headers);
            }
        };
        let (path, query) = (head.uri.path(), head.uri.query().unwrap_or_default());
        let answered = caller(self.trusted, &headers).and_then(|user| {
            tracing::debug!(user = user.name, method = %head.method, path, "request");
            let info = RequestInfo::parse(head.method.as_str(), path, query)
                .map_err(|error| Status::bad_request(error.to_string()))?;
            match info.is_resource {
                true => self.notes(&user, &info, query, &headers, &body),
                false => documents(&info, query, &headers),
            }
        });
        answered.unwrap_or_else(|status| failure(&status, &headers))
    }

    fn notes(
        &self,
        user: &UserInfo,
        info: &RequestInfo<'_>,
        query: &str,
        headers: &http::HeaderMap,
        body: &Bytes,
    ) -> Result<Response<Body>, Status> {
        let ours = info.group == GROUP && info.version == VERSION && info.resource == RESOURCE;
        if !ours || !info.subresource.is_empty() {
            return Ok(plain_not_found());
        }
        let now = kube_wire::object::time::format(crate::output::age::now());
        let call = Call { store: &self.store, user, info, query, headers, body, now };
        let (named, namespaced) = (!info.name.is_empty(), !info.namespace.is_empty());
        match &*info.verb {
            "get" if named && namespaced => read::get(&call),
            "list" => read::list(&call),
            "watch" => watch::watch(&call),
            "create" if !named && namespaced => write::create(&call),
            "update" if named && namespaced => write::update(&call),
            "patch" if named && namespaced => write::patch(&call),
            "delete" if named && namespaced => write::delete(&call),
            "deletecollection" if namespaced => write::delete_collection(&call),
            verb => Err(Status::method_not_supported(RESOURCE, GROUP, verb)),
        }
    }
}

/// What is not about a note.
fn documents(
    info: &RequestInfo<'_>,
    request_query: &str,
    headers: &http::HeaderMap,
) -> Result<Response<Body>, Status> {
    if !matches!(&*info.verb, "get" | "head") {
        return Ok(plain_not_found());
    }
    let path = info.path.trim_end_matches('/');
    let document = match path {
        "/api" | "/apis" => return discovery_root(path == "/api", headers),
        "/apis/example.trellis.dev" => discovery::group(),
        "/apis/example.trellis.dev/v1" => discovery::resources(),
        "/openapi/v2" => openapi::v2(),
        "/openapi/v3" => openapi::v3_index(&etag::sha512_hex(&encode(&openapi::v3()))),
        "/openapi/v3/apis/example.trellis.dev/v1" => {
            let document = encode(&openapi::v3());
            let hash = etag::sha512_hex(&document);
            return match query::first(request_query, "hash") {
                Some(asked) if asked != hash => Ok(moved(&format!("{path}?hash={hash}"))),
                _ => Ok(tagged(document, headers)),
            };
        }
        "/version" => discovery::version(),
        _ => return Ok(plain_not_found()),
    };
    Ok(tagged(encode(&document), headers))
}

fn discovery_root(legacy_group: bool, headers: &http::HeaderMap) -> Result<Response<Body>, Status> {
    // This server gives JSON alone, in whatever else it is asked for.
    let (document, content_type): (Value, &'static str) = match discovery_form(headers) {
        Discovery::AggregatedV2(_) => (
            discovery::aggregated(legacy_group),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        ),
        Discovery::Legacy(_) if legacy_group => (discovery::legacy_versions(), "application/json"),
        Discovery::Legacy(_) => (discovery::group_list(), "application/json"),
        Discovery::NotAcceptable => return Err(Status::not_acceptable()),
    };
    let mut response = tagged(encode(&document), headers);
    if response.status() == StatusCode::OK {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}

/// A document with its ETag, or 304 when the client has it.
fn tagged(document: Bytes, headers: &http::HeaderMap) -> Response<Body> {
    let tag = etag::strong(&document);
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let mut response = match known.is_some_and(|known| etag::none_match(known, &tag)) {
        true => {
            let mut response = Response::new(super::answer::full(Bytes::new()));
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        }
        false => typed_answer(StatusCode::OK, HeaderValue::from_static("application/json"), document),
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

fn moved(location: &str) -> Response<Body> {
    let mut response = plain("");
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    if let Ok(location) = HeaderValue::from_str(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

fn plain(text: &'static str) -> Response<Body> {
    typed_answer(
        StatusCode::OK,
        HeaderValue::from_static("text/plain; charset=utf-8"),
        Bytes::from_static(text.as_bytes()),
    )
}
