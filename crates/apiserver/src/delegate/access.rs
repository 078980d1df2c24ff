//! Who may do what: SubjectAccessReview.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use kube_wire::{RequestInfo, UserInfo, identity::MASTERS_GROUP};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{Core, KEEP_FAILURE, KEEP_NO, KEEP_YES, memo::Memo, read};
use crate::hooks::{Authorizer, Decision, Later};

const PATH: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// Asks the core who may do what, and remembers its answers for seconds. `system:masters` may do everything
/// without being asked about, as with upstream's servers: also while the core is away.
pub struct AccessReviews {
    core: Arc<dyn Core>,
    known: Memo<Verdict>,
}

/// A decision, or why there is none.
type Verdict = Result<Decision, Arc<str>>;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    status: AnswerStatus,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AnswerStatus {
    allowed: bool,
    reason: String,
    evaluation_error: String,
}

impl AccessReviews {
    /// Asks this core.
    pub fn new(core: Arc<dyn Core>) -> Self {
        Self { core, known: Memo::new() }
    }
}

impl Authorizer for AccessReviews {
    fn authorize<'a>(
        &'a self,
        user: &'a UserInfo,
        request: &'a RequestInfo<'a>,
    ) -> Later<'a, Result<Decision, String>> {
        Box::pin(async {
            if user.in_group(MASTERS_GROUP) {
                return Ok(Decision::Allow);
            }
            let question = question(user, request);
            let key = Sha256::digest(&question).into();
            match self.known.get_or(key, ask(Arc::clone(&self.core), question)).await {
                Some(verdict) => verdict.map_err(|problem| problem.to_string()),
                None => Err("too many reviews are on their way".to_owned()),
            }
        })
    }
}

/// Nothing in it depends on anything else than user and request: it is the key of the answer, too.
fn question(user: &UserInfo, request: &RequestInfo<'_>) -> Bytes {
    let mut spec = json!({ "user": user.name, "groups": user.groups, "uid": user.uid, "extra": user.extra });
    let texts = |pairs: &[(&str, &str)]| {
        let some = pairs.iter().filter(|(_, text)| !text.is_empty());
        some.map(|(name, text)| ((*name).to_owned(), Value::from(*text))).collect::<Map<_, _>>().into()
    };
    let (name, attributes) = match request.is_resource {
        true => (
            "resourceAttributes",
            texts(&[
                ("verb", &request.verb),
                ("group", &request.group),
                ("version", &request.version),
                ("resource", &request.resource),
                ("subresource", &request.subresource),
                ("namespace", &request.namespace),
                ("name", &request.name),
            ]),
        ),
        false => ("nonResourceAttributes", texts(&[("path", &request.path), ("verb", &request.verb)])),
    };
    spec[name] = attributes;
    let review =
        json!({ "kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": spec });
    review.to_string().into()
}

async fn ask(core: Arc<dyn Core>, question: Bytes) -> (Verdict, Duration) {
    let answer = core.post(PATH, question).await;
    match answer.and_then(|answer| read::<Answer>(&answer)) {
        Ok(Answer { status }) if status.allowed => (Ok(Decision::Allow), KEEP_YES),
        Ok(Answer { status }) => {
            if !status.evaluation_error.is_empty() {
                tracing::debug!(error = status.evaluation_error, "the core denies access after an error");
            }
            (Ok(Decision::Deny(status.reason)), KEEP_NO)
        }
        Err(error) => (Err(error.to_string().into()), KEEP_FAILURE),
    }
}
