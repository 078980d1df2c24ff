//! Backends and contributions in few words.

use std::sync::Arc;

use catalog::{
    Contribution, Credentials, Discovery, GroupOffer, IdentityMode, Limits, OpenApi, Origin, Role, Roots,
    SelectedVersion, Selection, Server, ServerName, Trust, VersionOffer,
};
use serde_json::{json, value::RawValue};

/// A federated backend, or the core when it is called so.
pub(crate) fn server(name: &str) -> Server {
    Server {
        name: ServerName::new(name),
        revision: 1,
        role: if name == ServerName::CORE { Role::Core } else { Role::Federated },
        endpoints: Vec::new(),
        base_path: String::new(),
        trust: Trust { roots: Roots::System, server_name: None, skip_verification: false },
        identity: IdentityMode::RequestHeader,
        credentials: Credentials::default(),
        limits: Limits::default(),
        direct_address: None,
    }
}

/// A backend that was never seen, with upstream's default priorities.
pub(crate) fn unseen(name: &str, registered_at: i64) -> Contribution {
    Contribution {
        server: Arc::new(server(name)),
        registered_at,
        selection: Selection::All { group_priority: 1000, version_priority: 15 },
        discovery: None,
        openapi: Arc::new(OpenApi::default()),
    }
}

/// A backend that offers these groups with these versions.
pub(crate) fn offering(name: &str, registered_at: i64, groups: &[(&str, &[&str])]) -> Contribution {
    let groups =
        groups.iter().map(|(group, versions)| group_offer(group, Origin::Server, versions)).collect();
    Contribution {
        discovery: Some(Arc::new(Discovery { core: Vec::new(), groups })),
        ..unseen(name, registered_at)
    }
}

/// A group whose versions each have one resource.
pub(crate) fn group_offer(group: &str, origin: Origin, versions: &[&str]) -> GroupOffer {
    let versions = versions.iter().map(|version| version_offer(group, version)).collect();
    GroupOffer { name: group.to_owned(), origin, versions }
}

/// A version with the resource `things`.
pub(crate) fn version_offer(group: &str, version: &str) -> VersionOffer {
    let resources = json!([{
        "resource": "things",
        "responseKind": {"group": group, "version": version, "kind": "Thing"},
        "scope": "Namespaced",
        "singularResource": "thing",
        "verbs": ["get", "list"],
    }]);
    VersionOffer {
        version: version.to_owned(),
        resources: raw(&resources.to_string()),
        legacy: None,
        current: true,
    }
}

/// JSON text as it came from a backend.
pub(crate) fn raw(json: &str) -> Arc<RawValue> {
    Arc::from(RawValue::from_string(json.to_owned()).expect("JSON"))
}

/// An APIService's claim.
pub(crate) fn selected(
    group: &str,
    version: &str,
    group_priority: i32,
    version_priority: i32,
) -> SelectedVersion {
    SelectedVersion { group: group.to_owned(), version: version.to_owned(), group_priority, version_priority }
}
