//! The annotation of client-side apply: objects pass from there to server-side apply without conflicts.

use serde_json::Value;

use super::{Conflicts, typed::Typed};
use crate::{
    patch::MAX_DEPTH,
    schema::types::{TypeId, Types},
};

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Bytes of all annotations of an object.
const MAX_ANNOTATIONS: usize = 256 << 10;

/// The conflicts over fields that are not as client-side apply left them; none when there are none.
pub(super) fn without_allowed(
    types: &Types,
    root: Option<TypeId>,
    live: &Value,
    conflicts: &Conflicts,
) -> Option<Conflicts> {
    let allowed = root.and_then(|root| {
        let last = live["metadata"]["annotations"][ANNOTATION].as_str().filter(|last| !last.is_empty())?;
        let last: Value = serde_json::from_str(last).ok()?;
        if last["apiVersion"] != live["apiVersion"] || deeper(&last, MAX_DEPTH) {
            return None;
        }
        let last = Typed::new(last, types, root, false).ok()?;
        let live = Typed::new(live.clone(), types, root, false).ok()?;
        let compared = last.compare(&live).ok()?;
        let fields = last.fields().ok()?;
        Some(fields.difference(&compared.modified).difference(&compared.added).difference(&compared.removed))
    });
    let Some(allowed) = allowed else { return Some(conflicts.clone()) };
    if conflicts.fields().difference(&allowed).is_empty() {
        return None;
    }
    let left = conflicts.iter().filter(|conflict| !allowed.contains(&conflict.path));
    Some(Conflicts(left.cloned().collect()))
}

/// Keeps the annotation true, where there is one.
pub(super) fn renew(object: &mut Value, configuration: &Value) {
    let Some(annotations) = object
        .get_mut("metadata")
        .and_then(|metadata| metadata.get_mut("annotations"))
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    if annotations.get(ANNOTATION).and_then(Value::as_str).is_none_or(str::is_empty) {
        return;
    }
    let mut configuration = configuration.clone();
    if let Some(metadata) = configuration.get_mut("metadata").and_then(Value::as_object_mut) {
        let left = metadata.get_mut("annotations").and_then(Value::as_object_mut).map(|annotations| {
            annotations.remove(ANNOTATION);
            annotations.len()
        });
        if left == Some(0) {
            metadata.remove("annotations");
        }
    }
    annotations
        .insert(ANNOTATION.to_owned(), Value::from(format!("{}\n", super::value::go_json(&configuration))));
    let bytes: usize =
        annotations.iter().map(|(name, value)| name.len() + value.as_str().map_or(0, str::len)).sum();
    if bytes > MAX_ANNOTATIONS {
        annotations.remove(ANNOTATION);
    }
}

fn deeper(value: &Value, limit: usize) -> bool {
    match value {
        Value::Array(items) => limit == 0 || items.iter().any(|item| deeper(item, limit - 1)),
        Value::Object(map) => limit == 0 || map.values().any(|value| deeper(value, limit - 1)),
        _ => false,
    }
}
