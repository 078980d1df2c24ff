//! What a value is, of all that its type allows.

use serde_json::Value;

use crate::schema::types::{Atom, ListType, MapType, Scalar};

/// How a value is to be treated.
#[derive(Clone, Copy)]
pub(super) enum Shape<'a> {
    Map(&'a MapType),
    Scalar(Scalar),
    List(&'a ListType),
    /// The type allows nothing.
    Nothing,
}

impl<'a> Shape<'a> {
    /// The shape that fits the value; if none does, the first that the type allows.
    pub(super) fn of(atom: &'a Atom, value: Option<&Value>) -> Self {
        let fitting = match value {
            Some(Value::Array(_)) => atom.list.as_ref().map(Shape::List),
            Some(Value::Object(_)) => atom.map.as_ref().map(Shape::Map),
            None | Some(Value::Null) => None,
            Some(_) => atom.scalar.map(Shape::Scalar),
        };
        fitting.unwrap_or_else(|| Self::first(atom))
    }

    /// Maps before scalars before lists.
    pub(super) fn first(atom: &'a Atom) -> Self {
        match (&atom.map, atom.scalar, &atom.list) {
            (Some(map), ..) => Shape::Map(map),
            (_, Some(scalar), _) => Shape::Scalar(scalar),
            (.., Some(list)) => Shape::List(list),
            _ => Shape::Nothing,
        }
    }

    /// Which of the shapes of one type both values have; what is not there, or null in a type with several
    /// shapes, takes that of the other.
    pub(super) fn of_both(
        atom: &'a Atom,
        left: Option<&Value>,
        right: Option<&Value>,
    ) -> (Self, Option<Self>) {
        match (left, right) {
            (Some(left), None) => (Self::of(atom, Some(left)), None),
            (Some(left), Some(right)) if differ(atom, left, right) => {
                (Self::of(atom, Some(right)), Some(Self::of(atom, Some(left))))
            }
            (_, right) => (Self::of(atom, right), None),
        }
    }
}

/// Whether one type means different things for both values.
fn differ(atom: &Atom, left: &Value, right: &Value) -> bool {
    kept(atom, left) != kept(atom, right)
}

/// Which of scalar, list and map are left when the value is known.
fn kept(atom: &Atom, value: &Value) -> (bool, bool, bool) {
    let all = (atom.scalar.is_some(), atom.list.is_some(), atom.map.is_some());
    match value {
        Value::Null => all,
        Value::Array(_) if all.1 => (false, true, false),
        Value::Object(_) if all.2 => (false, false, true),
        Value::Array(_) | Value::Object(_) => all,
        _ if all.0 => (true, false, false),
        _ => all,
    }
}

/// The entries of a map; none of null and of what is no map.
pub(super) fn map(value: Option<&Value>) -> Option<&serde_json::Map<String, Value>> {
    value.and_then(Value::as_object)
}

/// The elements of a list; none of null and of what is no list.
pub(super) fn list(value: Option<&Value>) -> Option<&Vec<Value>> {
    value.and_then(Value::as_array)
}
