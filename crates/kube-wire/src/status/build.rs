//! One constructor for each failure, with upstream's words: tools search for them.

use std::borrow::Cow;

use super::{Outcome, Reason, Status, StatusCause, StatusDetails, qualified};
use crate::{RequestInfo, accept};

const MEDIA_TYPES: [&str; 3] = [accept::JSON, accept::YAML, accept::PROTOBUF];

impl Status {
    /// A failure without details.
    pub fn failure(code: u16, reason: Reason, message: impl Into<Cow<'static, str>>) -> Self {
        Self { outcome: Outcome::Failure, message: message.into(), reason, code, details: None }
    }

    /// This status with details.
    #[must_use]
    pub fn with_details(mut self, details: StatusDetails) -> Self {
        self.details = Some(details);
        self
    }

    /// This status with the advice to try again after this many seconds.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u32) -> Self {
        self.details.get_or_insert_default().retry_after_seconds = seconds;
        self
    }

    /// 200: a deletion is done.
    pub fn deleted(resource: &str, group: &str, name: &str, uid: &str) -> Self {
        let details = StatusDetails { uid: uid.to_owned(), ..about(resource, group, name) };
        Self {
            outcome: Outcome::Success,
            message: Cow::Borrowed(""),
            reason: Reason::Unknown,
            code: 200,
            details: Some(details),
        }
    }

    /// 401.
    pub fn unauthorized() -> Self {
        Self::failure(401, Reason::Unauthorized, "Unauthorized")
    }

    /// 403 for a resource; `reason` is the authorizer's, may be empty.
    pub fn forbidden_resource(user: &str, info: &RequestInfo<'_>, reason: &str) -> Self {
        let resource = match &*info.subresource {
            "" => info.resource.to_string(),
            subresource => format!("{}/{subresource}", info.resource),
        };
        let scope = match &*info.namespace {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {}", quoted(namespace)),
        };
        let (user, resource, group) = (quoted(user), quoted(&resource), quoted(&info.group));
        let sentence =
            format!("User {user} cannot {} resource {resource} in API group {group} {scope}", info.verb);
        let subject = match &*info.name {
            "" => info.group_resource(),
            name => format!("{} {}", info.group_resource(), quoted(name)),
        };
        let message = format!("{subject} is forbidden: {}", explained(&sentence, reason));
        Self::failure(403, Reason::Forbidden, message).with_details(about(
            &info.resource,
            &info.group,
            &info.name,
        ))
    }

    /// 403 for a path that is no resource; `verb` is the method in lower case.
    pub fn forbidden_path(user: &str, verb: &str, path: &str, reason: &str) -> Self {
        let sentence = format!("User {} cannot {verb} path {}", quoted(user), quoted(path));
        Self::failure(403, Reason::Forbidden, format!("forbidden: {}", explained(&sentence, reason)))
            .with_details(StatusDetails::default())
    }

    /// 403 for the request that `info` describes, resource or not.
    pub fn forbidden(user: &str, info: &RequestInfo<'_>, reason: &str) -> Self {
        if info.is_resource {
            Self::forbidden_resource(user, info, reason)
        } else {
            Self::forbidden_path(user, &info.verb, &info.path, reason)
        }
    }

    /// 404 for an object.
    pub fn not_found(resource: &str, group: &str, name: &str) -> Self {
        let message = format!("{} {} not found", qualified(resource, group), quoted(name));
        Self::failure(404, Reason::NotFound, message).with_details(about(resource, group, name))
    }

    /// 405: the resource knows no such action.
    pub fn method_not_supported(resource: &str, group: &str, action: &str) -> Self {
        let of = quoted(&qualified(resource, group));
        Self::failure(
            405,
            Reason::MethodNotAllowed,
            format!("{action} is not supported on resources of kind {of}"),
        )
        .with_details(about(resource, group, ""))
    }

    /// 409: the name is taken.
    pub fn already_exists(resource: &str, group: &str, name: &str) -> Self {
        let message = format!("{} {} already exists", qualified(resource, group), quoted(name));
        Self::failure(409, Reason::AlreadyExists, message).with_details(about(resource, group, name))
    }

    /// 409: an update of something that has changed meanwhile, or should not be changed.
    pub fn conflict(resource: &str, group: &str, name: &str, why: &str) -> Self {
        let object = format!("{} {}", qualified(resource, group), quoted(name));
        Self::failure(409, Reason::Conflict, format!("Operation cannot be fulfilled on {object}: {why}"))
            .with_details(about(resource, group, name))
    }

    /// 409: the usual [`Status::conflict`], a stale resource version.
    pub fn modified(resource: &str, group: &str, name: &str) -> Self {
        const WHY: &str =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(resource, group, name, WHY)
    }

    /// 410: the resource version is older than what is kept.
    pub fn expired(message: impl Into<Cow<'static, str>>) -> Self {
        Self::failure(410, Reason::Expired, message)
    }

    /// 422: fields are wrong.
    pub fn invalid(kind: &str, group: &str, name: &str, causes: Vec<StatusCause>) -> Self {
        let of = format!("{} {} is invalid", qualified(kind, group), quoted(name));
        let errors: Vec<_> =
            causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let message = match &errors[..] {
            [] => of,
            [error] => format!("{of}: {error}"),
            errors => format!("{of}: [{}]", errors.join(", ")),
        };
        let details = StatusDetails { causes, ..about(kind, group, name) };
        Self::failure(422, Reason::Invalid, message).with_details(details)
    }

    /// 400.
    pub fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::failure(400, Reason::BadRequest, message)
    }

    /// 400: a `?timeout=` that is no duration.
    pub fn invalid_timeout(why: &str) -> Self {
        Self::bad_request(format!("invalid timeout specified in the request URL - {why}"))
    }

    /// 406, with the types that an ordinary endpoint has.
    pub fn not_acceptable() -> Self {
        Self::not_acceptable_among(&MEDIA_TYPES)
    }

    /// 406, with the types that this endpoint has.
    pub fn not_acceptable_among(media_types: &[&str]) -> Self {
        let types = media_types.join(", ");
        let message = format!("only the following media types are accepted: {types}");
        Self::failure(406, Reason::NotAcceptable, message)
    }

    /// 413.
    pub fn request_too_large(why: &str) -> Self {
        let message = format!("Request entity too large: {why}");
        Self::failure(413, Reason::RequestEntityTooLarge, message)
    }

    /// 415, with the types that an ordinary endpoint reads.
    pub fn unsupported_media_type() -> Self {
        Self::unsupported_media_type_among(&MEDIA_TYPES)
    }

    /// 415, with the types that this endpoint reads.
    pub fn unsupported_media_type_among(media_types: &[&str]) -> Self {
        let types = media_types.join(", ");
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {types}"
        );
        Self::failure(415, Reason::UnsupportedMediaType, message)
    }

    /// 429.
    pub fn too_many_requests(message: impl Into<Cow<'static, str>>, retry_after_seconds: u32) -> Self {
        Self::failure(429, Reason::TooManyRequests, message).with_retry_after(retry_after_seconds)
    }

    /// 429 with upstream's words for too many requests in flight.
    pub fn too_many_in_flight() -> Self {
        Self::too_many_requests("Too many requests, please try again later.", 1)
    }

    /// 429 with upstream's words for a server that is stopping.
    pub fn shutting_down() -> Self {
        Self::too_many_requests("The apiserver is shutting down, please try again later.", 5)
    }

    /// 500. `why` must carry nothing that a client should not see.
    pub fn internal(why: &str) -> Self {
        let cause = StatusCause { message: why.to_owned(), ..StatusCause::default() };
        Self::failure(500, Reason::InternalError, format!("Internal error occurred: {why}"))
            .with_details(StatusDetails { causes: vec![cause], ..StatusDetails::default() })
    }

    /// 502: the backend answered what may not be passed on.
    pub fn bad_gateway(message: impl Into<Cow<'static, str>>) -> Self {
        Self::failure(502, Reason::InternalError, message)
    }

    /// 502 with upstream's words for a redirect.
    pub fn redirect_refused() -> Self {
        Self::bad_gateway("the backend attempted to redirect this request, which is not permitted")
    }

    /// 503; 0 seconds give no advice when to try again.
    pub fn service_unavailable(message: impl Into<Cow<'static, str>>, retry_after_seconds: u32) -> Self {
        let status = Self::failure(503, Reason::ServiceUnavailable, message);
        if retry_after_seconds == 0 { status } else { status.with_retry_after(retry_after_seconds) }
    }

    /// 503 with upstream's words for a server that is still starting.
    pub fn starting() -> Self {
        const MESSAGE: &str =
            "the request has been made before all known HTTP paths have been installed, please try again";
        Self::service_unavailable(MESSAGE, 5)
    }

    /// 504: the request ran out of its time.
    pub fn timeout() -> Self {
        Self::failure(504, Reason::Timeout, "Timeout: request did not complete within the allotted timeout")
            .with_details(StatusDetails::default())
    }
}

fn about(kind: &str, group: &str, name: &str) -> StatusDetails {
    StatusDetails {
        kind: kind.to_owned(),
        group: group.to_owned(),
        name: name.to_owned(),
        ..StatusDetails::default()
    }
}

/// The sentence without anything that could pass for HTML, and the authorizer's reason after it.
fn explained(sentence: &str, reason: &str) -> String {
    let sentence = sentence.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    if reason.is_empty() { sentence } else { format!("{sentence}: {reason}") }
}

/// In double quotes, with control characters escaped.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
