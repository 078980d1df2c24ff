//! Whether a schema is structural, in the words of kube-apiserver.

mod complete;
mod defaults;
mod supported;

use super::{Additional, Rules, Structural};
use crate::validation::{FieldError, Path};

/// Where a schema stands in another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Field,
    Item,
}

/// What is wrong with a schema that stands at `at`, sorted by text.
pub fn check(schema: &Structural, at: &Path) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let readable = supported::check(schema, at, &mut errors);
    // What has members that nobody understands is not looked at any further, as upstream.
    if readable {
        let before = errors.len();
        invariants(schema, Level::Root, at, &mut errors);
        complete::check(schema, at, &mut errors);
        if errors.len() == before {
            defaults::check(schema, at, &mut errors);
        }
    }
    errors.sort_by_cached_key(|error| format!("{}: {}", error.field, error.message()));
    errors.dedup();
    errors
}

fn invariants(schema: &Structural, level: Level, at: &Path, errors: &mut Vec<FieldError>) {
    let kind = at.child("type");
    if schema.kind == "array" && schema.items.is_none() {
        errors.push(FieldError::required(&at.child("items"), "must be specified"));
    }
    if let Some(items) = &schema.items {
        invariants(items, Level::Item, &at.child("items"), errors);
    }
    for (name, property) in &schema.properties {
        let at = at.child("properties").key(name);
        invariants(property, Level::Field, &at, errors);
    }
    if let Some(additional) = &schema.additional {
        let at = at.child("additionalProperties");
        if level == Level::Root {
            errors.push(FieldError::forbidden(&at, "must not be used at the root"));
        }
        if schema.embedded_resource {
            let detail = "must not be used if x-kubernetes-embedded-resource is set";
            errors.push(FieldError::forbidden(&at, detail));
        }
        if let Additional::Schema(additional) = additional {
            invariants(additional, Level::Field, &at, errors);
        }
    }
    if schema.int_or_string {
        let detail = "must be false if x-kubernetes-int-or-string is true";
        for (name, set) in [
            ("x-kubernetes-preserve-unknown-fields", schema.preserve_unknown_fields),
            ("x-kubernetes-embedded-resource", schema.embedded_resource),
        ] {
            if set {
                errors.push(FieldError::invalid(&at.child(name), true, detail));
            }
        }
    }
    rules(&schema.rules, is_int_or_string(&schema.rules.any_of), at, errors);
    if schema.embedded_resource && schema.kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(match &*schema.kind {
            "" => FieldError::required(&kind, detail),
            other => FieldError::invalid(&kind, other, detail),
        });
    } else if schema.kind.is_empty() && !schema.int_or_string && !schema.preserve_unknown_fields {
        errors.push(FieldError::required(
            &kind,
            match level {
                Level::Root => "must not be empty at the root",
                Level::Item => "must not be empty for specified array items",
                Level::Field => "must not be empty for specified object fields",
            },
        ));
    }
    if level == Level::Root && !schema.kind.is_empty() && schema.kind != "object" {
        errors.push(FieldError::invalid(&kind, &schema.kind, "must be object at the root"));
    }
    metadata(schema, level, at, errors);
    if schema.embedded_resource && !schema.preserve_unknown_fields && schema.properties.is_empty() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(&at.child("properties"), detail));
    }
}

fn metadata(schema: &Structural, level: Level, at: &Path, errors: &mut Vec<FieldError>) {
    if level != Level::Root && !schema.embedded_resource {
        return;
    }
    let place = |name: &str| at.child("properties").key(name);
    for name in ["kind", "apiVersion"] {
        if let Some(property) = schema.properties.get(name).filter(|property| property.kind != "string") {
            errors.push(FieldError::invalid(&place(name).child("type"), &property.kind, "must be string"));
        }
    }
    let Some(metadata) = schema.properties.get("metadata") else { return };
    if metadata.kind != "object" {
        errors.push(FieldError::invalid(&place("metadata").child("type"), &metadata.kind, "must be object"));
    }
    let names = metadata.properties.keys().all(|name| name == "name" || name == "generateName");
    if level == Level::Root && (!names || metadata.qualified) {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.push(FieldError::forbidden(&place("metadata"), detail));
    }
}

/// Whether this is `anyOf: [{type: integer}, {type: string}]`, which says once more what an extension says.
fn is_int_or_string(any_of: &[Structural]) -> bool {
    let bare =
        |schema: &Structural| !schema.qualified && schema.properties.is_empty() && schema.default.is_none();
    let kinds: Vec<_> = any_of.iter().map(|schema| &*schema.kind).collect();
    kinds == ["integer", "string"] && any_of.iter().all(bare)
}

fn rules(rules: &Rules, skip_any_of: bool, at: &Path, errors: &mut Vec<FieldError>) {
    if let Some((pattern, Err(reason))) = &rules.pattern {
        let detail = format!("must be a valid regular expression, but isn't: {reason}");
        errors.push(FieldError::invalid(&at.child("pattern"), pattern, detail));
    }
    for (name, list) in [("anyOf", &rules.any_of), ("allOf", &rules.all_of), ("oneOf", &rules.one_of)] {
        if name == "anyOf" && skip_any_of {
            continue;
        }
        for (number, schema) in list.iter().enumerate() {
            let skip = name == "allOf" && number == 0 && is_int_or_string(&schema.rules.any_of);
            nested(schema, skip, &at.child(name).index(number), errors);
        }
    }
    if let Some(schema) = &rules.not {
        nested(schema, false, &at.child("not"), errors);
    }
}

/// Under a logical operator there are only rules.
fn nested(schema: &Structural, skip_any_of: bool, at: &Path, errors: &mut Vec<FieldError>) {
    rules(&schema.rules, skip_any_of, at, errors);
    if let Some(items) = &schema.items {
        nested(items, false, &at.child("items"), errors);
    }
    for (name, property) in &schema.properties {
        nested(property, false, &at.child("properties").key(name), errors);
    }
    let additional = !matches!(schema.additional, None | Some(Additional::Allowed(false)));
    let forbidden = [
        ("type", "must be empty to be structural", !schema.kind.is_empty()),
        ("additionalProperties", "must be undefined to be structural", additional),
        ("default", "must be undefined to be structural", schema.default.is_some()),
        ("title", "must be empty to be structural", schema.described.contains(&"title")),
        ("description", "must be empty to be structural", schema.described.contains(&"description")),
        ("nullable", "must be false to be structural", schema.nullable),
        (
            "x-kubernetes-preserve-unknown-fields",
            "must be false to be structural",
            schema.preserve_unknown_fields,
        ),
        ("x-kubernetes-embedded-resource", "must be false to be structural", schema.embedded_resource),
        ("x-kubernetes-int-or-string", "must be false to be structural", schema.int_or_string),
        ("x-kubernetes-list-map-keys", "must be empty to be structural", !schema.list_map_keys.is_empty()),
        ("x-kubernetes-list-type", "must be undefined to be structural", schema.list_type.is_some()),
        ("x-kubernetes-map-type", "must be undefined to be structural", schema.map_type.is_some()),
        ("x-kubernetes-validations", "must be empty to be structural", !schema.cel_rules.is_empty()),
    ];
    for (name, detail, present) in forbidden {
        if present {
            errors.push(FieldError::forbidden(&at.child(name), detail));
        }
    }
    if schema.properties.contains_key("metadata") {
        let detail = "must not be specified in a nested context";
        errors.push(FieldError::forbidden(&at.child("properties").key("metadata"), detail));
    }
}
