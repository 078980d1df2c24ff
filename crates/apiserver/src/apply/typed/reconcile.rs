//! Field sets after a change of types: what has become one value is owned as one.

use super::{
    super::fields::{FieldSet, PathElement},
    atom::Shape,
};
use crate::schema::types::{ListRelationship, TypeId, Types};

/// The set as the types see it now; none when nothing changes.
pub(super) fn reconcile(types: &Types, root: TypeId, fields: &FieldSet) -> Option<FieldSet> {
    let mut walk = Walk { types, path: Vec::new(), whole: FieldSet::new() };
    walk.set(Some(fields), root, false);
    (!walk.whole.is_empty()).then(|| fields.without_below(&walk.whole).union(&walk.whole))
}

struct Walk<'a> {
    types: &'a Types,
    path: Vec<PathElement>,
    /// What has become one value.
    whole: FieldSet,
}

impl Walk<'_> {
    fn set(&mut self, fields: Option<&FieldSet>, id: TypeId, owned_whole: bool) {
        match Shape::first(self.types.atom(id)) {
            Shape::List(list) if list.relationship == ListRelationship::Atomic && !owned_whole => {
                self.whole.insert(&self.path);
            }
            Shape::List(list) => {
                let element = list.element;
                self.below(fields, |_| Some(element));
            }
            // Nothing is known of the entries.
            Shape::Map(map)
                if map.fields.is_empty()
                    && map.element.is_some_and(|element| self.types.is_untyped(element)) => {}
            Shape::Map(map) if map.atomic && !owned_whole => {
                if fields.is_some_and(|fields| !fields.is_empty()) {
                    self.whole.insert(&self.path);
                }
            }
            Shape::Map(map) => {
                let map = map.clone();
                self.below(fields, |element| match element {
                    PathElement::Field(name) => map.entry(name),
                    _ => map.element,
                });
            }
            Shape::Scalar(_) | Shape::Nothing => {}
        }
    }

    fn below(&mut self, fields: Option<&FieldSet>, id: impl Fn(&PathElement) -> Option<TypeId>) {
        let Some(fields) = fields else { return };
        let only_children = fields.children().keys().filter(|element| !fields.members().contains(element));
        for element in only_children.chain(fields.members()) {
            let Some(id) = id(element) else { continue };
            let child = fields.below(element);
            self.path.push(element.clone());
            self.set(child, id, fields.members().contains(element) && child.is_none());
            self.path.pop();
        }
    }
}
