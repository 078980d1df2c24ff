//! A value without some of its fields.

use serde_json::{Map, Value};

use super::{
    super::fields::{FieldSet, PathElement},
    atom::Shape,
    keys,
};
use crate::schema::types::{ListRelationship, TypeId, Types};

/// What is left; null when nothing is.
pub(super) fn remove(types: &Types, id: Option<TypeId>, value: &Value, fields: &FieldSet) -> Value {
    let shape = id.map_or(Shape::Nothing, |id| Shape::of(types.atom(id), Some(value)));
    match (shape, value) {
        (Shape::Scalar(_), value) => value.clone(),
        (Shape::Map(map), Value::Object(entries)) if !map.atomic => {
            let mut left = Map::new();
            for (name, value) in entries {
                let element = PathElement::Field(name.clone());
                if fields.contains(std::slice::from_ref(&element)) {
                    continue;
                }
                let value = match fields.below(&element).filter(|below| !below.is_empty()) {
                    Some(below) => remove(types, map.entry(name), value, below),
                    None => value.clone(),
                };
                left.insert(name.clone(), value);
            }
            if left.is_empty() { Value::Null } else { Value::Object(left) }
        }
        (Shape::List(list), Value::Array(items)) if list.relationship != ListRelationship::Atomic => {
            let mut left = Vec::new();
            for item in items {
                let Ok(element) = keys::element(types, list, item) else { continue };
                if fields.contains(std::slice::from_ref(&element)) {
                    continue;
                }
                left.push(match fields.below(&element).filter(|below| !below.is_empty()) {
                    Some(below) => remove(types, Some(list.element), item, below),
                    None => item.clone(),
                });
            }
            if left.is_empty() { Value::Null } else { Value::Array(left) }
        }
        _ => Value::Null,
    }
}
