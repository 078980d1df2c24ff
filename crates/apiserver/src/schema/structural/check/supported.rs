//! Members that custom resources may have, and lists and maps that can be merged.

use super::super::{
    Additional, Structural,
    read::{PRESERVE, UNIQUE},
};
use crate::validation::{FieldError, Path};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Where a schema stands.
#[derive(Clone, Default)]
struct Place {
    root: bool,
    /// In the fields that every object has.
    inside_metadata: bool,
    /// Where defaults may not be, in words.
    no_defaults: Option<String>,
}

/// Adds what is wrong; whether everything else can be judged, too.
pub(super) fn check(schema: &Structural, at: &Path, errors: &mut Vec<FieldError>) -> bool {
    let root = Place { root: true, ..Place::default() };
    walk(schema, &root, at, errors)
}

fn walk(schema: &Structural, place: &Place, at: &Path, errors: &mut Vec<FieldError>) -> bool {
    let mut readable = members(schema, place, at, errors);
    let inside = Place { root: false, ..place.clone() };
    if let Some(additional) = &schema.additional {
        let own = at.child("additionalProperties");
        if !schema.properties.is_empty() && !matches!(additional, Additional::Allowed(true)) {
            let detail = "additionalProperties and properties are mutual exclusive";
            errors.push(FieldError::forbidden(&own, detail));
        }
        if let Additional::Schema(additional) = additional {
            let mut place = inside.clone();
            if place.inside_metadata {
                let words = "inside additionalProperties applying to object metadata";
                place.no_defaults = Some(words.to_owned());
            }
            readable &= walk(additional, &place, &own, errors);
        }
    }
    for (name, property) in &schema.properties {
        let mut below = inside.clone();
        if (place.root || schema.embedded_resource) && OBJECT_FIELDS.contains(&&**name) {
            below.inside_metadata = true;
            if place.root {
                below.no_defaults = Some(format!("in top-level {name}"));
            }
        }
        readable &= walk(property, &below, &at.child("properties").key(name), errors);
    }
    let rules = &schema.rules;
    if let Some(not) = &rules.not {
        readable &= walk(not, &inside, &at.child("not"), errors);
    }
    for (name, list) in [("allOf", &rules.all_of), ("oneOf", &rules.one_of), ("anyOf", &rules.any_of)] {
        for (number, schema) in list.iter().enumerate() {
            readable &= walk(schema, &inside, &at.child(name).index(number), errors);
        }
    }
    if let Some(items) = &schema.items {
        readable &= walk(items, &inside, &at.child("items"), errors);
    }
    types_of_maps_and_lists(schema, at, errors);
    keys(schema, at, errors);
    readable
}

fn members(schema: &Structural, place: &Place, at: &Path, errors: &mut Vec<FieldError>) -> bool {
    let kind = at.child("type");
    if !schema.kind.is_empty() && !TYPES.contains(&&*schema.kind) {
        errors.push(FieldError::not_supported(&kind, &schema.kind, &TYPES));
    }
    if schema.kind == "null" {
        let detail = "type cannot be set to null, use nullable as an alternative";
        errors.push(FieldError::forbidden(&kind, detail));
    }
    if let (Some(_), Some(words)) = (&schema.default, &place.no_defaults) {
        errors.push(FieldError::forbidden(&at.child("default"), format!("must not be set {words}")));
    }
    if place.inside_metadata && schema.embedded_resource {
        let field = at.child("x-kubernetes-embedded-resource");
        errors.push(FieldError::forbidden(&field, "must not be used inside of resource meta"));
    }
    for name in &schema.unsupported {
        let field = at.child(name);
        errors.push(match *name {
            "items" => FieldError::forbidden(&field, "items must be a schema object and not an array"),
            UNIQUE => {
                let detail =
                    "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
                FieldError::forbidden(&field, detail)
            }
            PRESERVE => FieldError::invalid(&field, false, "must be true or undefined"),
            name => FieldError::forbidden(&field, format!("{name} is not supported")),
        });
    }
    schema.unsupported.iter().all(|name| *name == UNIQUE)
}

fn types_of_maps_and_lists(schema: &Structural, at: &Path, errors: &mut Vec<FieldError>) {
    let must_be = |wanted: &str, extension: &str| {
        let (kind, detail) =
            (at.child("type"), format!("must be {wanted} if x-kubernetes-{extension} is specified"));
        match &*schema.kind {
            "" => FieldError::required(&kind, detail),
            other => FieldError::invalid(&kind, other, detail),
        }
    };
    if let Some(map_type) = &schema.map_type {
        if schema.kind != "object" {
            errors.push(must_be("object", "map-type"));
        }
        let known = ["atomic", "granular"];
        if !known.contains(&&**map_type) {
            errors.push(FieldError::not_supported(&at.child("x-kubernetes-map-type"), map_type, &known));
        }
    }
    let Some(list_type) = schema.list_type.as_deref() else { return };
    if schema.kind != "array" {
        errors.push(must_be("array", "list-type"));
    } else if let ("set", Some(items)) = (list_type, &schema.items) {
        // Only what is compared as a whole can be in a set.
        let (field, own) = match &*items.kind {
            "array" => (
                "x-kubernetes-list-type",
                items.list_type.as_deref().filter(|own| *own != "atomic").map(Some),
            ),
            "object" if items.map_type.as_deref() != Some("atomic") => {
                // As upstream, which shows the list type here.
                ("x-kubernetes-map-type", Some(items.list_type.as_deref()))
            }
            _ => ("", None),
        };
        if let Some(own) = own {
            let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
            errors.push(FieldError::invalid(&at.child("items").child(field), own, detail));
        }
    }
    let known = ["atomic", "set", "map"];
    if !known.contains(&list_type) {
        errors.push(FieldError::not_supported(&at.child("x-kubernetes-list-type"), list_type, &known));
    }
}

/// The keys of a list that is a map.
fn keys(schema: &Structural, at: &Path, errors: &mut Vec<FieldError>) {
    let (list_type, list_keys) = (at.child("x-kubernetes-list-type"), at.child("x-kubernetes-list-map-keys"));
    let keys = &schema.list_map_keys;
    if !keys.is_empty() {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        match schema.list_type.as_deref() {
            None => errors.push(FieldError::required(&list_type, detail)),
            Some("map") => {}
            Some(other) => errors.push(FieldError::invalid(&list_type, other, detail)),
        }
    }
    let Some(own @ ("map" | "set")) = schema.list_type.as_deref() else { return };
    let items_at = at.child("items");
    if own == "map" {
        if keys.is_empty() {
            let detail = "must not be empty if x-kubernetes-list-type is map";
            errors.push(FieldError::required(&list_keys, detail));
        }
        if schema.items.is_none() && !schema.unsupported.contains(&"items") {
            let detail = "must have a schema if x-kubernetes-list-type is map";
            errors.push(FieldError::required(&items_at, detail));
        }
    }
    let Some(items) = &schema.items else { return };
    if items.nullable {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {own}");
        errors.push(FieldError::forbidden(&items_at.child("nullable"), detail));
    }
    if own == "set" {
        return;
    }
    if items.kind != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid(&items_at.child("type"), &items.kind, detail));
    }
    for (number, key) in keys.iter().enumerate() {
        let field = items_at.child("properties").key(key);
        match items.properties.get(key) {
            Some(property) => key_property(items, key, property, &field, errors),
            None if items.kind == "object" => {
                let detail = "entries must all be names of item properties";
                errors.push(FieldError::invalid(&list_keys, keys, detail));
            }
            None => {}
        }
        if items.kind == "object" && keys[..number].contains(key) {
            errors.push(FieldError::invalid(&list_keys, keys, "must not contain duplicate entries"));
        }
    }
}

fn key_property(
    items: &Structural,
    key: &String,
    property: &Structural,
    at: &Path,
    errors: &mut Vec<FieldError>,
) {
    if items.kind == "object" && matches!(&*property.kind, "array" | "object") {
        // As upstream, which shows the type of the items.
        let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid(&at.child("type"), &items.kind, detail));
    }
    if !items.rules.required.contains(key) && property.default.is_none() {
        let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
        errors.push(FieldError::required(&at.child("default"), detail));
    }
    if property.nullable {
        let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
        errors.push(FieldError::forbidden(&at.child("nullable"), detail));
    }
}
