use kube_wire::discovery::{
    ConvertError, from_legacy, to_legacy,
    v1::{APIGroup, APIGroupList, APIResource, APIResourceList, APIVersions, GroupVersionForDiscovery},
    v2::{APIGroupDiscovery, APIGroupDiscoveryList, APIResourceDiscovery, Freshness, GroupVersionKind},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::golden;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Case {
    name: String,
    legacy: APIResourceList,
    aggregated: Option<Vec<APIResourceDiscovery>>,
    error: bool,
}

fn check(case: &Case) {
    let converted = from_legacy(&case.legacy);
    assert_eq!(converted.is_err(), case.error, "{}", case.name);
    let Ok(converted) = converted else { return };
    assert_eq!(&converted, case.aggregated.as_deref().unwrap_or_default(), "{}", case.name);
}

#[test]
fn conversion_to_the_aggregated_form_is_upstreams() {
    golden::cases("discovery").iter().for_each(check);
}

#[test]
fn a_kind_without_group_gets_that_of_the_list() {
    let list = APIResourceList {
        group_version: "g/v1".into(),
        resources: vec![resource("things", "Thing"), resource("things/status", "Thing")],
        ..Default::default()
    };
    let converted = from_legacy(&list).unwrap();
    let own = GroupVersionKind { group: "g".into(), version: "v1".into(), kind: "Thing".into() };
    assert_eq!(converted[0].response_kind, Some(own.clone()));
    assert_eq!(converted[0].subresources[0].response_kind, Some(own));
}

#[test]
fn there_and_back() {
    let scale = APIResource {
        group: "autoscaling".into(),
        version: "v1".into(),
        ..resource("things/scale", "Scale")
    };
    let list = APIResourceList {
        group_version: "g/v1".into(),
        resources: vec![resource("things", "Thing"), scale, resource("others", "Other")],
        ..Default::default()
    };
    assert_eq!(to_legacy("g", "v1", &from_legacy(&list).unwrap()), list);
}

#[test]
fn the_legacy_group_keeps_the_kinds_of_other_groups() {
    let eviction =
        APIResource { group: "policy".into(), version: "v1".into(), ..resource("pods/eviction", "Eviction") };
    let list = APIResourceList {
        group_version: "v1".into(),
        resources: vec![resource("pods", "Pod"), eviction],
        ..Default::default()
    };
    let converted = from_legacy(&list).unwrap();
    assert_eq!(converted[0].response_kind.as_ref().unwrap().group, "");
    assert_eq!(to_legacy("", "v1", &converted), list);
}

#[test]
fn what_has_no_kind_is_left_out_of_the_legacy_form_but_not_its_subresources() {
    let list = APIResourceList {
        group_version: "g/v1".into(),
        resources: vec![resource("things/status", "Thing")],
        ..Default::default()
    };
    let converted = from_legacy(&list).unwrap();
    assert_eq!(converted[0].response_kind, Some(GroupVersionKind::default()));
    assert_eq!(to_legacy("g", "v1", &converted), list);
}

#[test]
fn the_error_names_both() {
    let cluster = APIResource { namespaced: false, ..resource("things/status", "Thing") };
    let list =
        APIResourceList { resources: vec![resource("things", "Thing"), cluster], ..Default::default() };
    let error = ConvertError::Scope { parent: "things".into(), subresource: "status".into() };
    assert_eq!(from_legacy(&list), Err(error));
}

#[test]
fn nulls_are_read_as_empty() {
    let list: APIGroupList = serde_json::from_value(json!({"kind": "APIGroupList", "groups": null})).unwrap();
    assert!(list.groups.is_empty());
    let resources: APIResourceList =
        serde_json::from_value(json!({"groupVersion": "v1", "resources": [{"name": "x", "verbs": null}]}))
            .unwrap();
    assert!(resources.resources[0].verbs.is_empty());
    let group: APIGroupDiscovery = serde_json::from_value(json!({
        "metadata": {"name": "g", "creationTimestamp": null},
        "versions": [{"version": "v1", "resources": null, "freshness": "Rotten"}],
    }))
    .unwrap();
    assert_eq!(group.versions[0].freshness, Freshness::Unknown);
}

#[test]
fn field_names_are_upstreams() {
    let group = APIGroup {
        name: "g".into(),
        versions: vec![GroupVersionForDiscovery::new("g", "v1")],
        preferred_version: GroupVersionForDiscovery::new("g", "v1"),
        ..Default::default()
    };
    let list = APIGroupList { groups: vec![group], ..Default::default() };
    same(
        &serde_json::to_string(&list).unwrap(),
        r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"g","versions":[{"groupVersion":"g/v1","version":"v1"}],"preferredVersion":{"groupVersion":"g/v1","version":"v1"}}]}"#,
    );
    same(
        &serde_json::to_string(&APIVersions { versions: vec!["v1".into()], ..Default::default() }).unwrap(),
        r#"{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]}"#,
    );
    same(
        &serde_json::to_string(&APIGroupDiscoveryList::default()).unwrap(),
        r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[]}"#,
    );
}

fn same(ours: &str, expected: &str) {
    assert_eq!(ours, expected);
    let _: Value = serde_json::from_str(ours).unwrap();
}

fn resource(name: &str, kind: &str) -> APIResource {
    APIResource {
        name: name.into(),
        namespaced: true,
        kind: kind.into(),
        verbs: vec!["get".into()],
        ..Default::default()
    }
}
