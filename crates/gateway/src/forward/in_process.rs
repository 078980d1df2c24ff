//! A request to a backend in this process.

use catalog::Service;
use http::Request;
use http_body_util::BodyExt as _;

use super::Answer;
use crate::body::{RequestBody, Source};

pub(super) async fn send(service: &dyn Service, request: Request<RequestBody>) -> Answer {
    let response = service.call(request.map(|body| body.boxed_unsync())).await;
    let (parts, body) = response.into_parts();
    Answer { parts, source: Source::InProcess(body) }
}
