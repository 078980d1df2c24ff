//! Discovery documents, read with bounds; the resources of each version stay as the server wrote them.

use std::sync::Arc;

use catalog::{Cause, Failure, GroupOffer, Origin, VersionOffer, bounds};
use kube_wire::discovery::v1::{APIGroupList, APIVersions};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Any of the documents that `/apis` and `/api` may answer with.
#[derive(Debug)]
pub(super) enum Document {
    Aggregated(Vec<GroupOffer>),
    Legacy(APIGroupList),
    Core(Vec<String>),
}

/// What is wrong with a document.
#[derive(Debug)]
pub(super) struct Problem {
    cause: Cause,
    why: String,
}

impl Problem {
    pub(super) fn new(cause: Cause, why: impl Into<String>) -> Self {
        Self { cause, why: why.into() }
    }

    pub(super) fn at(self, path: &str) -> Failure {
        Failure::new(self.cause, format!("GET {path}: {}", self.why))
    }
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow, default)]
    kind: std::borrow::Cow<'a, str>,
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    items: Option<Vec<Item>>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    metadata: Meta,
    #[serde(default)]
    versions: Option<Vec<Version>>,
}

#[derive(Default, Deserialize)]
struct Meta {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Version {
    version: String,
    #[serde(default)]
    resources: Option<Box<RawValue>>,
    #[serde(default)]
    freshness: String,
}

pub(super) fn document(body: &[u8]) -> Result<Document, Problem> {
    let invalid = |error: serde_json::Error| Problem::new(Cause::InvalidDocument, error.to_string());
    let kind: Kind<'_> = serde_json::from_slice(body).map_err(invalid)?;
    match &*kind.kind {
        "APIGroupDiscoveryList" => {
            let list: List = serde_json::from_slice(body).map_err(invalid)?;
            aggregated(list.items.unwrap_or_default()).map(Document::Aggregated)
        }
        "APIGroupList" => {
            let list: APIGroupList = serde_json::from_slice(body).map_err(invalid)?;
            within(list.groups.len())?;
            Ok(Document::Legacy(list))
        }
        "APIVersions" => {
            let list: APIVersions = serde_json::from_slice(body).map_err(invalid)?;
            Ok(Document::Core(list.versions.into_iter().take(bounds::MAX_VERSIONS).collect()))
        }
        other => {
            let why = format!("it is a {other:?}, neither APIGroupDiscoveryList nor APIGroupList");
            Err(Problem::new(Cause::InvalidDocument, why))
        }
    }
}

fn within(groups: usize) -> Result<(), Problem> {
    if groups <= bounds::MAX_CORE_GROUPS {
        return Ok(());
    }
    Err(Problem::new(Cause::TooMany, format!("{groups} groups, more than {}", bounds::MAX_CORE_GROUPS)))
}

fn aggregated(items: Vec<Item>) -> Result<Vec<GroupOffer>, Problem> {
    within(items.len())?;
    Ok(items
        .into_iter()
        .map(|item| GroupOffer {
            name: item.metadata.name,
            versions: item.versions.unwrap_or_default().into_iter().map(offer).collect(),
            origin: Origin::Server,
        })
        .collect())
}

fn offer(version: Version) -> VersionOffer {
    let resources: Arc<RawValue> = match version.resources {
        // Without resources the version is at best not known.
        Some(resources) if resources.get() != "null" => resources.into(),
        _ => empty_list(),
    };
    VersionOffer { version: version.version, resources, legacy: None, current: version.freshness != "Stale" }
}

/// `[]`
pub(super) fn empty_list() -> Arc<RawValue> {
    RawValue::from_string("[]".to_owned()).unwrap_or_default().into()
}

/// More groups than a server in `role` may have.
pub(super) fn too_many(groups: usize, role: catalog::Role) -> Option<Failure> {
    let most = match role {
        catalog::Role::Core => bounds::MAX_CORE_GROUPS,
        catalog::Role::Federated => bounds::MAX_GROUPS,
    };
    (groups > most)
        .then(|| Failure::new(Cause::TooMany, format!("it offers {groups} groups, more than {most}")))
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_groups_have_their_reason_at_both_limits() {
        use catalog::Role;
        for (groups, role, refused) in [
            (bounds::MAX_GROUPS, Role::Federated, false),
            (bounds::MAX_GROUPS + 1, Role::Federated, true),
            (bounds::MAX_CORE_GROUPS, Role::Federated, true),
            (bounds::MAX_GROUPS + 1, Role::Core, false),
            (bounds::MAX_CORE_GROUPS + 1, Role::Core, true),
        ] {
            let failure = too_many(groups, role);
            let reason = failure.as_ref().map(|failure| failure.cause.reason());
            assert_eq!(reason, refused.then_some("TooManyGroups"), "{groups} of {role:?}");
            assert!(failure.is_none_or(|failure| failure.detail.contains(&groups.to_string())));
        }
        assert!(within(bounds::MAX_CORE_GROUPS).is_ok());
        let problem = within(bounds::MAX_CORE_GROUPS + 1).expect_err("too many").at("/apis");
        assert_eq!(problem.cause.reason(), "TooManyGroups");
    }

    #[test]
    fn documents_are_told_apart_by_their_kind() {
        let aggregated = r#"{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"a"},"versions":[
            {"version":"v1","freshness":"Current","resources":[{"resource":"things"}]},{"version":"v2","freshness":"Stale"}]}]}"#;
        let Ok(Document::Aggregated(groups)) = document(aggregated.as_bytes()) else { panic!("aggregated") };
        assert_eq!(groups[0].versions[0].resources.get(), r#"[{"resource":"things"}]"#);
        assert!(!groups[0].versions[1].current);
        assert!(matches!(document(br#"{"kind":"APIGroupList","groups":null}"#), Ok(Document::Legacy(_))));
        assert!(matches!(document(br#"{"kind":"APIVersions","versions":["v1"]}"#), Ok(Document::Core(_))));
        for bad in
            ["", "[]", "<html>", r#"{"kind":"Status"}"#, r#"{"kind":"APIGroupDiscoveryList","items":5}"#]
        {
            assert!(document(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_body_upsets_the_reader(body in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let _ = document(&body);
        }
    }
}
