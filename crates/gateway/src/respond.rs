//! The one place where an error becomes an answer.

use std::sync::Arc;

use catalog::{Cause, Role, Server};
use http::{HeaderMap, HeaderValue, Response, StatusCode, Uri, header};
use kube_wire::{Encoding, RequestInfo, Status, accept};

use crate::body::Body;

/// Plain text as Go's HTTP library marks it.
pub(crate) const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
/// Seconds after which a request to a failed server is worth another try.
const RETRY_UNAVAILABLE: u32 = 1;

/// How the client wants errors: taken from the request before its head is sent on. Holds nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted(Encoding);

impl Default for Wanted {
    fn default() -> Self {
        Self(Encoding::Json)
    }
}

impl Wanted {
    /// By `Accept`, `?pretty=` and `User-Agent`.
    pub(crate) fn new(headers: &HeaderMap, uri: &Uri) -> Self {
        let encoding = match encoding(headers) {
            Encoding::Json if accept::pretty(uri.query().unwrap_or_default(), user_agent(headers)) => {
                Encoding::JsonPretty
            }
            encoding => encoding,
        };
        Self(encoding)
    }
}

/// `status` in the encoding that the client wants, with `Retry-After` where it says when to come back.
/// `Audit-Id` and `Cache-Control` are set by the caller, once for every answer.
pub(crate) fn status_response(status: &Status, wanted: &Wanted) -> Response<Body> {
    // Upstream writes a 406 as readable JSON: none of its encodings was wanted.
    let encoding = if status.code == 406 { Encoding::JsonPretty } else { wanted.0 };
    let mut response = Response::new(Body::from(status.encode(encoding)));
    *response.status_mut() = StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(encoding.content_type()));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    if let Some(seconds) = status.retry_after() {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    if status.code == 401 {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"kubernetes\""));
    }
    response
}

/// A line of plain text, as Go's `http.Error` writes it. `text` ends with its line feed.
pub(crate) fn text_response(code: StatusCode, text: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(text.into());
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, TEXT);
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    response
}

/// The answer for a path that nobody serves; client libraries know it in this form.
pub(crate) fn not_found() -> Response<Body> {
    text_response(StatusCode::NOT_FOUND, "404 page not found\n")
}

/// Why `server` gave no answer, as the client is told: the registration, what was asked and the kind of
/// failure. Addresses and certificates stay in conditions and logs.
pub(crate) fn unavailable(server: &Arc<Server>, info: &RequestInfo<'_>, cause: Cause) -> Status {
    match cause {
        Cause::RedirectRefused => return explained(Status::redirect_refused(), server, info, cause),
        Cause::Overloaded => {
            let message = format!("{} {}", subject(server, info), cause.phrase());
            return Status::too_many_requests(message, RETRY_UNAVAILABLE);
        }
        _ => {}
    }
    let message = format!("error trying to reach service: {} {}", subject(server, info), cause.phrase());
    match cause {
        Cause::ResponseTimeout => explained(Status::timeout(), server, info, cause),
        Cause::ProtocolError | Cause::UnexpectedStatus => Status::bad_gateway(message),
        _ => Status::service_unavailable(message, RETRY_UNAVAILABLE),
    }
}

/// Upstream's words, which tools look for, and then whom they are about.
fn explained(mut status: Status, server: &Server, info: &RequestInfo<'_>, cause: Cause) -> Status {
    status.message = format!("{}: {} {}", status.message, subject(server, info), cause.phrase()).into();
    status
}

/// `the server "wardle" for wardle.example.com/v1alpha1`, or `the core API server for apps/v1`.
fn subject(server: &Server, info: &RequestInfo<'_>) -> String {
    let name = match server.role {
        Role::Core => "the core API server".to_owned(),
        Role::Federated => format!("the server {:?}", server.name.as_str()),
    };
    match (&*info.group, &*info.version) {
        ("", "") => name,
        ("", version) => format!("{name} for {version}"),
        (group, version) => format!("{name} for {group}/{version}"),
    }
}

/// Negotiates only when the header can ask for something else than JSON at all.
fn encoding(headers: &HeaderMap) -> Encoding {
    let mut values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let Some(first) = values.next() else { return Encoding::Json };
    let negotiate = |text: &str| match ["yaml", "protobuf", "pretty"].iter().any(|word| text.contains(word)) {
        true => accept::negotiate_status(accept::parse(text)),
        false => Encoding::Json,
    };
    match values.next() {
        None => negotiate(first),
        Some(second) => {
            let all: Vec<_> = [first, second].into_iter().chain(values).collect();
            negotiate(&all.join(","))
        }
    }
}

pub(crate) fn user_agent(headers: &HeaderMap) -> &str {
    headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
