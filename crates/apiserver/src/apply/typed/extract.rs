//! Which fields a value sets.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    super::fields::{FieldSet, PathElement},
    TypeErrors, Typed,
    atom::{Shape, list, map},
    keys,
};
use crate::schema::types::{ListRelationship, ListType, MapType, TypeId, Types};

pub(super) fn fields(typed: &Typed<'_>) -> Result<FieldSet, TypeErrors> {
    let mut walk = Walk { types: typed.types, path: Vec::new(), set: FieldSet::new() };
    walk.value(&typed.value, Some(typed.root)).into_result()?;
    Ok(walk.set)
}

struct Walk<'a> {
    types: &'a Types,
    path: Vec<PathElement>,
    set: FieldSet,
}

impl<'a> Walk<'a> {
    fn value(&mut self, value: &Value, id: Option<TypeId>) -> TypeErrors {
        let types = self.types;
        let shape = id.map_or(Shape::Nothing, |id| Shape::of(types.atom(id), Some(value)));
        match shape {
            Shape::Scalar(_) => self.own(),
            Shape::Map(map) if map.atomic => self.own(),
            Shape::List(list) if list.relationship == ListRelationship::Atomic => self.own(),
            Shape::Map(map) => return self.entries(value, map),
            Shape::List(list) => return self.items(value, list),
            Shape::Nothing => return TypeErrors::of("schema error: invalid atom: inlined"),
        }
        TypeErrors::default()
    }

    fn own(&mut self) {
        self.set.insert(&self.path);
    }

    fn entries(&mut self, value: &Value, map_type: &'a MapType) -> TypeErrors {
        let mut errors = TypeErrors::default();
        for (name, value) in map(Some(value)).into_iter().flatten() {
            self.path.push(PathElement::Field(name.clone()));
            errors.join(self.value(value, map_type.entry(name)));
            let empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
            if empty || !map_type.fields.contains_key(name) {
                self.own();
            }
            self.path.pop();
        }
        errors
    }

    fn items(&mut self, value: &Value, list_type: &'a ListType) -> TypeErrors {
        let mut errors = TypeErrors::default();
        let items = list(Some(value)).map(Vec::as_slice).unwrap_or_default();
        let elements = items.iter().map(|item| keys::element(self.types, list_type, item).ok());
        let elements: Vec<_> = elements.collect();
        let mut times = BTreeMap::new();
        for element in elements.iter().flatten() {
            *times.entry(element).or_insert(0) += 1;
        }
        for (element, item) in elements.iter().zip(items) {
            let Some(element) = element else { continue };
            self.path.push(element.clone());
            // Elements that are there twice are owned, what is in them is not.
            if times.get(element) == Some(&1) {
                errors.join(self.value(item, Some(list_type.element)));
            }
            self.own();
            self.path.pop();
        }
        errors
    }
}
