//! A value with everything from another.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::{
    super::fields::PathElement,
    TypeErrors,
    atom::{Shape, list, map},
    keys, validate,
};
use crate::schema::types::{ListRelationship, ListType, MapType, TypeId, Types};

pub(super) fn merge(types: &Types, root: TypeId, left: &Value, right: &Value) -> Result<Value, TypeErrors> {
    let mut errors = TypeErrors::default();
    let merged = Walk { types }.merge(Some(left), Some(right), Some(root), &mut errors);
    errors.into_result()?;
    Ok(merged.unwrap_or_default())
}

struct Walk<'a> {
    types: &'a Types,
}

/// Elements of a list by what tells them apart.
struct Indexed<'a> {
    order: Vec<PathElement>,
    /// Null for those that are there twice: they are not merged.
    values: BTreeMap<PathElement, &'a Value>,
}

impl Walk<'_> {
    fn merge(
        &self,
        left: Option<&Value>,
        right: Option<&Value>,
        id: Option<TypeId>,
        errors: &mut TypeErrors,
    ) -> Option<Value> {
        let Some(id) = id else {
            errors.join(TypeErrors::of("schema error: invalid atom: inlined"));
            return None;
        };
        let (shape, other) = Shape::of_both(self.types.atom(id), left, right);
        if let Some(other) = other {
            self.shaped(other, left, right, errors);
        }
        self.shaped(shape, left, right, errors)
    }

    fn shaped(
        &self,
        shape: Shape<'_>,
        left: Option<&Value>,
        right: Option<&Value>,
        errors: &mut TypeErrors,
    ) -> Option<Value> {
        match shape {
            Shape::Scalar(scalar) => {
                let left_wrong = validate::scalar(scalar, left, "lhs: ");
                let right_wrong = validate::scalar(scalar, right, "rhs: ");
                if let (Some(left), Some(right)) = (left_wrong, right_wrong) {
                    errors.join(TypeErrors::of(left));
                    errors.join(TypeErrors::of(right));
                    return None;
                }
                whole(left, right)
            }
            Shape::Map(map) => self.maps(map, left, right, errors),
            Shape::List(list) => self.lists(list, left, right, errors),
            Shape::Nothing => {
                errors.join(TypeErrors::of("schema error: invalid atom: inlined"));
                None
            }
        }
    }

    fn maps(
        &self,
        map_type: &MapType,
        left: Option<&Value>,
        right: Option<&Value>,
        errors: &mut TypeErrors,
    ) -> Option<Value> {
        let (left_map, right_map) = (map(left), map(right));
        // So that empty and null stay different.
        let empty = |map: Option<&Map<String, Value>>| map.is_none_or(Map::is_empty);
        if map_type.atomic || (empty(left_map) && empty(right_map)) {
            return whole(left, right);
        }
        let names: BTreeSet<&String> = left_map
            .into_iter()
            .flat_map(Map::keys)
            .chain(right_map.into_iter().flat_map(Map::keys))
            .collect();
        let mut merged = Map::new();
        for name in names {
            let of = |map: Option<&Map<String, Value>>| map.is_some_and(|map| map.contains_key(name));
            let left = left_map.filter(|_| of(left_map)).map(|map| &map[name]);
            let right = right_map.filter(|_| of(right_map)).map(|map| &map[name]);
            let mut inner = TypeErrors::default();
            if let Some(value) = self.merge(left, right, map_type.entry(name), &mut inner) {
                merged.insert(name.clone(), value);
            }
            errors.join(inner.below(format!(".{name}")));
        }
        (!merged.is_empty()).then_some(Value::Object(merged))
    }

    fn lists(
        &self,
        list_type: &ListType,
        left: Option<&Value>,
        right: Option<&Value>,
        errors: &mut TypeErrors,
    ) -> Option<Value> {
        let items = |value| list(value).map(Vec::as_slice).unwrap_or_default();
        let (left_items, right_items) = (items(left), items(right));
        let empty = left_items.is_empty() && right_items.is_empty();
        if list_type.relationship == ListRelationship::Atomic || empty {
            return whole(left, right);
        }
        let right = self.index(list_type, right_items, false, errors);
        let left = self.index(list_type, left_items, true, errors);
        if !errors.0.is_empty() {
            return None;
        }
        let merged = self.interleave(list_type, left_items, &left, &right);
        (!merged.is_empty()).then_some(Value::Array(merged))
    }

    fn index<'v>(
        &self,
        list_type: &ListType,
        items: &'v [Value],
        duplicates: bool,
        errors: &mut TypeErrors,
    ) -> Indexed<'v> {
        let mut indexed = Indexed { order: Vec::with_capacity(items.len()), values: BTreeMap::new() };
        for (number, item) in items.iter().enumerate() {
            let element = match keys::element(self.types, list_type, item) {
                Ok(element) => element,
                Err(why) => {
                    errors.join(TypeErrors::of(format!("element {number}: {why}")));
                    continue;
                }
            };
            let known = indexed.values.contains_key(&element);
            if known && !duplicates {
                errors.join(TypeErrors::of(format!("duplicate entries for key {element}")));
                continue;
            }
            indexed.values.insert(element.clone(), if known { &Value::Null } else { item });
            indexed.order.push(element);
        }
        indexed
    }

    /// Both lists in one: elements of the right one in its order, those of the left one alone near to where
    /// they were.
    fn interleave(
        &self,
        list_type: &ListType,
        items: &[Value],
        left: &Indexed<'_>,
        right: &Indexed<'_>,
    ) -> Vec<Value> {
        let mut shared: VecDeque<_> =
            right.order.iter().filter(|element| left.values.contains_key(element)).collect();
        let mut next = shared.pop_front();
        let mut taken = BTreeSet::new();
        let mut merged = Vec::with_capacity(items.len().max(right.order.len()));
        let item = |left: Option<&Value>, right: Option<&Value>| {
            // What is wrong inside elements does not matter any more: both sides are valid.
            self.merge(left, right, Some(list_type.element), &mut TypeErrors::default())
        };
        let (mut l, mut r) = (0, 0);
        while l < left.order.len() || r < right.order.len() {
            if let (Some(one), Some(other)) = (left.order.get(l), right.order.get(r)) {
                if one == other {
                    taken.insert(one);
                    merged.extend(item(left.values.get(one).copied(), right.values.get(one).copied()));
                    (l, r) = (l + 1, r + 1);
                    next = shared.pop_front();
                    continue;
                }
                if right.values.contains_key(one) && next.is_some_and(|next| next != one) {
                    l += 1;
                    continue;
                }
            }
            if let Some(one) = left.order.get(l) {
                if !right.values.contains_key(one) {
                    merged.extend(item(items.get(l), None));
                    l += 1;
                    continue;
                }
                if taken.contains(one) {
                    l += 1;
                }
            }
            if let Some(other) = right.order.get(r) {
                taken.insert(other);
                merged.extend(item(left.values.get(other).copied(), right.values.get(other).copied()));
                r += 1;
                if next == Some(other) {
                    next = shared.pop_front();
                }
            }
        }
        merged
    }
}

/// What is one value is taken from the right, if it is there.
fn whole(left: Option<&Value>, right: Option<&Value>) -> Option<Value> {
    right.or(left).cloned()
}
