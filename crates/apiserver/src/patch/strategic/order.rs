//! The order of merged lists: first that of `$setElementOrder`, then that of the patch, then that of the
//! object.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Merge, PATCH, PatchError, SET_ORDER, directives, lists, no_merge_key, wrong_type};
use crate::{patch::go_value, schema::types::TypeId};

/// Merges the lists whose order the patch gives, and takes them out of the patch.
pub(super) fn merge_ordered_lists(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    merge: &Merge<'_>,
    owner: TypeId,
) -> Result<(), PatchError> {
    let names: Vec<String> = patch.keys().filter(|name| name.starts_with(SET_ORDER)).cloned().collect();
    for name in names {
        let Some(order) = patch.remove(&name) else { continue };
        let Value::Array(order) = order else { return Err(wrong_type("[]interface {}", &order)) };
        let field = directives::subject(&name, SET_ORDER)?;
        merge_ordered(original, patch, field, &order, merge, owner)?;
    }
    Ok(())
}

fn merge_ordered(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    field: &str,
    order: &[Value],
    merge: &Merge<'_>,
    owner: TypeId,
) -> Result<(), PatchError> {
    let list = |value: Option<&Value>| match value {
        None => Ok(None),
        Some(Value::Array(list)) => Ok(Some(list.clone())),
        Some(other) => Err(wrong_type("[]interface {}", other)),
    };
    let (old, new) = (list(original.get(field))?, list(patch.get(field))?);
    let (element, meta) = merge.list(owner, field)?;
    validate(new.as_deref().unwrap_or_default(), order, &meta.merge_key)?;
    let merged = match (&old, &new) {
        (None, None) => return Ok(()),
        (Some(old), None) => old.clone(),
        (None, Some(new)) => {
            let mut new = Value::Array(new.clone());
            directives::drop_directives(&mut new);
            match new {
                Value::Array(new) => new,
                _ => Vec::new(),
            }
        }
        (Some(old), Some(new)) if meta.strategy == "merge" => {
            lists::merge_list(old.clone(), new.clone(), merge, element, &meta.merge_key, false)?
        }
        (Some(_), Some(new)) => new.clone(),
    };
    let (patched, rest) = partition(merged, order, &meta.merge_key)?;
    let old = old.unwrap_or_default();
    lists::are_objects(&[&old, &new.unwrap_or_default()])?;
    let ordered = normalize(patched, rest, order, &old, &meta.merge_key)?;
    original.insert(field.to_owned(), Value::Array(ordered));
    patch.remove(field);
    Ok(())
}

/// The elements of the patch must stand in the order in the same sequence.
fn validate(patch: &[Value], order: &[Value], merge_key: &str) -> Result<(), PatchError> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    if !merge_key.is_empty()
        && let Some(other) = patch.iter().find(|value| !value.is_object())
    {
        return Err(wrong_type("map[string]interface {}", other));
    }
    let mut order_left = order.iter();
    for value in patch.iter().filter(|value| value.get(PATCH).is_none()) {
        let key = key(value, merge_key)?;
        loop {
            let Some(next) = order_left.next() else {
                let (patch, order) = (Value::Array(patch.to_vec()), Value::Array(order.to_vec()));
                let why = format!(
                    "The order in patch list:\n{}\n doesn't match {SET_ORDER} list:\n{}\n",
                    go_value(&patch),
                    go_value(&order)
                );
                return Err(PatchError::Unmergeable(why));
            };
            if self::key(next, merge_key)? == key {
                break;
            }
        }
    }
    Ok(())
}

/// What tells an element from others: itself, or the value of its merge key.
fn key<'a>(value: &'a Value, merge_key: &str) -> Result<&'a Value, PatchError> {
    match (value, merge_key) {
        (value, "") => Ok(value),
        (Value::Object(map), merge_key) => map.get(merge_key).ok_or_else(|| no_merge_key(map, merge_key)),
        (other, _) => Err(wrong_type("map[string]interface {}", other)),
    }
}

/// The elements that are also in `named`, and the others.
pub(super) fn partition(
    merged: Vec<Value>,
    named: &[Value],
    merge_key: &str,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let positions = positions(named, merge_key);
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for value in merged {
        let found = positions.contains_key(&key(&value, merge_key)?.to_string());
        if found { with.push(value) } else { without.push(value) }
    }
    Ok((with, without))
}

/// Sorts both lists by their order, and puts them together.
pub(super) fn normalize(
    patched: Vec<Value>,
    rest: Vec<Value>,
    patch_order: &[Value],
    server_order: &[Value],
    merge_key: &str,
) -> Result<Vec<Value>, PatchError> {
    let patched = sorted(patched, &positions(patch_order, merge_key), merge_key)?;
    let server = positions(server_order, merge_key);
    let rest = sorted(rest, &server, merge_key)?;
    let mut merged = Vec::with_capacity(patched.len() + rest.len());
    let (mut rest, mut patched) = (rest.into_iter().peekable(), patched.into_iter().peekable());
    while let (Some(left), Some(right)) = (rest.peek(), patched.peek()) {
        let left = server.get(&key(left, merge_key)?.to_string());
        let right = server.get(&key(right, merge_key)?.to_string());
        // What the object has stays before what came after it there.
        let first = matches!((left, right), (Some(left), Some(right)) if left < right);
        merged.extend(if first { rest.next() } else { patched.next() });
    }
    merged.extend(rest);
    merged.extend(patched);
    Ok(merged)
}

fn sorted(
    mut list: Vec<Value>,
    order: &HashMap<String, usize>,
    merge_key: &str,
) -> Result<Vec<Value>, PatchError> {
    for value in &list {
        key(value, merge_key)?;
    }
    let position =
        |value: &Value| key(value, merge_key).ok().and_then(|key| order.get(&key.to_string()).copied());
    list.sort_by_key(position);
    Ok(list)
}

fn positions(list: &[Value], merge_key: &str) -> HashMap<String, usize> {
    let mut positions = HashMap::new();
    for (number, value) in list.iter().enumerate() {
        if let Ok(key) = key(value, merge_key) {
            positions.entry(key.to_string()).or_insert(number);
        }
    }
    positions
}
