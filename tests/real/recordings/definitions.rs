//! The OpenAPI definitions of the kinds that the rows use, without what only people read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::server::{Server, line};

/// Where the kinds are described.
const DOCUMENTS: [&str; 3] = ["api/v1", "apis/apps/v1", "apis/rbac.authorization.k8s.io/v1"];
/// From which definitions everything else is reached.
const ROOTS: [&str; 5] = [
    "io.k8s.api.core.v1.ConfigMap",
    "io.k8s.api.core.v1.Secret",
    "io.k8s.api.core.v1.Service",
    "io.k8s.api.apps.v1.Deployment",
    "io.k8s.api.rbac.v1.Role",
];

pub(super) fn record(server: &Server) -> String {
    let mut all = Map::new();
    for document in DOCUMENTS {
        let answer = server.send("GET", &format!("/openapi/v3/{document}"), "", &Value::Null);
        let schemas = answer.body["components"]["schemas"].as_object().unwrap();
        all.extend(schemas.iter().map(|(name, schema)| (name.clone(), schema.clone())));
    }
    let mut reached = BTreeMap::new();
    let mut open: BTreeSet<String> = ROOTS.map(str::to_owned).into();
    while let Some(name) = open.pop_first() {
        let schema = plain(&all[&name]);
        references(&schema, &mut open);
        reached.insert(name, schema);
        open.retain(|name| !reached.contains_key(name));
    }
    reached.iter().map(|(name, schema)| line(&json!([name, schema]))).collect()
}

/// Without descriptions; a property may have that name.
fn plain(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let kept = map.iter().filter(|(name, value)| *name != "description" || !value.is_string());
            Value::Object(kept.map(|(name, value)| (name.clone(), plain(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        other => other.clone(),
    }
}

fn references(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                found.insert(reference.rsplit('/').next().unwrap().to_owned());
            }
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}
