//! OpenAPI documents for the groups of a test server.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{Script, api::Group};

pub(crate) fn hash(document: &[u8]) -> String {
    Sha256::digest(document).iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Name of a kind's definition: the group reversed, as upstream's generator does.
fn definition(group: &Group, kind: &str) -> String {
    let reversed: Vec<&str> = group.name.split('.').rev().collect();
    format!("{}.{}.{kind}", reversed.join("."), group.version)
}

fn paths(group: &Group, answer: impl Fn(&str) -> Value) -> Map<String, Value> {
    let mut paths = Map::new();
    for resource in &group.resources {
        let scope = if resource.namespaced { "namespaces/{namespace}/" } else { "" };
        let path = format!("/apis/{}/{scope}{}", group.api_version(), resource.name);
        let reference = definition(group, &resource.kind);
        let operation = json!({
            "operationId": format!("list{}", resource.kind),
            "responses": {"200": answer(&reference)},
            "x-kubernetes-group-version-kind":
                {"group": group.name, "version": group.version, "kind": resource.kind},
        });
        paths.insert(path, json!({"get": operation}));
    }
    paths
}

fn definitions(group: &Group, padding: usize) -> Map<String, Value> {
    let one = |kind: &str| {
        json!({
            "type": "object", "description": format!("{kind} {}", "x".repeat(padding)),
            "properties": {
                "apiVersion": {"type": "string"}, "kind": {"type": "string"},
                "metadata": {"type": "object"}, "spec": {"type": "object"},
            },
            "x-kubernetes-group-version-kind":
                [{"group": group.name, "version": group.version, "kind": kind}],
        })
    };
    group.resources.iter().map(|r| (definition(group, &r.kind), one(&r.kind))).collect()
}

pub(crate) fn v2(script: &Script) -> Value {
    let (mut all_paths, mut all_definitions) = (Map::new(), Map::new());
    for group in &script.groups {
        let answer =
            |name: &str| json!({"description": "OK", "schema": {"$ref": format!("#/definitions/{name}")}});
        all_paths.extend(paths(group, answer));
        all_definitions.extend(definitions(group, script.openapi_padding));
    }
    json!({
        "swagger": "2.0", "info": {"title": "fake", "version": "unversioned"},
        "paths": all_paths, "definitions": all_definitions,
    })
}

pub(crate) fn v3(script: &Script, group: &Group) -> Value {
    let answer = |name: &str| {
        let schema = json!({"$ref": format!("#/components/schemas/{name}")});
        json!({"description": "OK", "content": {"application/json": {"schema": schema}}})
    };
    json!({
        "openapi": "3.0.0", "info": {"title": "fake", "version": "unversioned"},
        "paths": paths(group, answer),
        "components": {"schemas": definitions(group, script.openapi_padding)},
    })
}

pub(crate) fn v3_index(script: &Script) -> Value {
    let paths: Map<String, Value> = script
        .groups
        .iter()
        .map(|group| {
            let path = format!("apis/{}", group.api_version());
            let hash = hash(v3(script, group).to_string().as_bytes());
            let url = format!("/openapi/v3/{path}?hash={hash}");
            (path, json!({"serverRelativeURL": url}))
        })
        .collect();
    json!({"paths": paths})
}
