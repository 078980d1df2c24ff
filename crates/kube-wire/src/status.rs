//! `Status`: how a Kubernetes API says that something failed, or that a deletion is done.

mod build;
mod encode;
mod protobuf;
mod reason;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use encode::encode;
pub use reason::Reason;

/// The `metav1.Status` of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Whether the request failed.
    pub outcome: Outcome,
    /// For people.
    pub message: Cow<'static, str>,
    /// For programs.
    pub reason: Reason,
    /// The HTTP status code.
    pub code: u16,
    /// Particulars. Upstream writes an empty object for some errors, so that none and empty differ.
    pub details: Option<StatusDetails>,
}

/// `Success` or `Failure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Success,
    /// It was not.
    Failure,
}

/// What a `Status` is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatusDetails {
    /// Object name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// API group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Resource or kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Object UID.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Causes, for `Invalid` one for each field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<StatusCause>,
    /// After how many seconds to try again; 0 says nothing.
    #[serde(skip_serializing_if = "is_zero")]
    pub retry_after_seconds: u32,
}

/// One cause of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusCause {
    /// For programs, for example `FieldValueRequired`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// For people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Path of the field, for example `spec.url`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

impl Status {
    /// The value for a `Retry-After` header, in seconds.
    pub fn retry_after(&self) -> Option<u32> {
        self.details.as_ref().map(|details| details.retry_after_seconds).filter(|seconds| *seconds > 0)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Status {}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// `name.group`, or the name alone in the legacy group.
pub(crate) fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}
