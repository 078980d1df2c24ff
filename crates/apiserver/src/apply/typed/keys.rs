//! What tells the elements of a list apart.

use serde_json::Value;

use super::super::fields::PathElement;
use crate::{
    patch::quoted,
    schema::types::{ListRelationship, ListType, Types},
};

/// The path element of an element of a list.
pub(super) fn element(types: &Types, list: &ListType, item: &Value) -> Result<PathElement, String> {
    match &list.relationship {
        ListRelationship::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        ListRelationship::Set => match item {
            Value::Object(_) => {
                Err("associative list without keys has an element that's a map type".to_owned())
            }
            Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
            Value::Null => {
                Err("associative list without keys has an element that's an explicit null".to_owned())
            }
            scalar => Ok(PathElement::Value(scalar.clone())),
        },
        ListRelationship::Keys(keys) => keyed(types, list, keys, item),
    }
}

fn keyed(types: &Types, list: &ListType, keys: &[String], item: &Value) -> Result<PathElement, String> {
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let mut found = Vec::with_capacity(keys.len());
    for key in keys {
        if let Some(value) = fields.get(key) {
            found.push((key.clone(), value.clone()));
            continue;
        }
        let Some(map) = &types.atom(list.element).map else {
            let why = "associative list may not have non-map types";
            return Err(format!("couldn't find default value for {key}: {why}"));
        };
        // A key without a value is none: the element is another one then.
        if let Some(default) = map.fields.get(key).and_then(|field| field.default.as_ref()) {
            found.push((key.clone(), default.clone()));
        }
    }
    if found.is_empty() {
        let keys: Vec<_> = keys.iter().map(|key| quoted(key)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
            keys.join(" ")
        ));
    }
    found.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(PathElement::Key(found))
}
