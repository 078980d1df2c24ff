//! The parts that all Kubernetes objects share.

pub mod time;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Kind and API version of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TypeMeta {
    /// `group/version`, or the version alone in the legacy group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// Kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

/// Metadata of an object. Timestamps are RFC 3339 with whole seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// Name, unique in the namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What a name made by the server begins with.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub generate_name: String,
    /// Namespace, empty for cluster-scoped objects.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Unique over time.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Changes with every change of the object.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// Grows with every change of what is wanted.
    #[serde(skip_serializing_if = "is_zero")]
    pub generation: i64,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<String>,
    /// When its deletion was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<String>,
    /// Seconds between the request and the deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    /// Labels, for selection.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "null_default")]
    pub labels: BTreeMap<String, String>,
    /// Annotations, for everything else.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "null_default")]
    pub annotations: BTreeMap<String, String>,
    /// On which objects it depends.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub owner_references: Vec<OwnerReference>,
    /// What must be done before it may go.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub finalizers: Vec<String>,
    /// Who set which field, as written by the server that holds the object.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub managed_fields: Vec<Value>,
}

/// Metadata of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListMeta {
    /// From where a watch goes on.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// The token of the next page.
    #[serde(rename = "continue", skip_serializing_if = "String::is_empty")]
    pub continue_token: String,
    /// How many objects follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_item_count: Option<i64>,
}

/// An object on which another depends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// API version of the owner.
    pub api_version: String,
    /// Kind of the owner.
    pub kind: String,
    /// Name of the owner.
    pub name: String,
    /// UID of the owner.
    pub uid: String,
    /// Whether the owner is its controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// Whether the owner waits for it when it is deleted in the foreground.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}

/// `metav1.Condition`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// For example `Available`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// The generation of the object that this is about.
    #[serde(skip_serializing_if = "is_zero")]
    pub observed_generation: i64,
    /// RFC 3339 time of the last change of `status`.
    pub last_transition_time: String,
    /// For programs, CamelCase.
    pub reason: String,
    /// For people.
    pub message: String,
}

/// `True`, `False` or `Unknown`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not.
    False,
    /// Nobody can say.
    #[default]
    #[serde(other)]
    Unknown,
}

impl TypeMeta {
    /// This kind in this version.
    pub fn new(api_version: &str, kind: &str) -> Self {
        Self { api_version: api_version.to_owned(), kind: kind.to_owned() }
    }
}

impl From<Option<bool>> for ConditionStatus {
    fn from(status: Option<bool>) -> Self {
        match status {
            Some(true) => Self::True,
            Some(false) => Self::False,
            None => Self::Unknown,
        }
    }
}

impl ConditionStatus {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

/// Reads `null` as the default, as Go does. For `#[serde(deserialize_with)]`.
///
/// # Errors
/// When the value has another type.
pub fn null_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
fn is_zero(number: &i64) -> bool {
    *number == 0
}
