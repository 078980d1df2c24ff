//! One request to one backend: the head made anew, the body streamed, the answer taken.

mod head;
mod ids;
mod in_process;
mod over_http1;
mod over_http2;
mod reply;

use catalog::Failure;
use http::response;

pub(crate) use head::{Head, HeadSource};
pub(crate) use ids::{AuditId, audit_id};
pub(crate) use reply::{clean_answer, seal};

use crate::{
    body::{RequestBody, Source, UploadFailure},
    pool::{Channel, EndpointPool},
};

/// The answer of a backend; its body is still on its way.
pub(crate) struct Answer {
    pub(crate) parts: response::Parts,
    pub(crate) source: Source,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum SendError {
    /// The backend has not looked at the request, by its own word or because nothing was sent.
    Unprocessed(&'static str, Failure),
    /// Nobody knows what the backend did.
    Lost(Failure),
    /// The client's own body.
    Upload(UploadFailure),
}

/// Sends `head` and `body` over `channel` and waits for the head of the answer. Dropped, it cancels
/// the request at the backend.
pub(crate) async fn send(
    channel: Channel,
    head: &Head,
    endpoint: &EndpointPool,
    body: &RequestBody,
) -> Result<Answer, SendError> {
    match channel {
        Channel::Http2(lease) => over_http2::send(lease, head.to_http2(endpoint), body).await,
        Channel::Http1(lease) => over_http1::send(lease, head.to_http1(endpoint, body.clone()), body).await,
        Channel::InProcess(service) => Ok(in_process::send(&*service, head.to_service(body.clone())).await),
    }
}
