//! From what came of a request to its response, in one place.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use kube_wire::{Encoding, Reason, Status, StatusDetails, accept, status::Outcome as Result_};

use super::{Body, body::full, compress::Whole};
use crate::answer::{accept_header, encoded, is_pretty};

/// What came of a request.
pub(super) type Outcome = Result<Response<Body>, Status>;

/// Longest `Audit-ID` that is taken from a client, in bytes.
const MAX_AUDIT_ID: usize = 64;
/// All warnings of an answer together, in characters; upstream's number.
const MAX_WARNINGS: usize = 4096;
/// One warning when all are too long; upstream's number.
const CUT_WARNING: usize = 256;

/// An answer in this encoding.
pub(super) fn object(code: u16, json: Bytes, encoding: Encoding) -> Response<Body> {
    let mut response = Response::new(full(encoded(Vec::from(json), encoding)));
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let kind = HeaderValue::from_static(encoding.content_type());
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response.extensions_mut().insert(Whole);
    response
}

/// A `Status`.
pub(super) fn status(status: &Status, encoding: Encoding) -> Response<Body> {
    let mut response = Response::new(full(status.encode(encoding)));
    *response.status_mut() = StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let kind = HeaderValue::from_static(encoding.content_type());
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    if let Some(seconds) = status.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Plain text.
pub(super) fn text(code: StatusCode, text: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(full(text));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// As upstream answers for a path that it does not know.
pub(super) fn no_such_path() -> Response<Body> {
    text(StatusCode::NOT_FOUND, "404 page not found\n")
}

/// 404 below a version that is served.
pub(super) fn no_such_resource() -> Status {
    Status::failure(404, Reason::NotFound, "the server could not find the requested resource")
        .with_details(StatusDetails::default())
}

/// 405 for what is served otherwise.
pub(super) fn method_not_allowed() -> Status {
    Status::failure(
        405,
        Reason::MethodNotAllowed,
        "the server does not allow this method on the requested resource",
    )
    .with_details(StatusDetails::default())
}

/// 415 for a type that no resource takes for this method.
pub(super) fn unsupported_media_type() -> Status {
    Status::failure(415, Reason::UnsupportedMediaType, "415: Unsupported Media Type")
        .with_details(StatusDetails::default())
}

/// The id of a request, the client's when it has one.
pub(super) fn audit_id(headers: &HeaderMap) -> String {
    let own = headers.get("audit-id").and_then(|id| id.to_str().ok());
    match own.filter(|id| !id.is_empty() && id.len() <= MAX_AUDIT_ID) {
        Some(id) => id.to_owned(),
        None => uuid::Uuid::new_v4().to_string(),
    }
}

/// The response, with the headers that all have.
pub(super) fn finish(
    outcome: Outcome,
    headers: &HeaderMap,
    request_query: &str,
    warnings: &[String],
) -> Response<Body> {
    let mut response = outcome.unwrap_or_else(|problem| {
        let accepted = accept_header(headers);
        let encoding = match accept::negotiate_status(accept::parse(&accepted)) {
            Encoding::Json if problem.reason == Reason::NotAcceptable => Encoding::JsonPretty,
            Encoding::Json if is_pretty(headers, request_query) => Encoding::JsonPretty,
            other => other,
        };
        debug_assert!(problem.outcome == Result_::Failure);
        status(&problem, encoding)
    });
    let own = response.headers_mut();
    if !own.contains_key(header::CACHE_CONTROL) {
        own.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    }
    for warning in warning_values(warnings) {
        own.append(header::WARNING, warning);
    }
    response
}

/// The response to `HEAD`.
pub(super) fn without_body(response: Response<Body>) -> Response<Body> {
    response.map(|_| http_body_util::Empty::new().boxed_unsync())
}

/// `299 - "text"`, each once, within upstream's bounds.
fn warning_values(warnings: &[String]) -> Vec<HeaderValue> {
    let mut once: Vec<&str> = Vec::new();
    for warning in warnings {
        if !warning.is_empty() && !once.contains(&&**warning) {
            once.push(warning);
        }
    }
    let total: usize = once.iter().map(|warning| warning.chars().count()).sum();
    let mut left = MAX_WARNINGS;
    let mut values = Vec::new();
    for warning in once {
        let limit = if total > MAX_WARNINGS { CUT_WARNING } else { MAX_WARNINGS };
        let shown: String = warning.chars().filter(|c| !c.is_control()).take(limit).collect();
        let Some(rest) = left.checked_sub(shown.chars().count()) else { break };
        left = rest;
        let quoted = shown.replace('\\', r"\\").replace('"', "\\\"");
        values.extend(HeaderValue::from_bytes(format!("299 - \"{quoted}\"").as_bytes()));
    }
    values
}
