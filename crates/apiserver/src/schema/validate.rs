//! Whether a value fulfils a schema, in the words of kube-apiserver.

mod formats;
mod lists;
mod rules;

use serde_json::Value;

use super::{
    embedded,
    structural::{Additional, Structural},
};
use crate::validation::{FieldError, Mistake, Path};

/// What is wrong with a custom resource. CEL rules are not looked at: see [`Structural::cel_rules`].
pub fn validate(object: &Value, schema: &Structural) -> Vec<FieldError> {
    let mut errors = validate_at(object, schema, "");
    errors.extend(embedded::validate(object, schema, false, ""));
    lists::validate(object, schema, "", &mut errors);
    errors
}

/// Whether a value keeps the rules of JSON schema, with `place` before the fields of the errors.
pub(super) fn validate_at(data: &Value, schema: &Structural, place: &str) -> Vec<FieldError> {
    let mut found = Found::default();
    value(data, schema, "", &mut found);
    if !place.is_empty() {
        for error in &mut found.errors {
            let own = error.field.to_string();
            error.field = match &*own {
                "" | NOWHERE => Path::new(place),
                own => Path::new(place).child(own),
            };
        }
    }
    found.errors
}

/// The field of an error that has no place.
const NOWHERE: &str = "<nil>";

/// What a value was found to be.
#[derive(Default)]
struct Found {
    errors: Vec<FieldError>,
    /// Rules that were fulfilled: of alternatives that all fail, the one with most of them is shown.
    fulfilled: usize,
}

impl Found {
    fn join(&mut self, other: Self) {
        self.errors.extend(other.errors);
        self.fulfilled += other.fulfilled;
    }

    /// An error with a sentence of JSON schema.
    fn broken(&mut self, path: &str, value: impl serde::Serialize, rule: &str) {
        self.errors.push(FieldError::invalid(&field(path), value, sentence(path, rule)));
    }

    /// An error of a logical operator: it has no place.
    fn operator(&mut self, path: &str, sentence: &str) {
        self.general(format!("{path:?} {sentence}"));
    }

    /// An error that has no place.
    fn general(&mut self, detail: String) {
        self.errors.push(FieldError::invalid(&Path::new(NOWHERE), "", detail));
    }
}

fn field(path: &str) -> Path {
    Path::new(path.trim_start_matches('.'))
}

fn sentence(path: &str, rule: &str) -> String {
    format!("{path} in body {rule}")
}

pub(super) fn child(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn value(data: &Value, schema: &Structural, path: &str, found: &mut Found) {
    match wrong_type(data, schema) {
        Some((wanted, actual)) => {
            let detail = sentence(path, &format!("must be of type {wanted}: \"{actual}\""));
            let mut error = FieldError::invalid(&field(path), actual, detail);
            error.mistake = Mistake::TypeInvalid;
            found.errors.push(error);
        }
        None => found.fulfilled += 1,
    }
    if data.is_null() {
        rules::values(data, &schema.rules, path, found);
        return;
    }
    rules::operators(data, &schema.rules, path, found);
    match data {
        Value::String(text) => {
            rules::text(text, &schema.rules, path, found);
            formats::text(text, schema, path, found);
        }
        Value::Number(number) => {
            formats::number(number, schema, path, found);
            rules::number(number, schema, path, found);
        }
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                for (number, item) in items.iter().enumerate() {
                    value(item, schema, &format!("{path}[{number}]"), found);
                }
            }
            rules::items(items, &schema.rules, path, found);
        }
        _ => {}
    }
    rules::values(data, &schema.rules, path, found);
    if let Value::Object(map) = data {
        rules::properties(map, &schema.rules, path, found);
        for (name, entry) in map {
            match (schema.properties.get(name), &schema.additional) {
                (Some(property), _) => value(entry, property, &child(path, name), found),
                (None, Some(Additional::Schema(additional))) => {
                    value(entry, additional, &format!("{path}.{name}"), found);
                }
                _ => {}
            }
        }
        rules::required(map, &schema.rules, path, found);
    }
}

/// The type that a value should have and the one it has, when they differ.
fn wrong_type<'s>(data: &Value, schema: &'s Structural) -> Option<(&'s str, &'static str)> {
    let wanted = if schema.int_or_string { "integer,string" } else { &schema.kind };
    if data.is_null() {
        return (!schema.nullable && !wanted.is_empty()).then_some((wanted, "null"));
    }
    let whole = data.as_f64().is_some_and(|number| number.fract() == 0.0);
    let right = match wanted {
        "integer,string" => data.is_string() || whole,
        "integer" => whole,
        "number" => data.is_number(),
        kind => kind == json_type(data),
    };
    let numeric = schema.int_or_string || matches!(&*schema.kind, "integer" | "number");
    match formats::known(schema) {
        // As upstream: a format speaks for the type, but for text and lists.
        Some(_) if !numeric && (data.is_string() || data.is_array()) => None,
        Some(format) if !right && !data.is_string() && !data.is_array() => {
            Some((format, formats::width(data)))
        }
        _ => (!right && !wanted.is_empty()).then_some((wanted, json_type(data))),
    }
}

fn json_type(data: &Value) -> &'static str {
    match data {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
