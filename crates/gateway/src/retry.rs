//! Sends a request to a server, at another endpoint or again where that is safe.

use std::sync::Arc;
use std::time::Duration;

use catalog::{Cause, Failure};
use tokio::time::{Instant, timeout_at};

use crate::{
    body::{RequestBody, UploadFailure},
    forward::{self, Answer, Head, SendError},
    pool::{Class, EndpointPool, ServerPool},
};

/// How often a request is sent again that the backend has not looked at.
const MAX_UNPROCESSED: u32 = 5;
/// How long a connection may take while there is another endpoint to ask.
const IMPATIENT: Duration = Duration::from_secs(1);

/// Why a request came to nothing.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The backend.
    Server(Failure),
    /// The client's body.
    Upload(UploadFailure),
    /// Its time is over.
    TimedOut,
}

/// One request to one server.
pub(crate) struct Delivery<'a> {
    pub(crate) pool: &'a ServerPool,
    pub(crate) head: &'a Head,
    pub(crate) body: RequestBody,
    pub(crate) class: Class,
}

impl Delivery<'_> {
    /// Delivers it before `deadline`.
    ///
    /// # Errors
    /// When nothing more can be tried.
    pub(crate) async fn send(self, deadline: Option<Instant>) -> Result<Answer, Failed> {
        match deadline {
            None => self.attempts().await,
            Some(deadline) => timeout_at(deadline, self.attempts()).await.unwrap_or(Err(Failed::TimedOut)),
        }
    }

    /// Again where nothing was sent, where the backend says that it did not look (refused stream,
    /// GOAWAY), and once more on a dead connection when the method only reads. RFC 9110 would allow PUT
    /// and DELETE too, but the second try of one that was carried out answers 409 or 404.
    async fn attempts(self) -> Result<Answer, Failed> {
        let mut tried: Vec<Arc<EndpointPool>> = Vec::new();
        let mut last = None;
        let mut unprocessed = 0;
        let mut lost = false;
        loop {
            let Some((endpoint, others)) = self.pool.pick(&tried) else {
                return Err(Failed::Server(last.unwrap_or_else(|| Failure::new(Cause::NoEndpoints, ""))));
            };
            let limit = self.pool.shared.server.limits.connect_timeout;
            let patience = if others { limit.min(IMPATIENT) } else { limit };
            let channel = match endpoint.acquire(self.class, patience).await {
                Ok(channel) => channel,
                Err(failure) => {
                    last = Some(failure);
                    tried.push(endpoint);
                    continue;
                }
            };
            let (failure, why) = match forward::send(channel, self.head, &endpoint, &self.body).await {
                Ok(answer) => return Ok(answer),
                Err(SendError::Upload(failure)) => return Err(Failed::Upload(failure)),
                Err(SendError::Unprocessed(why, failure)) if unprocessed < MAX_UNPROCESSED => {
                    unprocessed += 1;
                    (failure, why)
                }
                Err(SendError::Lost(failure)) if self.head.is_safe() && !lost => {
                    lost = true;
                    if others {
                        tried.push(endpoint);
                    }
                    (failure, "connection_lost")
                }
                Err(SendError::Unprocessed(_, failure) | SendError::Lost(failure)) => {
                    return Err(Failed::Server(failure));
                }
            };
            if !self.rewind() {
                return Err(Failed::Server(failure));
            }
            self.pool.shared.metrics.retried(why);
            last = Some(failure);
        }
    }

    fn rewind(&self) -> bool {
        match &self.body {
            RequestBody::Empty | RequestBody::Full(_) => true,
            RequestBody::Upload(upload) => upload.lock().rewind(),
        }
    }
}
