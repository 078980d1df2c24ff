//! Merge patch, RFC 7386.

use serde_json::{Map, Value};

use super::{PatchError, words::json_type};

/// Carries out a merge patch. With `strictly`, the patch must be an object; without, a list takes the place
/// of the document.
///
/// # Errors
/// When it is no merge patch.
pub fn merge_patch(document: Value, patch: Value, strictly: bool) -> Result<Value, PatchError> {
    let bad = || PatchError::malformed("Invalid JSON Patch");
    match (document, patch) {
        (_, Value::Null) => Err(bad()),
        (Value::Object(mut document), Value::Object(patch)) => {
            merge(&mut document, patch);
            Ok(Value::Object(document))
        }
        (_, mut patch @ Value::Object(_)) => {
            prune(&mut patch);
            Ok(patch)
        }
        (_, patch) if strictly => {
            let found = json_type(&patch);
            let wanted = "Go value of type map[string]interface {}";
            Err(PatchError::malformed(format!(
                "error decoding patch: json: cannot unmarshal {found} into {wanted}"
            )))
        }
        (_, mut patch @ Value::Array(_)) => {
            prune(&mut patch);
            Ok(patch)
        }
        _ => Err(bad()),
    }
}

fn merge(document: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (name, mut value) in patch {
        match (document.get_mut(&name), &mut value) {
            (_, Value::Null) => drop(document.remove(&name)),
            (Some(Value::Object(inner)), Value::Object(patch)) => merge(inner, std::mem::take(patch)),
            (Some(place @ Value::Object(_)), _) => *place = value,
            _ => {
                prune(&mut value);
                document.insert(name, value);
            }
        }
    }
}

/// Takes out the nulls of objects; those of lists are values.
fn prune(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(prune);
        }
        Value::Array(items) => items.iter_mut().for_each(prune),
        _ => {}
    }
}
