//! Bearer tokens: TokenReview.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, header, request::Parts};
use kube_wire::{Status, UserInfo, identity::AUTHENTICATED_GROUP};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{Core, KEEP_FAILURE, KEEP_NO, KEEP_YES, memo::Memo, read};
use crate::{authn::Authenticator, hooks::Later};

const PATH: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
/// Longest token that is looked at, in bytes.
const MAX_TOKEN: usize = 16 * 1024;

/// Asks the core whose a bearer token is. Its answers are remembered for seconds, under the hash of the
/// token.
pub struct TokenReviews {
    core: Arc<dyn Core>,
    known: Memo<Verdict>,
}

#[derive(Clone)]
enum Verdict {
    User(Arc<UserInfo>),
    Nobody,
    /// The core could not be asked.
    Unknown,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    status: AnswerStatus,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AnswerStatus {
    authenticated: bool,
    user: UserInfo,
    error: String,
}

impl TokenReviews {
    /// Asks this core.
    pub fn new(core: Arc<dyn Core>) -> Self {
        Self { core, known: Memo::new() }
    }
}

impl Authenticator for TokenReviews {
    /// A request without a token is somebody else's business.
    ///
    /// # Errors
    /// 401 for a token that the core does not know; 503 when the core cannot say, because a client that
    /// reads 401 throws good credentials away.
    fn authenticate<'a>(&'a self, head: &'a Parts) -> Later<'a, Result<Option<UserInfo>, Status>> {
        Box::pin(async {
            let Some(token) = bearer(&head.headers) else { return Ok(None) };
            if token.len() > MAX_TOKEN {
                return Err(Status::unauthorized());
            }
            let work = review(Arc::clone(&self.core), token.to_owned());
            let key = Sha256::digest(token).into();
            match self.known.get_or(key, work).await.unwrap_or(Verdict::Unknown) {
                Verdict::User(user) => Ok(Some((*user).clone())),
                Verdict::Nobody => Err(Status::unauthorized()),
                Verdict::Unknown => Err(Status::service_unavailable(
                    "the bearer token cannot be checked now: the core API server does not answer",
                    1,
                )),
            }
        })
    }
}

/// As upstream: the scheme in letters of any case, the token up to the next space.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, rest) = value.split_once(' ')?;
    let token = rest.trim_start().split(' ').next().unwrap_or_default();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

async fn review(core: Arc<dyn Core>, token: String) -> (Verdict, Duration) {
    let question = json!({
        "kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1", "spec": { "token": token },
    });
    let answer = core.post(PATH, question.to_string().into()).await;
    match answer.and_then(|answer| read::<Answer>(&answer)) {
        Ok(Answer { status }) if status.authenticated => match status.user.check() {
            Ok(()) => (Verdict::User(Arc::new(status.user.with_group(AUTHENTICATED_GROUP))), KEEP_YES),
            Err(error) => {
                tracing::warn!(%error, "the core names a user that cannot be");
                (Verdict::Nobody, KEEP_NO)
            }
        },
        Ok(Answer { status }) => {
            tracing::debug!(error = status.error, "the core does not know a bearer token");
            (Verdict::Nobody, KEEP_NO)
        }
        Err(error) => {
            tracing::warn!(%error, "cannot ask for a TokenReview");
            (Verdict::Unknown, KEEP_FAILURE)
        }
    }
}
