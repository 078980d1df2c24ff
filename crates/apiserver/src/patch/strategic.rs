//! Strategic merge patch: a merge patch that knows which lists are merged element by element, and has
//! directives for what a merge patch cannot say.

mod directives;
mod lists;
mod order;

use serde_json::{Map, Value};

use self::directives::{DELETE_FROM_LIST, PATCH, SET_ORDER};
use super::{PatchError, go_value, words::json_type};
use crate::schema::types::{Field, PatchMeta, TypeId, Types};

/// Carries out a strategic merge patch on an object of this type.
///
/// # Errors
/// When the patch is no object, or its directives or lists do not fit the type of the object.
pub fn strategic_merge_patch(
    document: Map<String, Value>,
    patch: Value,
    types: &Types,
    root: TypeId,
) -> Result<Map<String, Value>, PatchError> {
    let patch = match patch {
        Value::Object(patch) => patch,
        // Nothing is nothing to do.
        Value::Null => Map::new(),
        other => {
            let found = json_type(&other);
            let wanted = "Go value of type map[string]interface {}";
            return Err(PatchError::malformed(format!("json: cannot unmarshal {found} into {wanted}")));
        }
    };
    merge_map(document, patch, &Merge { types }, root)
}

/// What is the same for the whole patch.
struct Merge<'a> {
    types: &'a Types,
}

impl<'a> Merge<'a> {
    /// The field of this name; upstream, too, is not strict about its case.
    fn field(&self, owner: TypeId, name: &str) -> Result<&'a Field, PatchError> {
        let unmergeable = |why| Err(PatchError::Unmergeable(why));
        let Some(map) = self.types.atom(owner).map.as_ref().filter(|map| !map.fields.is_empty()) else {
            let kind = self.kind(owner);
            return unmergeable(format!(
                "merging an object in json but data type is not struct, instead is: {kind}"
            ));
        };
        let folded =
            || map.fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, field)| field);
        match map.fields.get(name).or_else(folded) {
            Some(field) => Ok(field),
            None => {
                let owner = self.types.name(owner);
                unmergeable(format!("unable to find api field in struct {owner} for the json field {name:?}"))
            }
        }
    }

    /// The type of the elements of a list, and how the list is merged.
    fn list(&self, owner: TypeId, name: &str) -> Result<(TypeId, &'a PatchMeta), PatchError> {
        let field = self.field(owner, name)?;
        match &self.types.atom(field.type_id).list {
            Some(list) => Ok((list.element, &field.patch)),
            None => {
                let kind = self.kind(owner);
                Err(PatchError::Unmergeable(format!("expected slice or array type, but got: {kind}")))
            }
        }
    }

    /// What Go calls a type of this kind.
    fn kind(&self, id: TypeId) -> &'static str {
        let atom = self.types.atom(id);
        match (&atom.map, &atom.list) {
            (Some(map), _) if !map.fields.is_empty() => "struct",
            (Some(_), _) => "map",
            (_, Some(_)) => "slice",
            _ => "string",
        }
    }
}

fn merge_map(
    mut original: Map<String, Value>,
    mut patch: Map<String, Value>,
    merge: &Merge<'_>,
    owner: TypeId,
) -> Result<Map<String, Value>, PatchError> {
    if let Some(directive) = patch.remove(PATCH) {
        return match directive.as_str() {
            Some("replace") => Ok(patch),
            Some("delete") => Ok(Map::new()),
            _ => Err(directives::unknown(directive, patch)),
        };
    }
    directives::retain_keys(&mut original, &mut patch)?;
    order::merge_ordered_lists(&mut original, &mut patch, merge, owner)?;
    for (name, value) in patch {
        let deleted_from = match name.starts_with(DELETE_FROM_LIST) {
            true => Some(directives::subject(&name, DELETE_FROM_LIST)?.to_owned()),
            false => None,
        };
        merge_entry(&mut original, name, deleted_from, value, merge, owner)?;
    }
    Ok(original)
}

fn merge_entry(
    original: &mut Map<String, Value>,
    name: String,
    deleted_from: Option<String>,
    mut value: Value,
    merge: &Merge<'_>,
    owner: TypeId,
) -> Result<(), PatchError> {
    let deletes = deleted_from.is_some();
    let name = deleted_from.filter(|subject| !subject.is_empty()).unwrap_or(name);
    if value.is_null() {
        original.remove(&name);
        return Ok(());
    }
    let Some(place) = original.get_mut(&name) else {
        if !deletes && directives::clean(&mut value) {
            original.insert(name, value);
        }
        return Ok(());
    };
    match (place, value) {
        (Value::Object(place), Value::Object(patch)) => {
            let field = merge.field(owner, &name)?;
            *place = match &*field.patch.strategy {
                "replace" => patch,
                _ => merge_map(std::mem::take(place), patch, merge, field.type_id)?,
            };
        }
        (Value::Array(place), Value::Array(patch)) => {
            let (element, meta) = merge.list(owner, &name)?;
            let list = std::mem::take(place);
            *place = if deletes || meta.strategy == "merge" {
                lists::merge_list(list, patch, merge, element, &meta.merge_key, deletes)?
            } else {
                patch
            };
        }
        // Values of different types cannot be merged; of lists nothing is deleted that are none.
        (place, value) if deletes && !same_type(place, &value) => {}
        (place, mut value) => {
            if directives::clean(&mut value) {
                *place = value;
            } else {
                original.remove(&name);
            }
        }
    }
    Ok(())
}

/// Whether Go would read both as the same type.
fn same_type(one: &Value, other: &Value) -> bool {
    super::go_type(one) == super::go_type(other)
}

fn no_merge_key(map: &Map<String, Value>, merge_key: &str) -> PatchError {
    let shown = go_value(&Value::Object(map.clone()));
    PatchError::Unmergeable(format!("map: {shown} does not contain declared merge key: {merge_key}"))
}

fn wrong_type(expected: &str, actual: &Value) -> PatchError {
    PatchError::Unmergeable(format!("expected a {expected}, but received a {}", super::go_type(actual)))
}
