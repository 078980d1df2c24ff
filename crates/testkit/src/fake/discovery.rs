//! Discovery documents: proper ones, and ones that nobody should offer.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Script, api::Group};

pub(crate) const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Names of the groups, each once, in their order.
fn names(groups: &[Group]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for group in groups {
        if !names.contains(&group.name.as_str()) {
            names.push(&group.name);
        }
    }
    names
}

pub(crate) fn aggregated(script: &Script) -> Value {
    let items: Vec<Value> = names(&script.groups).into_iter().map(|name| item(script, name)).collect();
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {}, "items": items,
    })
}

fn item(script: &Script, name: &str) -> Value {
    let versions = script.groups.iter().filter(|group| group.name == name).map(|group| {
        let resources: Vec<Value> =
            group.resources.iter().map(|resource| resource.aggregated(group)).collect();
        json!({"version": group.version, "freshness": "Current", "resources": resources})
    });
    json!({
        "metadata": {"name": name, "creationTimestamp": null},
        "versions": versions.collect::<Vec<_>>(),
    })
}

pub(crate) fn group_list(script: &Script) -> Value {
    let groups: Vec<Value> =
        names(&script.groups).into_iter().filter_map(|name| group(script, name)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/GROUP`, without kind.
pub(crate) fn group(script: &Script, name: &str) -> Option<Value> {
    let versions: Vec<Value> = script
        .groups
        .iter()
        .filter(|group| group.name == name)
        .map(|group| json!({"groupVersion": group.api_version(), "version": group.version}))
        .collect();
    let preferred = versions.first()?.clone();
    Some(json!({"name": name, "versions": versions, "preferredVersion": preferred}))
}

pub(crate) fn resource_list(script: &Script, name: &str, version: &str) -> Option<Value> {
    let group = script.groups.iter().find(|group| group.name == name && group.version == version)?;
    let resources: Vec<Value> = group.resources.iter().map(super::Resource::legacy).collect();
    Some(json!({
        "kind": "APIResourceList", "apiVersion": "v1",
        "groupVersion": group.api_version(), "resources": resources,
    }))
}

const EMPTY_VERSION: &str = r#"{"version":"v1","freshness":"Current","resources":[]}"#;

/// So many groups, in the aggregated or the legacy form, one part each thousand.
pub(crate) fn many_groups(count: usize, aggregated: bool) -> impl Iterator<Item = Bytes> + Send + Unpin {
    let head = match aggregated {
        true => {
            r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":["#
        }
        false => r#"{"kind":"APIGroupList","apiVersion":"v1","groups":["#,
    };
    let one = move |n: usize| match aggregated {
        true => format!(r#"{{"metadata":{{"name":"g{n}.example.com"}},"versions":[{EMPTY_VERSION}]}}"#),
        false => format!(
            r#"{{"name":"g{n}.example.com","versions":[{{"groupVersion":"g{n}.example.com/v1","version":"v1"}}]}}"#
        ),
    };
    let parts = (0..count).step_by(1000).map(move |start| {
        let groups: Vec<String> = (start..count.min(start + 1000)).map(one).collect();
        let comma = if start == 0 { "" } else { "," };
        Bytes::from(format!("{comma}{}", groups.join(",")))
    });
    std::iter::once(Bytes::from_static(head.as_bytes())).chain(parts).chain([Bytes::from_static(b"]}")])
}

/// One group whose only resource's singular name makes up the size.
pub(crate) fn huge(bytes: u64) -> impl Iterator<Item = Bytes> + Send + Unpin {
    const PART: usize = 64 << 10;
    let head = concat!(
        r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":["#,
        r#"{"metadata":{"name":"huge.example.com"},"versions":[{"version":"v1","freshness":"Current","#,
        r#""resources":[{"resource":"things","scope":"Namespaced","verbs":["get"],"singularResource":""#,
    );
    let filler = Bytes::from(vec![b'x'; PART]);
    let parts = (0..bytes.div_ceil(PART as u64)).map(move |_| filler.clone());
    let tail = Bytes::from_static(br#""}]}]}]}"#);
    std::iter::once(Bytes::from_static(head.as_bytes())).chain(parts).chain([tail])
}
