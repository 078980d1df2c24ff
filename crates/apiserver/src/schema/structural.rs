//! Structural schemas of custom resources: `openAPIV3Schema`, read and bounded.

mod check;
mod read;

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

pub use check::check;
pub use read::{SchemaError, read_schema};

/// Schemas inside each other.
pub const MAX_DEPTH: usize = 100;
/// Schemas in one schema.
pub const MAX_SCHEMAS: usize = 50_000;
/// Bytes that the program of one pattern may take.
pub const MAX_PATTERN_SIZE: usize = 1 << 20;

/// A schema. Nested ones under `allOf`, `anyOf`, `oneOf` and `not` are of the same type.
#[derive(Clone, Debug, Default)]
pub struct Structural {
    /// `object`, `array`, `string`, `integer`, `number`, `boolean`; empty when it is not given.
    pub kind: String,
    /// Whether null is a value.
    pub nullable: bool,
    /// What it is when it is absent.
    pub default: Option<Value>,
    /// Declared fields.
    pub properties: BTreeMap<String, Structural>,
    /// Every other entry.
    pub additional: Option<Additional>,
    /// Elements of a list.
    pub items: Option<Box<Structural>>,
    /// `x-kubernetes-preserve-unknown-fields`.
    pub preserve_unknown_fields: bool,
    /// `x-kubernetes-embedded-resource`.
    pub embedded_resource: bool,
    /// `x-kubernetes-int-or-string`.
    pub int_or_string: bool,
    /// `x-kubernetes-list-type`.
    pub list_type: Option<String>,
    /// `x-kubernetes-list-map-keys`.
    pub list_map_keys: Vec<String>,
    /// `x-kubernetes-map-type`.
    pub map_type: Option<String>,
    /// `x-kubernetes-validations` as they were written: whoever has a CEL library evaluates them. Nothing
    /// here does.
    pub cel_rules: Vec<Value>,
    /// What values must fulfil.
    pub rules: Rules,
    /// Members that are only for people: title and description.
    pub(super) described: Vec<&'static str>,
    /// Members that JSON schema has and custom resources may not have.
    pub(super) unsupported: Vec<&'static str>,
    /// Whether there is any member besides type, properties and default.
    pub(super) qualified: bool,
}

/// `additionalProperties`.
#[derive(Clone, Debug)]
pub enum Additional {
    /// True or false.
    Allowed(bool),
    /// A schema.
    Schema(Box<Structural>),
}

/// What values must fulfil.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// `format`.
    pub format: String,
    /// `maximum`, and whether it is excluded.
    pub maximum: Option<(f64, bool)>,
    /// `minimum`, and whether it is excluded.
    pub minimum: Option<(f64, bool)>,
    /// `multipleOf`.
    pub multiple_of: Option<f64>,
    /// `maxLength`, in characters.
    pub max_length: Option<i64>,
    /// `minLength`, in characters.
    pub min_length: Option<i64>,
    /// `pattern`, as it was written and compiled, or why it is none.
    pub pattern: Option<(String, Result<Regex, String>)>,
    /// `maxItems`.
    pub max_items: Option<i64>,
    /// `minItems`.
    pub min_items: Option<i64>,
    /// `maxProperties`.
    pub max_properties: Option<i64>,
    /// `minProperties`.
    pub min_properties: Option<i64>,
    /// `required`.
    pub required: Vec<String>,
    /// `enum`.
    pub values: Vec<Value>,
    /// `allOf`.
    pub all_of: Vec<Structural>,
    /// `anyOf`.
    pub any_of: Vec<Structural>,
    /// `oneOf`.
    pub one_of: Vec<Structural>,
    /// `not`.
    pub not: Option<Box<Structural>>,
}

impl Structural {
    /// The schema of the entry of this name.
    pub(super) fn entry(&self, name: &str) -> Option<&Structural> {
        match (self.properties.get(name), &self.additional) {
            (Some(schema), _) => Some(schema),
            (None, Some(Additional::Schema(schema))) => Some(schema),
            _ => None,
        }
    }
}
