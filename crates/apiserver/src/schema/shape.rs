//! Objects made to fit a schema: nulls, defaults, unknown fields.

use serde_json::{Map, Value};

use super::{
    embedded,
    structural::{Additional, Structural},
};
use crate::validation::FieldError;

const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// What kube-apiserver does with a custom resource that a client sends, before it looks whether it is valid:
/// nulls go, defaults come, unknown fields go, metadata of embedded objects is brought into form. The paths of
/// unknown fields, as in `spec.list[0].unknown`, sorted.
///
/// # Errors
/// When metadata of an embedded object cannot be read: the request is a bad one.
pub fn shape(object: &mut Value, schema: &Structural) -> Result<Vec<String>, FieldError> {
    drop_nulls(object, Some(schema));
    set_defaults(object, schema);
    let mut unknown = prune(object, schema);
    unknown.extend(embedded::coerce(object, schema, false, "")?);
    unknown.sort();
    whole_numbers(object);
    Ok(unknown)
}

/// Writes whole numbers without a fraction, as Go does.
fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or_default();
            if float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0 {
                #[allow(clippy::cast_possible_truncation, reason = "it is whole and has 53 bits at most")]
                let whole = float as i64;
                *value = Value::from(whole);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(map) => map.values_mut().for_each(whole_numbers),
        _ => {}
    }
}

/// Drops nulls that the schema neither allows nor replaces.
pub fn drop_nulls(value: &mut Value, schema: Option<&Structural>) {
    match value {
        Value::Object(map) => {
            let of = |name: &str| schema.and_then(|schema| schema.entry(name));
            let dropped = |schema: &Structural| !schema.nullable && schema.default.is_none();
            map.retain(|name, value| !value.is_null() || !of(name).is_some_and(dropped));
            map.iter_mut().for_each(|(name, value)| drop_nulls(value, of(name)));
        }
        Value::Array(items) => {
            let schema = schema.and_then(|schema| schema.items.as_deref());
            items.iter_mut().for_each(|item| drop_nulls(item, schema));
        }
        _ => {}
    }
}

/// Sets what is absent, or null without being allowed to, to its default.
pub fn set_defaults(value: &mut Value, schema: &Structural) {
    match value {
        Value::Object(map) => {
            for (name, property) in &schema.properties {
                let Some(default) = &property.default else { continue };
                let missing = map.get(name).is_none_or(|value| value.is_null() && !property.nullable);
                if missing {
                    map.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in map {
                if let Some(entry) = schema.entry(name) {
                    default_place(value, entry);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                items.iter_mut().for_each(|item| default_place(item, schema));
            }
        }
        _ => {}
    }
}

fn default_place(value: &mut Value, schema: &Structural) {
    if value.is_null() && !schema.nullable {
        *value = schema.default.clone().unwrap_or_default();
    }
    set_defaults(value, schema);
}

/// Drops unknown fields; their paths, sorted.
pub fn prune(object: &mut Value, schema: &Structural) -> Vec<String> {
    let mut found = prune_part(object, schema, true);
    found.sort();
    found
}

/// As [`prune`] for a value; `object` is whether it is an object with metadata itself.
pub(super) fn prune_part(value: &mut Value, schema: &Structural, object: bool) -> Vec<String> {
    let mut found = Vec::new();
    prune_object(value, Some(schema), object, "", &mut found);
    found
}

fn prune_object(
    value: &mut Value,
    schema: Option<&Structural>,
    root: bool,
    path: &str,
    found: &mut Vec<String>,
) {
    let embedded = root || schema.is_some_and(|schema| schema.embedded_resource);
    let preserved = schema.is_some_and(|schema| schema.preserve_unknown_fields);
    match value {
        Value::Object(map) => {
            let names: Vec<String> = map.keys().cloned().collect();
            for name in names {
                if embedded && OBJECT_FIELDS.contains(&&*name) {
                    continue;
                }
                let place = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                prune_entry(map, &name, schema, preserved, &place, found);
            }
        }
        Value::Array(items) => {
            let schema = schema.and_then(|schema| schema.items.as_deref());
            // What is preserved is preserved in lists without a schema, too.
            if preserved && schema.is_none() {
                return;
            }
            for (number, item) in items.iter_mut().enumerate() {
                prune_object(item, schema, false, &format!("{path}[{number}]"), found);
            }
        }
        _ => {}
    }
}

fn prune_entry(
    map: &mut Map<String, Value>,
    name: &str,
    schema: Option<&Structural>,
    preserved: bool,
    place: &str,
    found: &mut Vec<String>,
) {
    let known = schema.and_then(|schema| match (schema.properties.get(name), &schema.additional) {
        (Some(property), _) => Some(Some(property)),
        (None, Some(Additional::Schema(additional))) => Some(Some(&**additional)),
        (None, Some(Additional::Allowed(_))) => Some(None),
        (None, None) => None,
    });
    match (known, map.get_mut(name)) {
        (Some(entry), Some(value)) => prune_object(value, entry, false, place, found),
        (None, _) if preserved => {}
        _ => {
            map.remove(name);
            found.push(place.to_owned());
        }
    }
}
