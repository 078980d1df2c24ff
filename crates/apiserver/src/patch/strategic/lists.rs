//! Lists that are merged element by element.

use serde_json::{Map, Value};

use super::{Merge, PATCH, PatchError, directives, merge_map, no_merge_key, order};
use crate::{
    patch::{go_type, go_value},
    schema::types::TypeId,
};

/// Merges a list of objects by their merge key, or one of single values; `deletes` takes values out.
pub(super) fn merge_list(
    original: Vec<Value>,
    patch: Vec<Value>,
    merge: &Merge<'_>,
    element: TypeId,
    merge_key: &str,
    deletes: bool,
) -> Result<Vec<Value>, PatchError> {
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    if !are_objects(&[&original, &patch])? {
        return Ok(if deletes {
            without(original, &patch)
        } else {
            merge_values(original, patch, merge_key)?
        });
    }
    if merge_key.is_empty() {
        let kind = merge.kind(element);
        return Err(PatchError::Unmergeable(format!("cannot merge lists without merge key for {kind}")));
    }
    let (original, patch) = carry_out_directives(original, patch, merge_key)?;
    let merged = merge_objects(original.clone(), &patch, merge, element, merge_key)?;
    let (patched, rest) = order::partition(merged, &patch, merge_key)?;
    order::normalize(patched, rest, &patch, &original, merge_key)
}

/// Whether the elements are objects. They must all have one type.
pub(super) fn are_objects(lists: &[&Vec<Value>]) -> Result<bool, PatchError> {
    let mut types = lists.iter().flat_map(|list| list.iter()).map(go_type);
    let Some(first) = types.next() else {
        return Err(PatchError::Unmergeable("no elements in any of the given slices".to_owned()));
    };
    if first == "[]interface {}" {
        return Err(PatchError::ListOfLists);
    }
    if types.any(|other| other != first) {
        let shown: Vec<_> = lists.iter().map(|list| go_value(&Value::Array((*list).clone()))).collect();
        return Err(PatchError::Unmergeable(format!(
            "list element types are not identical: [{}]",
            shown.join(" ")
        )));
    }
    Ok(first == "map[string]interface {}")
}

fn without(original: Vec<Value>, deleted: &[Value]) -> Vec<Value> {
    original.into_iter().filter(|value| !deleted.contains(value)).collect()
}

fn merge_values(original: Vec<Value>, patch: Vec<Value>, merge_key: &str) -> Result<Vec<Value>, PatchError> {
    let mut merged: Vec<Value> = Vec::with_capacity(original.len() + patch.len());
    let mut seen = std::collections::HashSet::new();
    for value in original.iter().chain(&patch) {
        if seen.insert(value.to_string()) {
            merged.push(value.clone());
        }
    }
    let (patched, rest) = order::partition(merged, &patch, merge_key)?;
    order::normalize(patched, rest, &patch, &original, merge_key)
}

/// Carries out the `$patch` of elements; what is left of both lists.
fn carry_out_directives(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    merge_key: &str,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut replaces = false;
    for value in patch {
        let Value::Object(map) = value else { continue };
        let Some(directive) = map.get(PATCH) else {
            plain.push(Value::Object(map));
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let key = map.get(merge_key).ok_or_else(|| no_merge_key(&map, merge_key))?;
                original.retain(|other| other.get(merge_key) != Some(key));
            }
            Some("replace") => replaces = true,
            Some("merge") => {
                let why = "merging lists cannot yet be specified in the patch";
                return Err(PatchError::Unmergeable(why.to_owned()));
            }
            _ => {
                let directive = directive.clone();
                return Err(directives::unknown(directive, map));
            }
        }
    }
    Ok(if replaces { (plain, Vec::new()) } else { (original, plain) })
}

fn merge_objects(
    mut original: Vec<Value>,
    patch: &[Value],
    merge: &Merge<'_>,
    element: TypeId,
    merge_key: &str,
) -> Result<Vec<Value>, PatchError> {
    let mut places = std::collections::HashMap::new();
    for (number, value) in original.iter().enumerate() {
        if let Some(key) = value.get(merge_key) {
            places.entry(key.to_string()).or_insert(number);
        }
    }
    for value in patch {
        let Value::Object(map) = value else { continue };
        let key = map.get(merge_key).ok_or_else(|| no_merge_key(map, merge_key))?;
        match places.get(&key.to_string()) {
            Some(place) => {
                let place = &mut original[*place];
                let old: Map<String, Value> = match place.take() {
                    Value::Object(old) => old,
                    _ => Map::new(),
                };
                *place = Value::Object(merge_map(old, map.clone(), merge, element)?);
            }
            None => {
                places.insert(key.to_string(), original.len());
                original.push(value.clone());
            }
        }
    }
    Ok(original)
}
