//! Whether a value is of its type.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{
    super::{fields::PathElement, value::in_go},
    TypeErrors,
    atom::Shape,
    keys,
};
use crate::{
    patch::{go_type, go_value},
    schema::types::{ListRelationship, ListType, MapType, Scalar, TypeId, Types},
};

/// Checks a value.
pub(super) fn validate(
    value: &Value,
    types: &Types,
    root: TypeId,
    duplicates: bool,
) -> Result<(), TypeErrors> {
    Walk { types, duplicates }.value(value, root).into_result()
}

struct Walk<'a> {
    types: &'a Types,
    duplicates: bool,
}

impl Walk<'_> {
    fn value(&self, value: &Value, id: TypeId) -> TypeErrors {
        match Shape::of(self.types.atom(id), Some(value)) {
            Shape::Map(map) => match value {
                Value::Object(entries) => self.entries(entries, map),
                Value::Null => TypeErrors::default(),
                other => TypeErrors::of(format!("expected map, got {}", wrapped(other))),
            },
            Shape::List(list) => match value {
                Value::Array(items) => self.items(items, list),
                Value::Null => TypeErrors::default(),
                other => TypeErrors::of(format!("expected list, got {}", wrapped(other))),
            },
            Shape::Scalar(scalar) => {
                self::scalar(scalar, Some(value), "").map_or_else(TypeErrors::default, TypeErrors::of)
            }
            Shape::Nothing => TypeErrors::of("schema error: invalid atom: inlined"),
        }
    }

    fn entries(&self, entries: &Map<String, Value>, map: &MapType) -> TypeErrors {
        let mut errors = TypeErrors::default();
        for (name, value) in entries {
            let place = format!(".{name}");
            let Some(id) = map.entry(name) else {
                errors.join(TypeErrors::of("field not declared in schema").below(place));
                // One is enough, and upstream stops there, too.
                break;
            };
            errors.join(self.value(value, id).below(place));
        }
        errors
    }

    fn items(&self, items: &[Value], list: &ListType) -> TypeErrors {
        let mut errors = TypeErrors::default();
        let mut seen = BTreeSet::new();
        for (number, item) in items.iter().enumerate() {
            let element = if list.relationship == ListRelationship::Atomic {
                PathElement::Index(i64::try_from(number).unwrap_or(i64::MAX))
            } else {
                match keys::element(self.types, list, item) {
                    Ok(element) => element,
                    Err(why) => {
                        errors.join(TypeErrors::of(format!("element {number}: {why}")));
                        return errors;
                    }
                }
            };
            errors.join(self.value(item, list.element).below(&element));
            let shown = element.to_string();
            if !seen.insert(element) && !self.duplicates {
                errors.join(TypeErrors::of(format!("duplicate entries for key {shown}")));
            }
        }
        errors
    }
}

/// What is wrong with a single value.
pub(super) fn scalar(scalar: Scalar, value: Option<&Value>, prefix: &str) -> Option<String> {
    let value = value.filter(|value| !value.is_null())?;
    let wrong = match scalar {
        Scalar::Numeric if !value.is_number() => {
            format!("expected numeric (int or float), got {}", go_type(value))
        }
        Scalar::String if !value.is_string() => {
            format!("expected string, got &value.valueUnstructured{{Value:{}}}", in_go(value))
        }
        Scalar::Boolean if !value.is_boolean() => format!("expected boolean, got {}", wrapped(value)),
        Scalar::Untyped if value.is_array() || value.is_object() => {
            format!("expected any scalar, got {}", wrapped(value))
        }
        _ => return None,
    };
    Some(format!("{prefix}{wrong}"))
}

/// As Go prints a value in its wrapper.
fn wrapped(value: &Value) -> String {
    format!("&{{{}}}", go_value(value))
}
