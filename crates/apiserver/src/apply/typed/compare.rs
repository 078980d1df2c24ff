//! What is different between two values.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    super::{
        fields::{FieldSet, PathElement},
        value::equal,
    },
    TypeErrors,
    atom::{Shape, list, map},
    keys, validate,
};
use crate::schema::types::{ListRelationship, ListType, MapType, TypeId, Types};

/// Fields by what became of them.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Comparison {
    pub(in super::super) removed: FieldSet,
    pub(in super::super) modified: FieldSet,
    pub(in super::super) added: FieldSet,
}

impl Comparison {
    /// Without these fields and what is below them.
    pub(in super::super) fn without(self, ignored: Option<&FieldSet>) -> Self {
        let Some(ignored) = ignored else { return self };
        Self {
            removed: self.removed.without_below(ignored),
            modified: self.modified.without_below(ignored),
            added: self.added.without_below(ignored),
        }
    }
}

pub(super) fn compare(
    types: &Types,
    root: TypeId,
    left: &Value,
    right: &Value,
) -> Result<Comparison, TypeErrors> {
    let mut walk = Walk { types, path: Vec::new(), found: Comparison::default() };
    walk.compare(Some(left), Some(right), Some(root)).into_result()?;
    Ok(walk.found)
}

struct Walk<'a> {
    types: &'a Types,
    path: Vec<PathElement>,
    found: Comparison,
}

impl<'a> Walk<'a> {
    fn compare(&mut self, left: Option<&Value>, right: Option<&Value>, id: Option<TypeId>) -> TypeErrors {
        let Some(id) = id else { return TypeErrors::of("schema error: invalid atom: inlined") };
        let types = self.types;
        let (shape, other) = Shape::of_both(types.atom(id), left, right);
        let mut errors = TypeErrors::default();
        if let Some(other) = other {
            self.shaped(other, left, right, &mut errors);
        }
        let leaf = self.shaped(shape, left, right, &mut errors);
        if !leaf {
            match (left, right) {
                (None, _) => self.found.added.insert(&self.path),
                (_, None) => self.found.removed.insert(&self.path),
                _ => {}
            }
        }
        errors
    }

    /// True when it was compared as a whole.
    fn shaped(
        &mut self,
        shape: Shape<'a>,
        left: Option<&Value>,
        right: Option<&Value>,
        errors: &mut TypeErrors,
    ) -> bool {
        match shape {
            Shape::Scalar(scalar) => {
                let left_wrong = validate::scalar(scalar, left, "lhs: ");
                let right_wrong = validate::scalar(scalar, right, "rhs: ");
                if let (Some(left), Some(right)) = (left_wrong, right_wrong) {
                    errors.join(TypeErrors::of(left));
                    errors.join(TypeErrors::of(right));
                    return false;
                }
                self.whole(left, right)
            }
            Shape::Map(map_type) => {
                let empty = |value| map(value).is_none_or(Map::is_empty);
                if map_type.atomic || (empty(left) && empty(right)) {
                    return self.whole(left, right);
                }
                self.maps(map_type, left, right, errors);
                false
            }
            Shape::List(list_type) => {
                let empty = |value| list(value).is_none_or(Vec::is_empty);
                let atomic = list_type.relationship == ListRelationship::Atomic;
                if atomic || (empty(left) && empty(right)) {
                    return self.whole(left, right);
                }
                self.lists(list_type, left, right, errors);
                false
            }
            Shape::Nothing => {
                errors.join(TypeErrors::of("schema error: invalid atom: inlined"));
                false
            }
        }
    }

    fn whole(&mut self, left: Option<&Value>, right: Option<&Value>) -> bool {
        match (left, right) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            (Some(left), Some(right)) if !equal(left, right) => self.found.modified.insert(&self.path),
            _ => {}
        }
        true
    }

    fn maps(
        &mut self,
        map_type: &'a MapType,
        left: Option<&Value>,
        right: Option<&Value>,
        errors: &mut TypeErrors,
    ) {
        let (left, right) = (map(left), map(right));
        let names: BTreeSet<&String> =
            left.into_iter().flat_map(Map::keys).chain(right.into_iter().flat_map(Map::keys)).collect();
        for name in names {
            let of = |map: Option<&Map<String, Value>>| map.and_then(|map| map.get(name)).cloned();
            // Only what differs is worth a walk.
            if let (Some(left), Some(right)) =
                (left.and_then(|map| map.get(name)), right.and_then(|map| map.get(name)))
                && left == right
            {
                continue;
            }
            let (left, right) = (of(left), of(right));
            self.path.push(PathElement::Field(name.clone()));
            let inner = self.compare(left.as_ref(), right.as_ref(), map_type.entry(name));
            self.path.pop();
            errors.join(inner.below(format!(".{name}")));
        }
    }

    fn lists(
        &mut self,
        list_type: &'a ListType,
        left: Option<&Value>,
        right: Option<&Value>,
        errors: &mut TypeErrors,
    ) {
        let left = self.index(list_type, left, errors);
        let right = self.index(list_type, right, errors);
        let elements: BTreeSet<&PathElement> = left.keys().chain(right.keys()).collect();
        for element in elements {
            let of =
                |index: &BTreeMap<PathElement, Vec<Value>>| index.get(element).cloned().unwrap_or_default();
            let (left, right) = (of(&left), of(&right));
            self.path.push(element.clone());
            let inner = self.items(list_type, &left, &right);
            self.path.pop();
            errors.join(inner.below(element));
        }
    }

    /// Elements with the same key; several of them are compared as a whole.
    fn items(&mut self, list_type: &ListType, left: &[Value], right: &[Value]) -> TypeErrors {
        let element = Some(list_type.element);
        match (left.len(), right.len()) {
            (0 | 1, 0 | 1) => return self.compare(left.first(), right.first(), element),
            (2.., 2..) => {
                let same = left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| equal(left, right));
                if !same {
                    self.found.modified.insert(&self.path);
                }
            }
            (2.., _) => {
                let errors = right.first().map(|right| self.compare(None, Some(right), element));
                self.found.removed.insert(&self.path);
                return errors.unwrap_or_default();
            }
            _ => {
                let errors = left.first().map(|left| self.compare(Some(left), None, element));
                self.found.added.insert(&self.path);
                return errors.unwrap_or_default();
            }
        }
        TypeErrors::default()
    }

    fn index(
        &self,
        list_type: &ListType,
        value: Option<&Value>,
        errors: &mut TypeErrors,
    ) -> BTreeMap<PathElement, Vec<Value>> {
        let mut index: BTreeMap<_, Vec<Value>> = BTreeMap::new();
        for (number, item) in list(value).into_iter().flatten().enumerate() {
            match keys::element(self.types, list_type, item) {
                Ok(element) => index.entry(element).or_default().push(item.clone()),
                Err(why) => errors.join(TypeErrors::of(format!("element {number}: {why}"))),
            }
        }
        index
    }
}
