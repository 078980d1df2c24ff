//! A request over HTTP/1.1.

use catalog::{Cause, Failure};
use http::Request;

use super::{Answer, SendError};
use crate::{
    body::{RequestBody, Source},
    pool::Http1Lease,
};

pub(super) async fn send(
    mut lease: Http1Lease,
    request: Request<RequestBody>,
    body: &RequestBody,
) -> Result<Answer, SendError> {
    match lease.send(request).await {
        Ok(response) => {
            let (parts, incoming) = response.into_parts();
            Ok(Answer { parts, source: Source::Http1(incoming, lease) })
        }
        Err(error) if error.message().is_some() => {
            let failure = Failure::new(Cause::ConnectionLost, error.error().to_string());
            Err(SendError::Unprocessed("closed", failure))
        }
        Err(error) => Err(why(error.into_error(), body)),
    }
}

pub(crate) fn why(error: hyper::Error, body: &RequestBody) -> SendError {
    if let RequestBody::Upload(upload) = body
        && let Some(failure) = upload.lock().failure()
    {
        return SendError::Upload(failure);
    }
    SendError::Lost(dial::failure_of(&error))
}
