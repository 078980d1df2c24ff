//! From the JSON schema of a Rust type to what OpenAPI knows.

use serde_json::{Map, Value, json};

/// Schemas nested deeper than this are taken for anything.
const MAX_DEPTH: usize = 64;
/// What OpenAPI 3.0 does not have, or says in another way.
const DROPPED: [&str; 5] = ["$schema", "$defs", "title", "examples", "$id"];

/// A schema of version 3.0. Definitions inside it are put into `schemas`, with names below `name`.
pub(super) fn converted(schema: &Value, name: &str, schemas: &mut Map<String, Value>) -> Value {
    let folder = name.rsplit_once('.').map_or(name, |(folder, _)| folder);
    for (key, inner) in schema.get("$defs").and_then(Value::as_object).into_iter().flatten() {
        schemas.insert(format!("{folder}.{key}"), convert(inner, folder, 0));
    }
    let mut own = convert(schema, folder, 0);
    if !own.is_object() || own.get("type").is_none() {
        own["type"] = "object".into();
    }
    if !own["properties"].is_object() {
        own["properties"] = json!({});
    }
    own
}

fn convert(schema: &Value, folder: &str, depth: usize) -> Value {
    let Value::Object(schema) = schema else { return json!({}) };
    if depth > MAX_DEPTH {
        return json!({});
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return with_description(&format!("{folder}.{name}"), schema);
    }
    if let Some(value) = alternatives(schema, folder, depth) {
        return value;
    }
    let mut out = Map::new();
    for (key, value) in schema.iter().filter(|(key, _)| !DROPPED.contains(&key.as_str())) {
        match (key.as_str(), value) {
            ("type", Value::Array(types)) => {
                let real: Vec<_> = types.iter().filter(|kind| *kind != "null").collect();
                if let [kind] = *real {
                    out.insert("type".to_owned(), kind.clone());
                }
                if real.len() < types.len() {
                    out.insert("nullable".to_owned(), true.into());
                }
            }
            ("properties", Value::Object(fields)) => {
                let fields =
                    fields.iter().map(|(key, value)| (key.clone(), convert(value, folder, depth + 1)));
                out.insert(key.clone(), Value::Object(fields.collect()));
            }
            // All properties, or none, are the default and its opposite.
            ("additionalProperties" | "items", Value::Object(_)) => {
                out.insert(key.clone(), convert(value, folder, depth + 1));
            }
            ("additionalProperties", _) | ("default", Value::Null) => {}
            ("const", value) => {
                out.insert("enum".to_owned(), json!([value]));
            }
            ("enum", Value::Array(words)) => {
                let words: Vec<_> = words.iter().filter(|word| !word.is_null()).cloned().collect();
                out.insert(key.clone(), words.into());
            }
            // Formats of Rust's other integers are nobody else's.
            ("format", Value::String(format)) if format.starts_with("uint") => {
                out.insert(key.clone(), if format == "uint16" { "int32" } else { "int64" }.into());
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => {
                let all = all.iter().map(|one| convert(one, folder, depth + 1)).collect();
                out.insert(key.clone(), Value::Array(all));
            }
            _ => {
                out.insert(key.clone(), value.clone());
            }
        }
    }
    Value::Object(out)
}

/// `anyOf` with null is the other one; `oneOf` of words is an enumeration.
fn alternatives(schema: &Map<String, Value>, folder: &str, depth: usize) -> Option<Value> {
    let all = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array())?;
    let real: Vec<_> = all.iter().filter(|one| one.get("type") != Some(&json!("null"))).collect();
    if let [one] = *real {
        let mut value = convert(one, folder, depth + 1);
        if let (Some(text), None) = (schema.get("description"), value.get("$ref")) {
            value["description"] = text.clone();
        }
        return Some(value);
    }
    let words: Option<Vec<Value>> = real.iter().map(|one| one.get("const").cloned()).collect();
    let mut value = json!({ "type": "string", "enum": words? });
    if let Some(text) = schema.get("description") {
        value["description"] = text.clone();
    }
    Some(value)
}

/// A reference may stand beside nothing, so that what is said of it goes round it.
fn with_description(name: &str, schema: &Map<String, Value>) -> Value {
    let reference = json!({ "$ref": format!("#/components/schemas/{name}") });
    match schema.get("description") {
        Some(text) => json!({ "allOf": [reference], "description": text, "default": {} }),
        None => reference,
    }
}

/// Definitions of version 3 as those of version 2.
pub(super) fn to_v2(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("nullable");
            if let Some(Value::String(reference)) = fields.get_mut("$ref") {
                *reference = reference.replace("#/components/schemas/", "#/definitions/");
            }
            // In version 2 a reference with a description is written beside it.
            let inner = fields.get("allOf").and_then(Value::as_array).and_then(|all| match &all[..] {
                [one] => one.get("$ref").cloned(),
                _ => None,
            });
            if let Some(reference) = inner {
                fields.remove("allOf");
                fields.remove("default");
                fields.insert("$ref".to_owned(), reference);
                return to_v2(value);
            }
            for key in ["anyOf", "oneOf"] {
                fields.remove(key);
            }
            fields.values_mut().for_each(to_v2);
        }
        Value::Array(items) => items.iter_mut().for_each(to_v2),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_what_openapi_knows() {
        let schema = json!({
            "$schema": "x", "title": "Note", "type": "object",
            "properties": {
                "text": { "type": ["string", "null"], "default": null },
                "spec": { "anyOf": [{ "$ref": "#/$defs/Spec" }, { "type": "null" }] },
                "colour": { "oneOf": [{ "const": "red", "type": "string" }, { "const": "blue", "type": "string" }] },
                "many": { "type": "object", "additionalProperties": { "type": "integer", "format": "uint32" } },
            },
            "$defs": { "Spec": { "type": "object", "description": "What is wanted." } },
        });
        let mut schemas = Map::new();
        let own = converted(&schema, "com.example.v1.Note", &mut schemas);
        let expected = json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "nullable": true },
                "spec": { "$ref": "#/components/schemas/com.example.v1.Spec" },
                "colour": { "type": "string", "enum": ["red", "blue"] },
                "many": { "type": "object", "additionalProperties": { "type": "integer", "format": "int64" } },
            },
        });
        assert_eq!(own, expected);
        assert_eq!(schemas["com.example.v1.Spec"]["description"], "What is wanted.");
    }
}
