//! Discovery of the example's one group: legacy, per version, and aggregated.

use serde_json::{Value, json};

use super::note::{API_VERSION, GROUP, KIND, RESOURCE, VERSION};

const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// `/apis`, legacy.
pub(super) fn group_list() -> Value {
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": [group_body()] })
}

/// `/apis/example.trellis.dev`.
pub(super) fn group() -> Value {
    let mut group = group_body();
    group["kind"] = json!("APIGroup");
    group["apiVersion"] = json!("v1");
    group
}

fn group_body() -> Value {
    let version = json!({ "groupVersion": API_VERSION, "version": VERSION });
    json!({ "name": GROUP, "versions": [version], "preferredVersion": version })
}

/// `/apis/example.trellis.dev/v1`.
pub(super) fn resources() -> Value {
    json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": API_VERSION,
        "resources": [{
            "name": RESOURCE,
            "singularName": "note",
            "namespaced": true,
            "kind": KIND,
            "verbs": VERBS,
            "shortNames": ["no"],
            "categories": ["all"],
        }],
    })
}

/// `/apis` or `/api`, aggregated; `/api` has nothing.
pub(super) fn aggregated(legacy_group: bool) -> Value {
    let items = if legacy_group { json!([]) } else { json!([aggregated_group()]) };
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn aggregated_group() -> Value {
    json!({
        "metadata": { "name": GROUP, "creationTimestamp": null },
        "versions": [{
            "version": VERSION,
            "freshness": "Current",
            "resources": [{
                "resource": RESOURCE,
                "responseKind": { "group": GROUP, "version": VERSION, "kind": KIND },
                "scope": "Namespaced",
                "singularResource": "note",
                "verbs": VERBS,
                "shortNames": ["no"],
                "categories": ["all"],
            }],
        }],
    })
}

/// `/api`, legacy.
pub(super) fn legacy_versions() -> Value {
    json!({ "kind": "APIVersions", "versions": [], "serverAddressByClientCIDRs": [] })
}

/// `/version`.
pub(super) fn version() -> Value {
    json!({
        "major": "1",
        "minor": "37",
        "gitVersion": concat!("v1.37.0-trellis-example-", env!("CARGO_PKG_VERSION")),
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}
