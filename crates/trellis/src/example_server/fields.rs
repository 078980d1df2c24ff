//! Who owns which field: `metadata.managedFields`.
//!
//! A field is a leaf of the object: a scalar, a list, or an empty map. Lists of a note are atomic, so
//! a leaf is named by the keys that lead to it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::note::API_VERSION;

/// A path of keys to a leaf.
pub(super) type Path = Vec<String>;

/// A set of leaves.
pub(super) type FieldSet = BTreeSet<Path>;

/// How a manager came to own its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// By server-side apply.
    Apply,
    /// By create, update or another patch.
    Update,
}

/// One entry of `managedFields`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Manager {
    /// Who.
    pub(super) name: String,
    /// How.
    pub(super) operation: Operation,
    /// RFC 3339 time of its last change.
    pub(super) time: String,
    /// What it owns.
    pub(super) fields: FieldSet,
}

/// Fields of `metadata` that the server sets or that name the object: nobody owns them.
const UNOWNED_METADATA: [&str; 10] = [
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
];

/// The leaves of a note that somebody can own.
pub(super) fn owned_leaves(object: &Value) -> FieldSet {
    let mut leaves = FieldSet::new();
    for part in ["metadata", "spec"] {
        if let Some(value) = object.get(part) {
            collect(value, &mut vec![part.to_owned()], &mut leaves);
        }
    }
    leaves.retain(|path| path[0] != "metadata" || path.len() < 2 || !UNOWNED_METADATA.contains(&&*path[1]));
    leaves.remove(&vec!["metadata".to_owned()]);
    leaves
}

fn collect(value: &Value, path: &mut Path, leaves: &mut FieldSet) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                path.push(key.clone());
                collect(value, path, leaves);
                path.pop();
            }
        }
        _ => {
            leaves.insert(path.clone());
        }
    }
}

/// The value at a path.
pub(super) fn value_at<'a>(object: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, key| value.get(key))
}

/// Puts a value at a path, with the maps that lead to it.
pub(super) fn set(object: &mut Value, path: &[String], new: Value) {
    let mut place = object;
    for key in path {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[key];
    }
    *place = new;
}

/// Takes away what is at a path, and the maps that are empty then.
pub(super) fn remove(object: &mut Value, path: &[String]) {
    let Some((key, rest)) = path.split_first() else { return };
    let Some(fields) = object.as_object_mut() else { return };
    if rest.is_empty() {
        fields.remove(key);
        return;
    }
    if let Some(child) = fields.get_mut(key) {
        remove(child, rest);
        if child.as_object().is_some_and(Map::is_empty) {
            fields.remove(key);
        }
    }
}

/// Reads the managers of an object; entries for other versions or subresources do not exist here.
pub(super) fn managers(object: &Value) -> Vec<Manager> {
    let entries = object["metadata"]["managedFields"].as_array();
    entries.into_iter().flatten().filter_map(read).collect()
}

fn read(entry: &Value) -> Option<Manager> {
    let mut fields = FieldSet::new();
    unfold(entry.get("fieldsV1")?, &mut Vec::new(), &mut fields);
    Some(Manager {
        name: entry.get("manager")?.as_str()?.to_owned(),
        operation: if entry.get("operation")? == "Apply" { Operation::Apply } else { Operation::Update },
        time: entry.get("time").and_then(Value::as_str).unwrap_or_default().to_owned(),
        fields,
    })
}

fn unfold(value: &Value, path: &mut Path, fields: &mut FieldSet) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let Some(name) = key.strip_prefix("f:") else { continue };
        path.push(name.to_owned());
        if value.as_object().is_some_and(|fields| fields.keys().any(|key| key.starts_with("f:"))) {
            unfold(value, path, fields);
        } else {
            fields.insert(path.clone());
        }
        path.pop();
    }
}

/// Writes the managers into an object, those with nothing left out.
pub(super) fn write_managers(object: &mut Value, managers: &[Manager]) {
    let entries: Vec<Value> =
        managers.iter().filter(|manager| !manager.fields.is_empty()).map(entry).collect();
    match entries.is_empty() {
        true => remove(object, &["metadata".to_owned(), "managedFields".to_owned()]),
        false => object["metadata"]["managedFields"] = Value::Array(entries),
    }
}

fn entry(manager: &Manager) -> Value {
    let mut fields = json!({});
    for path in &manager.fields {
        let keys: Path = path.iter().map(|key| format!("f:{key}")).collect();
        set(&mut fields, &keys, json!({}));
    }
    json!({
        "manager": manager.name,
        "operation": match manager.operation { Operation::Apply => "Apply", Operation::Update => "Update" },
        "apiVersion": API_VERSION,
        "time": manager.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    })
}
