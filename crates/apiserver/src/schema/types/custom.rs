//! The OpenAPI definition of a custom resource: its schema and what every object has.

use serde_json::{Map, Value, json};

/// Name of the definition of the metadata.
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Adds the definition of one version of a custom resource, and that of the metadata if it is missing.
/// `schema` is its `openAPIV3Schema`.
pub fn add_custom_resource(
    definitions: &mut Map<String, Value>,
    (group, version, kind): (&str, &str, &str),
    schema: &Value,
) {
    for (name, definition) in metadata_definitions() {
        definitions.entry(name).or_insert(definition);
    }
    let mut schema = with_embedded(schema);
    add_object_fields(&mut schema);
    if let Some(schema) = schema.as_object_mut() {
        let kinds = json!([{"group": group, "version": version, "kind": kind}]);
        schema.insert("x-kubernetes-group-version-kind".to_owned(), kinds);
    }
    definitions.insert(format!("{group}.{version}.{kind}"), schema);
}

/// The schema, in which embedded objects have metadata.
fn with_embedded(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let mut map: Map<_, _> =
                map.iter().map(|(name, value)| (name.clone(), with_embedded(value))).collect();
            let embedded = map.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true));
            let mut schema = Value::Object(std::mem::take(&mut map));
            if embedded {
                add_object_fields(&mut schema);
            }
            schema
        }
        Value::Array(items) => items.iter().map(with_embedded).collect(),
        other => other.clone(),
    }
}

fn add_object_fields(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        for name in ["apiVersion", "kind"] {
            properties.insert(name.to_owned(), json!({"type": "string"}));
        }
        let reference = format!("#/components/schemas/{OBJECT_META}");
        properties.insert("metadata".to_owned(), json!({"allOf": [{"$ref": reference}], "default": {}}));
    }
}

fn metadata_definitions() -> Map<String, Value> {
    let text = json!({"type": "string"});
    let texts = json!({"type": "object", "additionalProperties": text});
    let time = json!({"type": "string", "format": "date-time"});
    let owner = json!({
        "type": "object", "x-kubernetes-map-type": "atomic",
        "properties": {
            "apiVersion": text, "kind": text, "name": text, "uid": text,
            "controller": {"type": "boolean"}, "blockOwnerDeletion": {"type": "boolean"},
        },
    });
    let entry = json!({
        "type": "object",
        "properties": {
            "manager": text, "operation": text, "apiVersion": text, "time": time, "fieldsType": text,
            "fieldsV1": {"type": "object"}, "subresource": text,
        },
    });
    let metadata = json!({
        "type": "object",
        "properties": {
            "name": text, "generateName": text, "namespace": text, "selfLink": text, "uid": text,
            "resourceVersion": text, "generation": {"type": "integer"},
            "creationTimestamp": time, "deletionTimestamp": time,
            "deletionGracePeriodSeconds": {"type": "integer"},
            "labels": texts, "annotations": texts,
            "ownerReferences": {
                "type": "array", "items": owner, "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["uid"],
            },
            "finalizers": {"type": "array", "items": text, "x-kubernetes-list-type": "set"},
            "managedFields": {"type": "array", "items": entry, "x-kubernetes-list-type": "atomic"},
        },
    });
    Map::from_iter([(OBJECT_META.to_owned(), metadata)])
}
