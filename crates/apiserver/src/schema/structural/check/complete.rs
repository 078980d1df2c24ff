//! Whether everything that rules are about is declared outside of them.

use super::super::{Rules, Structural};
use crate::validation::{FieldError, Path};

/// Adds what is missing.
pub(super) fn check(schema: &Structural, at: &Path, errors: &mut Vec<FieldError>) {
    operators(&schema.rules, schema, at, at, errors);
}

/// `declared_at` is where the values are declared, `at` where the rules about them stand.
fn operators(
    rules: &Rules,
    declared: &Structural,
    declared_at: &Path,
    at: &Path,
    errors: &mut Vec<FieldError>,
) {
    if let Some(schema) = &rules.not {
        nested(schema, Some(declared), declared_at, &at.child("not"), errors);
    }
    for (name, list) in [("allOf", &rules.all_of), ("anyOf", &rules.any_of), ("oneOf", &rules.one_of)] {
        for (number, schema) in list.iter().enumerate() {
            nested(schema, Some(declared), declared_at, &at.child(name).index(number), errors);
        }
    }
}

fn nested(
    schema: &Structural,
    declared: Option<&Structural>,
    declared_at: &Path,
    at: &Path,
    errors: &mut Vec<FieldError>,
) {
    let Some(declared) = declared else {
        errors.push(FieldError::required(declared_at, format!("because it is defined in {at}")));
        return;
    };
    operators(&schema.rules, declared, declared_at, at, errors);
    if let Some(items) = &schema.items {
        let of_items = declared_at.child("items");
        nested(items, declared.items.as_deref(), &of_items, &at.child("items"), errors);
    }
    for (name, property) in &schema.properties {
        let (of_property, at) = (declared_at.child("properties").key(name), at.child("properties").key(name));
        nested(property, declared.properties.get(name), &of_property, &at, errors);
    }
}
