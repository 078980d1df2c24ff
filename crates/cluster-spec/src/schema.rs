//! The published JSON schemas. They are made from the types, so that there is one description of the object.

use std::sync::LazyLock;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::object::{Inventory, Object};

/// Keys that must be there, by the type that has them. Everything else has a default.
const REQUIRED: [(&str, &[&str]); 5] = [
    ("Object", &["name"]),
    ("Inventory", &["hosts"]),
    ("Host", &["name", "address"]),
    ("Taint", &["key", "effect"]),
    ("Mirror", &["images", "binaries"]),
];

/// The schema of the cluster object (draft 2020-12).
pub fn object_schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> =
        LazyLock::new(|| schema_of::<Object>("Object", "A cluster of Kubernetes"));
    &SCHEMA
}

/// The schema of an inventory (draft 2020-12).
pub fn inventory_schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> =
        LazyLock::new(|| schema_of::<Inventory>("Inventory", "The hosts of a cluster"));
    &SCHEMA
}

fn schema_of<T: JsonSchema>(name: &str, title: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    without_null(&mut schema);
    if let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        for (name, definition) in definitions {
            finish(name, definition);
        }
    }
    finish(name, &mut schema);
    schema["title"] = json!(title);
    schema
}

/// What the types cannot say: which keys must be there, and what may not stand together.
fn finish(name: &str, definition: &mut Value) {
    if let Some((_, keys)) = REQUIRED.iter().find(|(required, _)| *required == name) {
        definition["required"] = json!(keys);
        for key in *keys {
            remove(&mut definition["properties"][*key], "default");
        }
    }
    if name == "Object" || name == "Inventory" {
        definition["properties"]["hosts"]["minItems"] = json!(1);
    }
    if name == "Sources" {
        // Sources are one place, not a list of places to try.
        definition["not"] = json!({"required": ["mirror", "bundle"]});
    }
}

/// An optional key is left out, never null.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("default").is_some_and(Value::is_null) {
                map.remove("default");
            }
            if let Some(types) = map.get("type").and_then(Value::as_array)
                && let [only, Value::String(null)] = types.as_slice()
                && null == "null"
            {
                let only = only.clone();
                map.insert("type".to_owned(), only);
            }
            unwrap_any_of(map);
            map.values_mut().for_each(without_null);
        }
        Value::Array(entries) => entries.iter_mut().for_each(without_null),
        _ => {}
    }
}

fn unwrap_any_of(map: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = map.get("anyOf") else { return };
    let [Value::Object(only), null] = branches.as_slice() else { return };
    if null.get("type").and_then(Value::as_str) == Some("null") {
        let only = only.clone();
        map.remove("anyOf");
        map.extend(only);
    }
}

fn remove(value: &mut Value, key: &str) {
    if let Some(map) = value.as_object_mut() {
        map.remove(key);
    }
}
