//! Server-side apply: a manager says what it wants, and owns it from then on.

use std::collections::{BTreeMap, BTreeSet};

use kube_wire::{
    Reason, Status,
    status::{StatusCause, StatusDetails},
};
use serde_json::{Value, json};

use super::managed::{Manager, Operation, Path, at, fields, managers, own, set_managers};
use crate::object::Resource;

/// The object that follows when `manager` applies `wanted`.
pub(super) fn apply(
    current: Option<&Value>,
    wanted: &Value,
    manager: &str,
    force: bool,
    resource: Resource,
) -> Result<Value, Status> {
    if wanted.pointer("/metadata/managedFields").is_some_and(|fields| !fields.is_null()) {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    let applied = fields(wanted);
    let Some(current) = current else {
        let mut new = wanted.clone();
        let mut first = Vec::new();
        own(&mut first, manager, Operation::Apply, applied, true);
        set_managers(&mut new, &first, resource);
        return Ok(new);
    };
    let mut all = managers(current);
    let mine = |other: &Manager| other.name == manager && other.operation == Operation::Apply;
    let changes = |path: &&Path| at(current, path) != at(wanted, path);
    let contested: Vec<(usize, Path)> = applied
        .iter()
        .filter(changes)
        .flat_map(|path| {
            let owners = all.iter().enumerate().filter(|(_, other)| !mine(other));
            owners
                .filter(|(_, other)| touches(other, path))
                .map(|(index, _)| (index, path.clone()))
                .collect::<Vec<_>>()
        })
        .collect();
    if !contested.is_empty() && !force {
        return Err(conflict(&all, &contested, resource));
    }
    for (index, path) in &contested {
        all[*index].fields.retain(|own| !overlap(own, path));
    }
    let before = all.iter().find(|other| mine(other)).map(|m| m.fields.clone()).unwrap_or_default();
    let mut next = current.clone();
    for path in before.difference(&applied) {
        let shared = all.iter().any(|other| !mine(other) && touches(other, path));
        if !shared && !applied.iter().any(|kept| overlap(kept, path)) {
            remove(&mut next, path);
        }
    }
    for path in &applied {
        if let Some(value) = at(wanted, path) {
            set(&mut next, path, value.clone());
        }
    }
    if let Some(version) = wanted.pointer("/metadata/resourceVersion") {
        next["metadata"]["resourceVersion"] = version.clone();
    }
    own(&mut all, manager, Operation::Apply, applied, true);
    set_managers(&mut next, &all, resource);
    Ok(next)
}

/// 422: an apply without a name for its manager.
pub(super) fn manager_required() -> Status {
    let cause = StatusCause {
        reason: "FieldValueRequired".to_owned(),
        message: "Required value: is required for apply patch".to_owned(),
        field: "fieldManager".to_owned(),
    };
    Status::invalid("PatchOptions", "meta.k8s.io", "", vec![cause])
}

fn touches(manager: &Manager, path: &Path) -> bool {
    manager.fields.iter().any(|own| overlap(own, path))
}

/// Whether one path is the other, or leads to it.
fn overlap(a: &Path, b: &Path) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

fn remove(object: &mut Value, path: &[String]) {
    let (Some((name, rest)), Some(map)) = (path.split_first(), object.as_object_mut()) else { return };
    if rest.is_empty() {
        map.remove(name);
        return;
    }
    if let Some(inner) = map.get_mut(name) {
        remove(inner, rest);
        if inner.as_object().is_some_and(serde_json::Map::is_empty) {
            map.remove(name);
        }
    }
}

fn set(object: &mut Value, path: &[String], value: Value) {
    let Some((name, rest)) = path.split_first() else {
        *object = value;
        return;
    };
    if !object.is_object() {
        *object = json!({});
    }
    if let Some(map) = object.as_object_mut() {
        set(map.entry(name.clone()).or_insert_with(|| json!({})), rest, value);
    }
}

/// 409, in upstream's words.
fn conflict(all: &[Manager], contested: &[(usize, Path)], resource: Resource) -> Status {
    let version = resource.api_version();
    let mut by_manager: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut causes = Vec::new();
    for (index, path) in contested {
        let (name, field) = (all[*index].name.as_str(), format!(".{}", path.join(".")));
        causes.push(StatusCause {
            reason: "FieldManagerConflict".to_owned(),
            message: format!("conflict with {name:?} using {version}"),
            field: field.clone(),
        });
        by_manager.entry(name).or_default().insert(field);
    }
    let sentences: Vec<String> = by_manager
        .iter()
        .map(|(name, fields)| match fields.iter().collect::<Vec<_>>().as_slice() {
            [only] => format!("conflict with {name:?} using {version}: {only}"),
            several => {
                let lines: String = several.iter().map(|field| format!("\n- {field}")).collect();
                format!("conflicts with {name:?} using {version}:{lines}")
            }
        })
        .collect();
    let plural = if contested.len() == 1 { "" } else { "s" };
    let message = format!("Apply failed with {} conflict{plural}: {}", contested.len(), sentences.join("\n"));
    Status::failure(409, Reason::Conflict, message)
        .with_details(StatusDetails { causes, ..StatusDetails::default() })
}
