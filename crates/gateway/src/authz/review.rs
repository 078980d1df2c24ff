//! The core's SubjectAccessReview, remembered for seconds.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use kube_wire::{RequestInfo, identity::UserInfo};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::authn::{CoreClient, Memo};

/// How long a yes is believed.
pub(super) const KEEP_ALLOWED: Duration = Duration::from_secs(10);
/// How long a no is: whoever was just given a permission should not wait.
const KEEP_DENIED: Duration = Duration::from_secs(3);
/// Decisions remembered.
const CAPACITY: usize = 4096;
/// Reviews on their way.
const MAX_PENDING: usize = 128;

const PATH: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// What the core says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Allowed,
    /// With the authorizer's reason, may be empty.
    Denied(Arc<str>),
    /// The core cannot say.
    Unknown,
}

/// Asks the core.
pub(super) struct Reviews {
    core: Arc<dyn CoreClient>,
    decisions: Memo<Decision>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    kind: &'static str,
    api_version: &'static str,
    spec: RequestSpec<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestSpec<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_attributes: Option<ResourceAttributes<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    non_resource_attributes: Option<NonResourceAttributes<'a>>,
    user: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    groups: &'a [String],
    #[serde(skip_serializing_if = "str::is_empty")]
    uid: &'a str,
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    extra: &'a std::collections::BTreeMap<String, Vec<String>>,
}

#[derive(Serialize)]
struct ResourceAttributes<'a> {
    verb: &'a str,
    resource: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    subresource: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
}

#[derive(Serialize)]
struct NonResourceAttributes<'a> {
    path: &'a str,
    verb: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    status: AnswerStatus,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AnswerStatus {
    allowed: bool,
    reason: String,
    evaluation_error: String,
}

impl Reviews {
    pub(super) fn new(core: Arc<dyn CoreClient>) -> Self {
        Self { core, decisions: Memo::new(CAPACITY, MAX_PENDING) }
    }

    /// Whether this user may do this.
    pub(super) async fn decide(&self, user: &UserInfo, info: &RequestInfo<'_>) -> Decision {
        let Ok(question) = serde_json::to_vec(&request(user, info)) else { return Decision::Unknown };
        let key = Sha256::digest(&question).into();
        let work = ask(self.core.clone(), question.into());
        self.decisions.get_or(key, work).await.unwrap_or(Decision::Unknown)
    }
}

fn request<'a>(user: &'a UserInfo, info: &'a RequestInfo<'_>) -> Request<'a> {
    let resource_attributes = info.is_resource.then(|| ResourceAttributes {
        verb: &info.verb,
        resource: &info.resource,
        group: &info.group,
        version: &info.version,
        subresource: &info.subresource,
        namespace: &info.namespace,
        name: &info.name,
    });
    let non_resource_attributes =
        (!info.is_resource).then(|| NonResourceAttributes { path: &info.path, verb: &info.verb });
    Request {
        kind: "SubjectAccessReview",
        api_version: "authorization.k8s.io/v1",
        spec: RequestSpec {
            resource_attributes,
            non_resource_attributes,
            user: &user.name,
            groups: &user.groups,
            uid: &user.uid,
            extra: &user.extra,
        },
    }
}

async fn ask(core: Arc<dyn CoreClient>, question: Bytes) -> (Decision, Duration) {
    let answer = match core.post_json(PATH, question).await {
        Ok(answer) => answer,
        Err(failure) => {
            tracing::warn!(%failure, "Cannot ask the core for a SubjectAccessReview.");
            return (Decision::Unknown, Duration::ZERO);
        }
    };
    match serde_json::from_slice::<Answer>(&answer) {
        Ok(Answer { status }) if status.allowed => (Decision::Allowed, KEEP_ALLOWED),
        Ok(Answer { status }) => {
            if !status.evaluation_error.is_empty() {
                tracing::debug!(error = status.evaluation_error, "The core denies access after an error.");
            }
            (Decision::Denied(status.reason.into()), KEEP_DENIED)
        }
        Err(error) => {
            tracing::warn!(%error, "The core's answer to a SubjectAccessReview cannot be read.");
            (Decision::Unknown, Duration::ZERO)
        }
    }
}
