//! From JSON to a schema, within bounds.

use regex::RegexBuilder;
use serde_json::Value;

use super::{Additional, MAX_DEPTH, MAX_PATTERN_SIZE, MAX_SCHEMAS, Rules, Structural};

/// Refused, because it costs too much.
pub(super) const UNIQUE: &str = "uniqueItems";
/// Refused when it is false.
pub(super) const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

/// Why a schema cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Too many schemas inside each other.
    #[error("schema: more than {MAX_DEPTH} schemas inside each other")]
    TooDeep,
    /// Too many schemas.
    #[error("schema: more than {MAX_SCHEMAS} schemas")]
    TooLarge,
    /// A member of another type than JSON schema has.
    #[error("schema: {0} has the wrong type")]
    WrongType(String),
}

/// Reads an `openAPIV3Schema`. Whether it is structural is another question: [`check`](super::check).
///
/// # Errors
/// When a member has the wrong type, or the schema is too deep or too large.
pub fn read_schema(schema: &Value) -> Result<Structural, SchemaError> {
    Reader { left: MAX_SCHEMAS }.schema(schema, 0)
}

/// Whether a member says more than type, properties and default.
fn qualifies((name, value): (&String, &Value)) -> bool {
    let empty = match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    !empty && !matches!(&**name, "type" | "properties" | "default")
}

struct Reader {
    left: usize,
}

impl Reader {
    fn schema(&mut self, schema: &Value, depth: usize) -> Result<Structural, SchemaError> {
        if depth > MAX_DEPTH {
            return Err(SchemaError::TooDeep);
        }
        self.left = self.left.checked_sub(1).ok_or(SchemaError::TooLarge)?;
        if !schema.is_object() {
            return Err(SchemaError::WrongType("a schema".to_owned()));
        }
        let flag = |name: &str| optional(schema, name, Value::as_bool).map(Option::unwrap_or_default);
        let word = |name: &str| optional(schema, name, |value| value.as_str().map(str::to_owned));
        let mut structural = Structural {
            kind: word("type")?.unwrap_or_default(),
            nullable: flag("nullable")?,
            default: schema.get("default").filter(|default| !default.is_null()).cloned(),
            preserve_unknown_fields: flag("x-kubernetes-preserve-unknown-fields")?,
            embedded_resource: flag("x-kubernetes-embedded-resource")?,
            int_or_string: flag("x-kubernetes-int-or-string")?,
            list_type: word("x-kubernetes-list-type")?,
            list_map_keys: words(schema, "x-kubernetes-list-map-keys")?,
            map_type: word("x-kubernetes-map-type")?,
            cel_rules: list(schema, "x-kubernetes-validations")?.to_vec(),
            rules: self.rules(schema, depth)?,
            ..Structural::default()
        };
        let present = |name: &&&'static str| schema.get(**name).is_some_and(|value| !value.is_null());
        structural.described = ["title", "description"].iter().filter(present).copied().collect();
        let unsupported =
            ["$ref", "additionalItems", "definitions", "dependencies", "id", "patternProperties"];
        structural.unsupported = unsupported.iter().filter(present).copied().collect();
        if flag(UNIQUE)? {
            structural.unsupported.push(UNIQUE);
        }
        if schema.get(PRESERVE) == Some(&Value::Bool(false)) {
            structural.unsupported.push(PRESERVE);
        }
        structural.qualified = schema.as_object().is_some_and(|schema| schema.iter().any(qualifies));
        match schema.get("properties") {
            None | Some(Value::Null) => {}
            Some(Value::Object(properties)) => {
                for (name, property) in properties {
                    structural.properties.insert(name.clone(), self.schema(property, depth + 1)?);
                }
            }
            Some(_) => return Err(SchemaError::WrongType("properties".to_owned())),
        }
        structural.additional = match schema.get("additionalProperties") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(allowed)) => Some(Additional::Allowed(*allowed)),
            Some(additional) => Some(Additional::Schema(Box::new(self.schema(additional, depth + 1)?))),
        };
        match schema.get("items") {
            None | Some(Value::Null) => {}
            Some(Value::Array(_)) => structural.unsupported.push("items"),
            Some(items) => structural.items = Some(Box::new(self.schema(items, depth + 1)?)),
        }
        Ok(structural)
    }

    fn rules(&mut self, schema: &Value, depth: usize) -> Result<Rules, SchemaError> {
        let number = |name: &str| optional(schema, name, Value::as_f64);
        let count = |name: &str| optional(schema, name, Value::as_i64);
        let excluded = |name: &str| optional(schema, name, Value::as_bool).map(Option::unwrap_or_default);
        let (no_maximum, no_minimum) = (excluded("exclusiveMaximum")?, excluded("exclusiveMinimum")?);
        let mut nested = |name: &str| -> Result<Vec<Structural>, SchemaError> {
            list(schema, name)?.iter().map(|schema| self.schema(schema, depth + 1)).collect()
        };
        let (all_of, any_of, one_of) = (nested("allOf")?, nested("anyOf")?, nested("oneOf")?);
        let not = match schema.get("not") {
            None | Some(Value::Null) => None,
            Some(not) => Some(Box::new(self.schema(not, depth + 1)?)),
        };
        let text = |name: &str| optional(schema, name, |value| value.as_str().map(str::to_owned));
        Ok(Rules {
            format: text("format")?.unwrap_or_default(),
            maximum: number("maximum")?.map(|maximum| (maximum, no_maximum)),
            minimum: number("minimum")?.map(|minimum| (minimum, no_minimum)),
            multiple_of: number("multipleOf")?,
            max_length: count("maxLength")?,
            min_length: count("minLength")?,
            pattern: text("pattern")?.filter(|pattern| !pattern.is_empty()).map(|pattern| {
                // Linear in the text, and bounded in memory.
                let compiled = RegexBuilder::new(&pattern).size_limit(MAX_PATTERN_SIZE).build();
                (pattern, compiled.map_err(|error| reason(&error)))
            }),
            max_items: count("maxItems")?,
            min_items: count("minItems")?,
            max_properties: count("maxProperties")?,
            min_properties: count("minProperties")?,
            required: words(schema, "required")?,
            values: list(schema, "enum")?.to_vec(),
            all_of,
            any_of,
            one_of,
            not,
        })
    }
}

/// The last line says what is wrong; those before draw where.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().next_back().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

fn optional<T>(
    schema: &Value,
    name: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Option<T>, SchemaError> {
    match schema.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => read(value).map(Some).ok_or_else(|| SchemaError::WrongType(name.to_owned())),
    }
}

fn list<'a>(schema: &'a Value, name: &str) -> Result<&'a [Value], SchemaError> {
    match schema.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(SchemaError::WrongType(name.to_owned())),
    }
}

fn words(schema: &Value, name: &str) -> Result<Vec<String>, SchemaError> {
    let wrong = || SchemaError::WrongType(name.to_owned());
    let words = list(schema, name)?.iter().map(|word| word.as_str().map(str::to_owned).ok_or_else(wrong));
    words.collect()
}
