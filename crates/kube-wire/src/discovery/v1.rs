//! The legacy forms, `k8s.io/apimachinery/pkg/apis/meta/v1`. Fields that upstream may write as `null`
//! are read as empty.

use serde::{Deserialize, Serialize};

use crate::object::null_default;

/// `/api`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct APIVersions {
    /// Always `APIVersions`.
    pub kind: String,
    /// Versions of the legacy group.
    #[serde(deserialize_with = "null_default")]
    pub versions: Vec<String>,
    /// Where clients may reach the server directly, by their own address.
    #[serde(rename = "serverAddressByClientCIDRs", deserialize_with = "null_default")]
    pub server_address_by_client_cidrs: Vec<ServerAddressByClientCIDR>,
}

/// `/apis`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct APIGroupList {
    /// Always `APIGroupList`.
    pub kind: String,
    /// Always `v1`.
    pub api_version: String,
    /// Groups in order of preference.
    #[serde(deserialize_with = "null_default")]
    pub groups: Vec<APIGroup>,
}

/// `/apis/G`, and an item of `/apis`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct APIGroup {
    /// `APIGroup` for `/apis/G`, empty within a list.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// `v1` for `/apis/G`, empty within a list.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// Group name.
    pub name: String,
    /// Versions in order of preference.
    #[serde(deserialize_with = "null_default")]
    pub versions: Vec<GroupVersionForDiscovery>,
    /// The version that clients use when they have no wish of their own.
    pub preferred_version: GroupVersionForDiscovery,
    /// Where clients may reach the server directly, by their own address.
    #[serde(
        rename = "serverAddressByClientCIDRs",
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_default"
    )]
    pub server_address_by_client_cidrs: Vec<ServerAddressByClientCIDR>,
}

/// A version of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GroupVersionForDiscovery {
    /// `group/version`.
    pub group_version: String,
    /// The version alone.
    pub version: String,
}

/// An address for clients in a network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServerAddressByClientCIDR {
    /// The clients' network, for example `0.0.0.0/0`.
    #[serde(rename = "clientCIDR")]
    pub client_cidr: String,
    /// Host, or `host:port`.
    pub server_address: String,
}

/// `/apis/G/V` and `/api/v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct APIResourceList {
    /// Always `APIResourceList`.
    pub kind: String,
    /// `v1`; upstream leaves it out for the legacy group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// `group/version`, or the version alone for the legacy group.
    pub group_version: String,
    /// Resources and subresources.
    #[serde(deserialize_with = "null_default")]
    pub resources: Vec<APIResource>,
}

/// A resource or a subresource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct APIResource {
    /// Plural name; `resource/subresource` for a subresource.
    pub name: String,
    /// Singular name, may be empty.
    pub singular_name: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// The kind's group, empty when it is that of the list.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The kind's version, empty when it is that of the list.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Kind.
    pub kind: String,
    /// What can be done with it.
    #[serde(deserialize_with = "null_default")]
    pub verbs: Vec<String>,
    /// Short names for people.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub short_names: Vec<String>,
    /// Groups of resources for people, such as `all`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub categories: Vec<String>,
    /// A hash of the version in which it is stored.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub storage_version_hash: String,
}

impl Default for APIVersions {
    fn default() -> Self {
        Self { kind: "APIVersions".into(), versions: Vec::new(), server_address_by_client_cidrs: Vec::new() }
    }
}

impl Default for APIGroupList {
    fn default() -> Self {
        Self { kind: "APIGroupList".into(), api_version: "v1".into(), groups: Vec::new() }
    }
}

impl Default for APIResourceList {
    fn default() -> Self {
        let (group_version, resources) = (String::new(), Vec::new());
        Self { kind: "APIResourceList".into(), api_version: "v1".into(), group_version, resources }
    }
}

impl GroupVersionForDiscovery {
    /// This version of this group; the group is empty for the legacy one.
    pub fn new(group: &str, version: &str) -> Self {
        Self { group_version: group_version(group, version), version: version.to_owned() }
    }
}

/// `group/version`, or the version alone for the legacy group.
pub fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
