//! Members of a patch that are no fields.

use serde_json::{Map, Value};

use super::PatchError;
use crate::patch::go_value;

/// What to do with the object that it stands in.
pub(super) const PATCH: &str = "$patch";
/// All fields that may stay.
pub(super) const RETAIN_KEYS: &str = "$retainKeys";
/// Single values to take out of a list.
pub(super) const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
/// The order of a list.
pub(super) const SET_ORDER: &str = "$setElementOrder";

/// The field that a parallel list is about.
pub(super) fn subject<'a>(name: &'a str, directive: &str) -> Result<&'a str, PatchError> {
    let subject = name.split_once('/').filter(|(prefix, _)| *prefix == directive).map(|(_, subject)| subject);
    subject.ok_or_else(|| match directive {
        DELETE_FROM_LIST => PatchError::malformed("invalid patch format of primitive list"),
        _ => bad_order(),
    })
}

pub(super) fn bad_order() -> PatchError {
    PatchError::malformed("invalid patch format of setElementOrder list")
}

/// A value of `$patch` that does not exist.
pub(super) fn unknown(directive: Value, mut patch: Map<String, Value>) -> PatchError {
    let word = match &directive {
        Value::String(word) => word.clone(),
        other => format!("%!s({}={})", crate::patch::go_type(other), go_value(other)),
    };
    patch.insert(PATCH.to_owned(), directive);
    let shown = go_value(&Value::Object(patch));
    PatchError::Unmergeable(format!("unknown patch type: {word} in map: {shown}"))
}

/// Drops what `$retainKeys` does not name. Whatever the patch sets must be named.
pub(super) fn retain_keys(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<(), PatchError> {
    let bad = || PatchError::malformed("invalid patch format of retainKeys");
    let kept = match patch.remove(RETAIN_KEYS) {
        None => return Ok(()),
        Some(Value::Array(kept)) => kept,
        Some(_) => return Err(bad()),
    };
    let named = |name: &str| kept.iter().any(|kept| kept.as_str() == Some(name));
    let parallel = |name: &str| name.starts_with(DELETE_FROM_LIST) || name.starts_with(SET_ORDER);
    if patch.iter().any(|(name, value)| !value.is_null() && !parallel(name) && !named(name)) {
        return Err(bad());
    }
    original.retain(|name, _| named(name));
    Ok(())
}

/// Makes a value of a patch fit for an object: without nulls and without directives. False when it is
/// itself one.
pub(super) fn clean(value: &mut Value) -> bool {
    drop_nulls(value);
    drop_directives(value)
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Drops the objects that have a `$patch`; false when this is one.
pub(super) fn drop_directives(value: &mut Value) -> bool {
    match value {
        Value::Object(map) if map.contains_key(PATCH) => return false,
        Value::Object(map) => map.retain(|_, value| drop_directives(value)),
        Value::Array(items) => items.retain_mut(drop_directives),
        _ => {}
    }
    true
}
