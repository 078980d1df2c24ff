//! Bearer tokens that only the core knows, for example those of service accounts: TokenReview.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use kube_wire::{identity::UserInfo, status::Status};
use serde::{Deserialize, Serialize};

use super::{CoreClient, Memo, NoAnswer, token, unauthorized};
use crate::identity::Identity;

/// How long the core's yes is believed, as upstream's webhook authenticator.
const KEEP_KNOWN: Duration = Duration::from_secs(10);
/// How long its no is: a token may have been made a moment ago.
const KEEP_UNKNOWN: Duration = Duration::from_secs(3);
/// How long a core that does not answer is left alone with this token.
const KEEP_FAILED: Duration = Duration::from_secs(1);
/// Tokens remembered.
const CAPACITY: usize = 4096;
/// Refusals and failures remembered; apart from the good ones, so that guessing pushes nobody out.
const REFUSED_CAPACITY: usize = 1024;
/// Reviews on their way. Whoever floods the door with tokens of his own making gets 503.
const MAX_PENDING: usize = 128;

const PATH: &str = "/apis/authentication.k8s.io/v1/tokenreviews";

/// What the core said of a token.
#[derive(Clone, Debug)]
enum Verdict {
    Known(Arc<Identity>),
    Unknown,
    /// The core could not be asked; the particulars are in the log.
    Failed,
}

/// Asks the core, remembers its answers by the SHA-256 of the token.
pub(super) struct Reviews {
    core: Arc<dyn CoreClient>,
    known: Memo<Verdict>,
    refused: Memo<Verdict>,
}

#[derive(Serialize)]
struct Request<'a> {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    spec: RequestSpec<'a>,
}

#[derive(Serialize)]
struct RequestSpec<'a> {
    token: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    status: AnswerStatus,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AnswerStatus {
    authenticated: bool,
    user: UserInfo,
    error: String,
}

impl Reviews {
    pub(super) fn new(core: Arc<dyn CoreClient>) -> Self {
        Self { core, known: Memo::new(CAPACITY, MAX_PENDING), refused: Memo::new(REFUSED_CAPACITY, 1) }
    }

    /// Whose token this is, as the core says.
    ///
    /// # Errors
    /// 401 when the core does not know it, 503 when the core cannot say.
    pub(super) async fn identity(&self, token: &[u8]) -> Result<Arc<Identity>, Box<Status>> {
        let Ok(text) = std::str::from_utf8(token) else { return Err(unauthorized()) };
        let key = token::digest(token);
        if let Some(refused) = self.refused.known(&key) {
            return outcome(refused);
        }
        let work = review(self.core.clone(), text);
        let verdict = match self.known.get_or(key, work).await {
            Ok(verdict) => verdict,
            Err(NoAnswer::Busy | NoAnswer::Lost) => Verdict::Failed,
        };
        match verdict {
            Verdict::Known(_) => {}
            Verdict::Unknown => self.refused.remember(key, Verdict::Unknown, KEEP_UNKNOWN),
            Verdict::Failed => self.refused.remember(key, Verdict::Failed, KEEP_FAILED),
        }
        outcome(verdict)
    }
}

fn outcome(verdict: Verdict) -> Result<Arc<Identity>, Box<Status>> {
    match verdict {
        Verdict::Known(identity) => Ok(identity),
        Verdict::Unknown => Err(unauthorized()),
        // Not 401: a client that reads it throws good credentials away.
        Verdict::Failed => Err(Box::new(Status::service_unavailable(
            "the bearer token cannot be checked now: the core API server does not answer",
            1,
        ))),
    }
}

/// The question to the core, as a future of its own: it outlives the caller who asked first.
fn review(
    core: Arc<dyn CoreClient>,
    token: &str,
) -> impl Future<Output = (Verdict, Duration)> + Send + use<> {
    let request =
        Request { kind: "TokenReview", api_version: "authentication.k8s.io/v1", spec: RequestSpec { token } };
    let body = serde_json::to_vec(&request).map(Bytes::from);
    async move {
        let Ok(body) = body else { return (Verdict::Unknown, Duration::ZERO) };
        let answer = match core.post_json(PATH, body).await {
            Ok(answer) => answer,
            Err(failure) => {
                tracing::warn!(%failure, "Cannot ask the core for a TokenReview.");
                return (Verdict::Failed, Duration::ZERO);
            }
        };
        match serde_json::from_slice::<Answer>(&answer) {
            Ok(answer) => verdict(answer.status),
            Err(error) => {
                tracing::warn!(%error, "The core's answer to a TokenReview cannot be read.");
                (Verdict::Failed, Duration::ZERO)
            }
        }
    }
}

fn verdict(status: AnswerStatus) -> (Verdict, Duration) {
    if !status.authenticated {
        if !status.error.is_empty() {
            tracing::debug!(error = status.error, "The core does not know a bearer token.");
        }
        return (Verdict::Unknown, Duration::ZERO);
    }
    match Identity::authenticated(status.user) {
        Ok(identity) => (Verdict::Known(Arc::new(identity)), KEEP_KNOWN),
        Err(error) => {
            tracing::warn!(%error, "The core names a user that cannot be carried on.");
            (Verdict::Unknown, Duration::ZERO)
        }
    }
}
