//! Whether defaults fit the schemas that they stand in.

use serde_json::{Value, json};

use super::super::Structural;
use crate::{
    schema::{embedded, shape::prune_part, validate_at},
    validation::{FieldError, Path},
};

/// Where a schema stands in the embedded object around it.
#[derive(Clone)]
struct Place<'s> {
    /// The schema of that object.
    object: &'s Structural,
    /// The way from there.
    steps: Vec<Step<'s>>,
    /// In its metadata, kind or version.
    inside_metadata: bool,
}

#[derive(Clone, Copy)]
enum Step<'s> {
    Field(&'s str),
    Element,
}

/// Adds what is wrong with defaults.
pub(super) fn check(schema: &Structural, at: &Path, errors: &mut Vec<FieldError>) {
    let root = Place { object: schema, steps: Vec::new(), inside_metadata: false };
    walk(schema, true, root, at, errors);
}

fn walk<'s>(schema: &'s Structural, root: bool, place: Place<'s>, at: &Path, errors: &mut Vec<FieldError>) {
    let object = root || schema.embedded_resource;
    let place = match object {
        true => Place { object: schema, steps: Vec::new(), inside_metadata: false },
        false => place,
    };
    if let Some(default) = &schema.default {
        let at = at.child("default");
        match place.inside_metadata {
            true => in_metadata(default, schema, &place, &at, errors),
            false => anywhere(default, schema, object, &at, errors),
        }
    }
    // Nothing under `additionalProperties`, as upstream.
    if let Some(items) = &schema.items {
        let mut below = place.clone();
        below.steps.push(Step::Element);
        walk(items, false, below, &at.child("items"), errors);
    }
    for (name, property) in &schema.properties {
        let mut below = place.clone();
        below.steps.push(Step::Field(name));
        below.inside_metadata |= object && matches!(&**name, "metadata" | "apiVersion" | "kind");
        walk(property, false, below, &at.child("properties").key(name), errors);
    }
}

fn anywhere(default: &Value, schema: &Structural, object: bool, at: &Path, errors: &mut Vec<FieldError>) {
    let mut pruned = default.clone();
    prune_part(&mut pruned, schema, object);
    if pruned != *default {
        errors.push(FieldError::invalid(at, default, "must not have unknown fields"));
    }
    let place = at.to_string();
    let mut coerced = default.clone();
    let found = match embedded::coerce(&mut coerced, schema, object, &place) {
        Err(error) => vec![error],
        Ok(_) => match embedded::validate(&coerced, schema, object, &place) {
            found if found.is_empty() => validate_at(default, schema, &place),
            found => found,
        },
    };
    errors.extend(found);
}

/// A default in metadata must make valid metadata of an object that has nothing else.
fn in_metadata(
    default: &Value,
    schema: &Structural,
    place: &Place<'_>,
    at: &Path,
    errors: &mut Vec<FieldError>,
) {
    let mut around = place.steps.iter().rev().fold(default.clone(), |inner, step| match step {
        Step::Field(name) => json!({ *name: inner }),
        Step::Element => json!([inner]),
    });
    if let Some(around) = around.as_object_mut() {
        around.entry("apiVersion").or_insert_with(|| json!("validation/v1"));
        around.entry("kind").or_insert_with(|| json!("Validation"));
    }
    let wrong = match embedded::coerce(&mut around, place.object, true, "") {
        Err(error) => vec![error],
        Ok(_) => embedded::validate(&around, place.object, true, ""),
    };
    if wrong.is_empty() {
        return errors.extend(validate_at(default, schema, &at.to_string()));
    }
    let mut texts: Vec<_> =
        wrong.iter().map(|error| format!("{}: {}", error.field, error.message())).collect();
    let text = if texts.len() == 1 { texts.remove(0) } else { format!("[{}]", texts.join(", ")) };
    errors.push(FieldError::invalid(at, default, format!("must result in valid metadata: {text}")));
}
