//! Responses.

use bytes::{Bytes, BytesMut};
use catalog::{Body, BodyError};
use http::{HeaderMap, HeaderValue, Response, StatusCode, header, request::Parts};
use http_body_util::{BodyExt as _, Full};
use kube_wire::{Status, accept, status::StatusCause};
use serde::Serialize;

use crate::{store::StoreError, validation::Problem};

/// Largest request body, as upstream.
const MAX_BODY: usize = 3 << 20;

/// An object or a list as JSON.
pub(super) fn json(parts: &Parts, status: StatusCode, value: &impl Serialize) -> Response<Body> {
    let query = parts.uri.query().unwrap_or_default();
    let agent =
        parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let encoded = if accept::pretty(query, agent) {
        serde_json::to_vec_pretty(value)
    } else {
        serde_json::to_vec(value)
    };
    match encoded {
        Ok(mut body) => {
            body.push(b'\n');
            with_type(status, accept::JSON, body)
        }
        Err(error) => failure(parts, &Status::internal(&error.to_string())),
    }
}

/// A failure, in the encoding that the client takes.
pub(super) fn failure(parts: &Parts, status: &Status) -> Response<Body> {
    let encoding = accept::negotiate_status(accept::parse(&accept_header(parts)));
    let code = StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = with_type(code, encoding.content_type(), status.encode(encoding));
    if let Some(seconds) = status.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Upstream's answer for a path that nobody serves.
pub(super) fn page_not_found() -> Response<Body> {
    with_type(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "404 page not found\n")
}

/// A body with its content type.
pub(super) fn with_type(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> Response<Body> {
    let body = Body::new(Full::new(body.into()).map_err(BodyError::from));
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// Adds a warning for each of `sentences`.
pub(super) fn warn(headers: &mut HeaderMap, sentences: &[String]) {
    for sentence in sentences {
        let text = sentence.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{text}\"")) {
            headers.append(header::WARNING, value);
        }
    }
}

/// All `Accept` headers as one.
pub(super) fn accept_header(parts: &Parts) -> String {
    let values = parts.headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.collect::<Vec<_>>().join(",")
}

/// The body of a request, within upstream's limit.
pub(super) async fn read(mut body: Body) -> Result<Bytes, Status> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|error| Status::bad_request(format!("cannot read the request body: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + data.len() > MAX_BODY {
            return Err(Status::request_too_large(&format!("limit is {MAX_BODY}")));
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

/// Why the store refused, in upstream's words.
pub(super) fn refused(error: StoreError) -> Status {
    match error {
        StoreError::NotFound(key) => {
            Status::not_found(key.resource.plural(), key.resource.group(), &key.name)
        }
        StoreError::AlreadyExists(key) => {
            Status::already_exists(key.resource.plural(), key.resource.group(), &key.name)
        }
        StoreError::Modified(key) => Status::modified(key.resource.plural(), key.resource.group(), &key.name),
        StoreError::OtherUid { key, expected } => {
            let why = format!("Precondition failed: UID in precondition: {expected}");
            Status::conflict(key.resource.plural(), key.resource.group(), &key.name, &why)
        }
        StoreError::InFile { key, path } => {
            let why = format!("it is defined in the file {}; change it there", path.display());
            Status::conflict(key.resource.plural(), key.resource.group(), &key.name, &why)
        }
        StoreError::Invalid { key, problems } => {
            let cause = |problem: &Problem| StatusCause {
                reason: problem.kind.cause().to_owned(),
                message: problem.message(),
                field: problem.field.clone(),
            };
            let causes = problems.iter().map(cause).collect();
            Status::invalid(key.resource.kind(), key.resource.group(), &key.name, causes)
        }
        error @ StoreError::Disk { .. } => {
            tracing::error!(%error, "a registration was not stored");
            Status::internal(&error.to_string())
        }
    }
}
