//! The groups that a test server offers.

use serde_json::{Value, json};

/// One group version with its resources. Several of the same group make its versions, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Group name.
    pub name: String,
    /// Version.
    pub version: String,
    /// Resources.
    pub resources: Vec<Resource>,
}

/// One resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Plural name, as in paths.
    pub name: String,
    /// Kind.
    pub kind: String,
    /// Namespaced, or of the whole cluster.
    pub namespaced: bool,
}

const VERBS: [&str; 7] = ["create", "delete", "get", "list", "patch", "update", "watch"];

impl Group {
    /// A group version.
    pub fn new(name: &str, version: &str, resources: impl Into<Vec<Resource>>) -> Self {
        Self { name: name.to_owned(), version: version.to_owned(), resources: resources.into() }
    }

    /// `group/version`.
    pub fn api_version(&self) -> String {
        format!("{}/{}", self.name, self.version)
    }
}

impl Resource {
    /// A namespaced resource.
    pub fn namespaced(name: &str, kind: &str) -> Self {
        Self { name: name.to_owned(), kind: kind.to_owned(), namespaced: true }
    }

    /// A resource of the whole cluster.
    pub fn cluster(name: &str, kind: &str) -> Self {
        Self { namespaced: false, ..Self::namespaced(name, kind) }
    }

    /// As in `APIResourceList`.
    pub(crate) fn legacy(&self) -> Value {
        json!({
            "name": self.name, "singularName": self.kind.to_lowercase(), "namespaced": self.namespaced,
            "kind": self.kind, "verbs": VERBS,
        })
    }

    /// As in `APIGroupDiscoveryList`.
    pub(crate) fn aggregated(&self, group: &Group) -> Value {
        let scope = if self.namespaced { "Namespaced" } else { "Cluster" };
        let kind = json!({"group": group.name, "version": group.version, "kind": self.kind});
        json!({
            "resource": self.name, "responseKind": kind, "scope": scope,
            "singularResource": self.kind.to_lowercase(), "verbs": VERBS,
            "subresources": [{"subresource": "status", "responseKind": kind, "verbs": ["get", "patch", "update"]}],
        })
    }
}
