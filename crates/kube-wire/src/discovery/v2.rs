//! The aggregated form, `apidiscovery.k8s.io/v2`. Fields that upstream may write as `null` are read as
//! empty.

use serde::{Deserialize, Serialize};

use crate::object::null_default;

/// The content type that answers carry. Clients compare its parameters in any order, upstream sends
/// them in this one.
pub const CONTENT_TYPE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// `/apis` and `/api`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct APIGroupDiscoveryList {
    /// Always `APIGroupDiscoveryList`.
    pub kind: String,
    /// Always `apidiscovery.k8s.io/v2`.
    pub api_version: String,
    /// Always empty.
    #[serde(deserialize_with = "null_default")]
    pub metadata: crate::object::ListMeta,
    /// Groups in order of preference; one without a name for `/api`.
    #[serde(deserialize_with = "null_default")]
    pub items: Vec<APIGroupDiscovery>,
}

/// A group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct APIGroupDiscovery {
    /// Carries the group's name.
    #[serde(deserialize_with = "null_default")]
    pub metadata: GroupMeta,
    /// Versions in order of preference.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub versions: Vec<APIVersionDiscovery>,
}

/// The metadata of a group: its name alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupMeta {
    /// Group name, empty for the legacy group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// A version of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct APIVersionDiscovery {
    /// Version name.
    pub version: String,
    /// Resources.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub resources: Vec<APIResourceDiscovery>,
    /// Whether the list is known to be right. Clients drop the resources of what is stale.
    #[serde(skip_serializing_if = "Freshness::is_unknown")]
    pub freshness: Freshness,
}

/// `DiscoveryFreshness`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Freshness {
    /// Read recently.
    Current,
    /// Could not be read.
    Stale,
    /// Not given, or not one of the two.
    #[default]
    #[serde(other)]
    Unknown,
}

/// A resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct APIResourceDiscovery {
    /// Plural name.
    pub resource: String,
    /// The kind that it answers with; with empty fields when only subresources can be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_kind: Option<GroupVersionKind>,
    /// Where its objects live.
    #[serde(deserialize_with = "null_default")]
    pub scope: Scope,
    /// Singular name, may be empty.
    pub singular_resource: String,
    /// What can be done with it.
    #[serde(deserialize_with = "null_default")]
    pub verbs: Vec<String>,
    /// Short names for people.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub short_names: Vec<String>,
    /// Groups of resources for people, such as `all`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub categories: Vec<String>,
    /// Subresources.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub subresources: Vec<APISubresourceDiscovery>,
}

/// A subresource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct APISubresourceDiscovery {
    /// Name without the resource.
    pub subresource: String,
    /// The kind that it answers with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_kind: Option<GroupVersionKind>,
    /// The kinds that it takes.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub accepted_types: Vec<GroupVersionKind>,
    /// What can be done with it.
    #[serde(deserialize_with = "null_default")]
    pub verbs: Vec<String>,
}

/// `metav1.GroupVersionKind`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupVersionKind {
    /// API group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Kind.
    pub kind: String,
}

/// `ResourceScope`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// In namespaces.
    Namespaced,
    /// In the cluster as a whole.
    #[default]
    #[serde(other)]
    Cluster,
}

impl Default for APIGroupDiscoveryList {
    fn default() -> Self {
        Self {
            kind: "APIGroupDiscoveryList".into(),
            api_version: "apidiscovery.k8s.io/v2".into(),
            metadata: crate::object::ListMeta::default(),
            items: Vec::new(),
        }
    }
}

impl Scope {
    /// As upstream writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Namespaced => "Namespaced",
            Self::Cluster => "Cluster",
        }
    }
}

impl Freshness {
    /// As upstream writes it; empty when it is not known.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "Current",
            Self::Stale => "Stale",
            Self::Unknown => "",
        }
    }

    fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

impl GroupVersionKind {
    /// Whether nothing is in it, as for resources of which only subresources can be used.
    pub fn is_empty(&self) -> bool {
        self.group.is_empty() && self.version.is_empty() && self.kind.is_empty()
    }
}
