//! Writes a JSON value as the message that a table describes.

use kube_wire::protobuf::Writer;
use serde_json::{Map, Value};

/// A message: its fields in the order of their numbers.
pub(super) struct Message {
    pub(super) fields: &'static [Field],
    /// The number of the field for `x-…`.
    pub(super) extension: Option<u32>,
}

/// A field: its key in JSON, its number, and what it holds.
pub(super) struct Field(pub(super) &'static str, pub(super) u32, pub(super) Kind);

/// What a field holds.
pub(super) enum Kind {
    Text,
    Bool,
    Int,
    Float,
    /// A `Value`, once.
    One(&'static Form),
    /// A list, one field for each item.
    Many(&'static Form),
    /// A list of strings.
    Texts,
    /// An object as a message of named entries with this number.
    Map(&'static Form),
}

/// The forms in which a value becomes a message.
pub(super) enum Form {
    /// An object, by its table.
    Object(&'static Message),
    /// Anything, as YAML.
    Any,
    /// A string, or an object when there are several forms of it, each within its own field.
    Choice(fn(&Value) -> Option<(u32, &'static Form)>),
    /// A schema, or yes or no.
    SchemaOrBool(&'static Form),
    /// One string or several.
    Strings,
    /// A schema as the only item of a list.
    Item(&'static Form),
    /// Names with strings.
    StringMap,
    /// Names with this form.
    Named(&'static Form),
    /// `Responses`: answers by code, and extensions.
    Responses(&'static Form),
}

pub(super) fn message(writer: &mut Writer, table: &Message, value: &Value) {
    let Value::Object(fields) = value else { return };
    for Field(key, number, kind) in table.fields {
        if let Some(value) = fields.get(*key) {
            field(writer, *number, kind, value);
        }
    }
    if let Some(number) = table.extension {
        extensions(writer, number, fields);
    }
}

fn extensions(writer: &mut Writer, number: u32, fields: &Map<String, Value>) {
    for (key, value) in fields.iter().filter(|(key, _)| key.starts_with("x-")) {
        named(writer, number, key, &Form::Any, value);
    }
}

/// Zero, false and the empty string are left out, as proto3 does.
fn field(writer: &mut Writer, number: u32, kind: &Kind, value: &Value) {
    match (kind, value) {
        (Kind::Text, value) => writer.string_unless_empty(number, &text(value).unwrap_or_default()),
        (Kind::Bool, Value::Bool(true)) => writer.bool(number, true),
        (Kind::Int, Value::Number(value)) => {
            if let Some(value) = value.as_i64().filter(|value| *value != 0) {
                writer.int(number, value);
            }
        }
        (Kind::Float, Value::Number(value)) => {
            if let Some(value) = value.as_f64().filter(|value| *value != 0.0) {
                writer.double(number, value);
            }
        }
        (Kind::One(kind), value) => form(writer, number, kind, value),
        (Kind::Many(kind), Value::Array(items)) => {
            items.iter().for_each(|item| form(writer, number, kind, item))
        }
        (Kind::Texts, Value::Array(items)) => {
            items.iter().filter_map(text).for_each(|item| writer.string(number, &item));
        }
        (Kind::Map(kind), Value::Object(entries)) => {
            writer.message(number, |writer| {
                entries.iter().for_each(|(name, value)| named(writer, 1, name, kind, value))
            });
        }
        _ => {}
    }
}

/// An entry of a map: `{name = 1, value = 2}`.
pub(super) fn named(writer: &mut Writer, number: u32, name: &str, kind: &Form, value: &Value) {
    writer.message(number, |writer| {
        writer.string_unless_empty(1, name);
        form(writer, 2, kind, value);
    });
}

fn form(writer: &mut Writer, number: u32, kind: &Form, value: &Value) {
    match (kind, value) {
        (Form::Object(table), Value::Object(_)) => {
            writer.message(number, |writer| message(writer, table, value))
        }
        (Form::Any, value) => writer.message(number, |writer| writer.string(2, &yaml(value))),
        (Form::Choice(choose), value) => {
            if let Some((inner, kind)) = choose(value) {
                writer.message(number, |writer| form(writer, inner, kind, value));
            }
        }
        // Within a oneof false is written too.
        (Form::SchemaOrBool(_), Value::Bool(flag)) => writer.message(number, |writer| writer.bool(2, *flag)),
        (Form::SchemaOrBool(schema) | Form::Item(schema), Value::Object(_)) => {
            writer.message(number, |writer| form(writer, 1, schema, value));
        }
        (Form::Strings, Value::String(only)) => writer.message(number, |writer| writer.string(1, only)),
        (Form::Strings, Value::Array(items)) => writer.message(number, |writer| {
            items.iter().filter_map(text).for_each(|item| writer.string(1, &item));
        }),
        (Form::StringMap, Value::Object(entries)) => writer.message(number, |writer| {
            for (name, value) in entries {
                writer.message(1, |writer| {
                    writer.string_unless_empty(1, name);
                    writer.string_unless_empty(2, &text(value).unwrap_or_default());
                });
            }
        }),
        (Form::Named(kind), Value::Object(entries)) => writer.message(number, |writer| {
            entries.iter().for_each(|(name, value)| named(writer, 1, name, kind, value));
        }),
        (Form::Responses(kind), Value::Object(entries)) => writer.message(number, |writer| {
            let codes = entries.iter().filter(|(code, _)| !code.starts_with("x-"));
            codes.for_each(|(code, value)| named(writer, 1, code, kind, value));
            extensions(writer, 2, entries);
        }),
        _ => {}
    }
}

/// Strings, and whole numbers as upstream's reader takes them.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
        _ => None,
    }
}

/// JSON is YAML, but for a few control characters that YAML wants escaped.
fn yaml(value: &Value) -> String {
    let json = value.to_string();
    if !json.contains(is_unprintable) {
        return json + "\n";
    }
    let mut yaml = String::with_capacity(json.len() + 8);
    for c in json.chars() {
        match is_unprintable(c) {
            true => yaml.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => yaml.push(c),
        }
    }
    yaml + "\n"
}

fn is_unprintable(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}
