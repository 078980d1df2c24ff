//! Entity tags, conditional requests, HEAD.

use std::borrow::Cow;

use catalog::Document;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header, request::Parts};
use http_body::Body as _;
use kube_wire::etag;

use crate::body::Body;

/// Who may keep an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cache {
    /// What every answer says that says nothing else: for one client, and asked for anew each time.
    Default,
    /// Anybody, asked for anew each time.
    Public,
    /// Anybody, for ever: the hash is in the URL.
    Immutable,
}

impl Cache {
    fn value(self) -> Option<HeaderValue> {
        match self {
            Self::Default => None,
            Self::Public => Some(HeaderValue::from_static("public")),
            Self::Immutable => Some(HeaderValue::from_static("public, immutable")),
        }
    }
}

/// What comes of a conditional request.
pub(super) enum Tagged {
    /// The client has it: the whole answer, a 304.
    NotModified(Response<Body>),
    /// It does not: the head of the answer, without its body.
    Head(Response<Body>),
}

/// A finished document, or 304 when the client has it.
pub(super) fn document(parts: &Parts, document: &Document, cache: Cache) -> Response<Body> {
    match tagged(parts, &document.etag, document.content_type, cache) {
        Tagged::NotModified(response) => response,
        Tagged::Head(head) => with_body(head, document.body.clone()),
    }
}

/// Whether the client has what this tag names.
pub(super) fn tagged(parts: &Parts, tag: &str, content_type: &'static str, cache: Cache) -> Tagged {
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    headers.insert(header::VARY, HeaderValue::from_static("Accept"));
    if let Some(cache) = cache.value() {
        headers.insert(header::CACHE_CONTROL, cache);
    }
    let has_it = |value: &HeaderValue| value.to_str().is_ok_and(|value| etag::none_match(value, tag));
    if parts.headers.get_all(header::IF_NONE_MATCH).iter().any(has_it) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Tagged::NotModified(response);
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    Tagged::Head(response)
}

/// This head with its body.
pub(super) fn with_body(head: Response<Body>, body: impl Into<Body>) -> Response<Body> {
    head.map(|_| body.into())
}

/// The answer to HEAD: all that GET would say of the body, without it.
pub(super) fn without_body(mut response: Response<Body>) -> Response<Body> {
    let length = response.body().size_hint().exact();
    if let Some(length) = length
        && response.status() != StatusCode::NOT_MODIFIED
    {
        response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    }
    response.map(|_| Body::empty())
}

/// All lines of a header as one; what is not text counts as absent.
pub(super) fn joined(headers: &HeaderMap, name: HeaderName) -> Cow<'_, str> {
    let mut lines = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let first = lines.next().unwrap_or_default();
    match lines.next() {
        None => Cow::Borrowed(first),
        Some(second) => {
            let all: Vec<_> = [first, second].into_iter().chain(lines).collect();
            Cow::Owned(all.join(","))
        }
    }
}
