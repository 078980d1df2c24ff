//! Requests and answers that are not passed on.

use http::{HeaderValue, Method, Response, StatusCode, Version, header, request};
use kube_wire::status::Status;

use crate::{
    body::{Body, UploadFailure},
    forward::Answer,
    respond,
};

/// What a client is told whose body could not be sent on.
pub(super) fn upload_failed(failure: UploadFailure) -> Box<Status> {
    Box::new(match failure {
        UploadFailure::TooLarge => Status::request_too_large(&failure.to_string()),
        UploadFailure::Stalled => Status::timeout(),
        UploadFailure::Broken => Status::bad_request(failure.to_string()),
    })
}

/// Requests that two parsers may understand differently, or that are none for a server.
pub(super) fn malformed(parts: &request::Parts) -> Option<Response<Body>> {
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

/// Whether the backend sends the client elsewhere.
pub(super) fn redirects(answer: &Answer) -> bool {
    answer.parts.status.is_redirection() && answer.parts.headers.contains_key(header::LOCATION)
}
