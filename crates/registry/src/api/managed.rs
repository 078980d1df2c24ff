//! `metadata.managedFields`: who set which field. Lists are taken as one value, maps by their keys.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{clock, object::Resource, store::set_metadata};

/// How a manager came to its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

impl Operation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// Path of a field, outermost name first.
pub(super) type Path = Vec<String>;

/// One entry of `managedFields`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Manager {
    pub(super) name: String,
    pub(super) operation: Operation,
    pub(super) fields: BTreeSet<Path>,
    time: String,
}

/// The entries of an object.
pub(super) fn managers(object: &Value) -> Vec<Manager> {
    let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    entries.into_iter().flatten().filter_map(Manager::read).collect()
}

/// Writes the entries into an object; those that own nothing are left out.
pub(super) fn set_managers(object: &mut Value, managers: &[Manager], resource: Resource) {
    let entries: Vec<Value> =
        managers.iter().filter(|manager| !manager.fields.is_empty()).map(|m| m.written(resource)).collect();
    set_metadata(object, "managedFields", entries.into());
}

/// Notes that `name` wrote `new` over `old`: what it changed is its own from now on.
pub(super) fn note(
    old: Option<&Value>,
    new: &mut Value,
    name: &str,
    operation: Operation,
    resource: Resource,
) {
    let empty = json!({});
    let old_value = old.unwrap_or(&empty);
    let (before, after) = (fields(old_value), fields(new));
    let differs = |path: &&Path| at(old_value, path) != at(new, path);
    let changed: BTreeSet<Path> = after.iter().filter(differs).cloned().collect();
    let removed: BTreeSet<Path> = before.difference(&after).cloned().collect();
    let mut managers = old.map(managers).unwrap_or_default();
    for manager in &mut managers {
        let own = manager.name == name && manager.operation == operation;
        manager.fields.retain(|path| !removed.contains(path) && (own || !changed.contains(path)));
    }
    own(&mut managers, name, operation, changed, false);
    set_managers(new, &managers, resource);
}

/// Gives fields to a manager, in addition to those it has or instead of them.
pub(super) fn own(
    managers: &mut Vec<Manager>,
    name: &str,
    operation: Operation,
    fields: BTreeSet<Path>,
    instead: bool,
) {
    let time = clock::format(clock::now());
    match managers.iter_mut().find(|manager| manager.name == name && manager.operation == operation) {
        Some(manager) if instead => {
            if manager.fields != fields {
                (manager.fields, manager.time) = (fields, time);
            }
        }
        Some(manager) => {
            if !fields.is_subset(&manager.fields) {
                manager.fields.extend(fields);
                manager.time = time;
            }
        }
        None => managers.push(Manager { name: name.to_owned(), operation, fields, time }),
    }
}

/// The fields of an object that somebody can own.
pub(super) fn fields(object: &Value) -> BTreeSet<Path> {
    let mut found = BTreeSet::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        match name.as_str() {
            "apiVersion" | "kind" | "status" => {}
            "metadata" => {
                for part in ["labels", "annotations", "finalizers", "ownerReferences"] {
                    if let Some(value) = value.get(part) {
                        collect(value, &mut vec!["metadata".to_owned(), part.to_owned()], &mut found);
                    }
                }
            }
            _ => collect(value, &mut vec![name.clone()], &mut found),
        }
    }
    found
}

fn collect(value: &Value, path: &mut Path, found: &mut BTreeSet<Path>) {
    match value.as_object().filter(|object| !object.is_empty()) {
        Some(object) => {
            for (name, value) in object {
                path.push(name.clone());
                collect(value, path, found);
                path.pop();
            }
        }
        None => {
            found.insert(path.clone());
        }
    }
}

/// The value at a path.
pub(super) fn at<'a>(object: &'a Value, path: &Path) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, name| value.get(name))
}

impl Manager {
    fn read(entry: &Value) -> Option<Self> {
        let operation = match entry.get("operation")?.as_str()? {
            "Apply" => Operation::Apply,
            _ => Operation::Update,
        };
        let mut fields = BTreeSet::new();
        unfold(entry.get("fieldsV1")?, &mut Vec::new(), &mut fields);
        let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(Self { name: text("manager"), operation, fields, time: text("time") })
    }

    fn written(&self, resource: Resource) -> Value {
        let mut fields = Value::Object(Map::new());
        for path in &self.fields {
            let mut inner = &mut fields;
            for name in path {
                let Some(object) = inner.as_object_mut() else { break };
                inner = object.entry(format!("f:{name}")).or_insert_with(|| json!({}));
            }
        }
        json!({
            "manager": self.name,
            "operation": self.operation.as_str(),
            "apiVersion": resource.api_version(),
            "time": self.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        })
    }
}

fn unfold(fields: &Value, path: &mut Path, found: &mut BTreeSet<Path>) {
    let named = |(name, inner)| Some((str::strip_prefix(name, "f:")?.to_owned(), inner));
    let inner: Vec<(String, &Value)> = fields
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, inner)| named((name.as_str(), inner)))
        .collect();
    if inner.is_empty() && !path.is_empty() {
        found.insert(path.clone());
    }
    for (name, value) in inner {
        path.push(name);
        unfold(value, path, found);
        path.pop();
    }
}
