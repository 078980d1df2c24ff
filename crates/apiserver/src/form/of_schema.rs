//! From the JSON schema of a type to its form.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{Form, Kind, OBJECT_META, Struct};

/// Schemas nested deeper than this are taken for anything.
const MAX_DEPTH: usize = 64;

impl Form {
    /// The form of an object of which only the metadata are known.
    pub fn of_metadata(kind: &str) -> Self {
        let fields = [("metadata".to_owned(), OBJECT_META.clone())].into();
        let root = Struct { name: kind.to_owned(), fields, open: true };
        Self { root: Kind::Struct(Arc::new(root)), named: BTreeMap::new() }
    }

    /// The form of the objects that a JSON schema describes; `kind` names the object in messages. What the
    /// schema says in a way that is not understood takes anything.
    pub fn of_schema(kind: &str, schema: &Value) -> Self {
        let mut named = BTreeMap::new();
        let definitions = schema.get("$defs").and_then(Value::as_object);
        for (name, schema) in definitions.into_iter().flatten() {
            if let Kind::Struct(fields) = read(name, schema, 0) {
                named.insert(name.clone(), fields);
            }
        }
        // Definitions that are no structs are put in where they are named.
        let simple: BTreeMap<_, _> = definitions
            .into_iter()
            .flatten()
            .filter(|(name, _)| !named.contains_key(*name))
            .map(|(name, schema)| (name.clone(), read(name, schema, 0)))
            .collect();
        for fields in named.values_mut() {
            let mut own = (**fields).clone();
            own.fields.values_mut().for_each(|field| replace(field, &simple, 0));
            *fields = Arc::new(own);
        }
        let mut root = match read(kind, schema, 0) {
            Kind::Struct(fields) => (*fields).clone(),
            _ => Struct { name: kind.to_owned(), open: true, ..Struct::default() },
        };
        root.fields.values_mut().for_each(|field| replace(field, &simple, 0));
        kind.clone_into(&mut root.name);
        for name in ["apiVersion", "kind"] {
            root.fields.insert(name.to_owned(), Kind::Text("string"));
        }
        root.fields.insert("metadata".to_owned(), OBJECT_META.clone());
        Self { root: Kind::Struct(Arc::new(root)), named }
    }
}

fn read(name: &str, schema: &Value, depth: usize) -> Kind {
    if depth > MAX_DEPTH {
        return Kind::Any;
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return Kind::Named(reference.rsplit('/').next().unwrap_or_default().to_owned());
    }
    if let Some(kind) = alternatives(name, schema, depth) {
        return kind;
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let texts: Option<Vec<_>> = words
            .iter()
            .filter(|word| !word.is_null())
            .map(|word| word.as_str().map(str::to_owned))
            .collect();
        return texts.map_or(Kind::Any, Kind::Choice);
    }
    match type_of(schema) {
        Some("string") => match schema.get("format").and_then(Value::as_str) {
            Some("date-time") => Kind::Time,
            _ => Kind::Text("string"),
        },
        Some("boolean") => Kind::Boolean,
        Some("integer") => Kind::Integer(integer(schema)),
        Some("number") => Kind::Number,
        Some("array") => match schema.get("items") {
            Some(items) => Kind::List(Box::new(read(name, items, depth + 1))),
            None => Kind::List(Box::new(Kind::Any)),
        },
        Some("object") => object(name, schema, depth),
        _ => Kind::Any,
    }
}

/// `anyOf` with null, `allOf` of one, and `oneOf` of words.
fn alternatives(name: &str, schema: &Value, depth: usize) -> Option<Kind> {
    let several = ["anyOf", "allOf", "oneOf"].iter().find_map(|word| schema.get(*word)?.as_array())?;
    let real: Vec<_> = several.iter().filter(|one| type_of(one) != Some("null")).collect();
    if let [one] = *real {
        return Some(read(name, one, depth + 1));
    }
    let words: Option<Vec<_>> = real.iter().map(|one| word(one)).collect();
    Some(words.map_or(Kind::Any, |words| Kind::Choice(words.concat())))
}

/// The strings that a schema allows, when it allows strings alone.
fn word(schema: &Value) -> Option<Vec<String>> {
    if let Some(text) = schema.get("const").and_then(Value::as_str) {
        return Some(vec![text.to_owned()]);
    }
    let words = schema.get("enum")?.as_array()?;
    words.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

/// The type, without null.
fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    }
}

fn integer(schema: &Value) -> &'static str {
    match schema.get("format").and_then(Value::as_str) {
        Some("int32" | "uint16" | "int16" | "uint8" | "int8") => "int32",
        _ => "int64",
    }
}

fn object(name: &str, schema: &Value, depth: usize) -> Kind {
    let values = schema.get("additionalProperties");
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return match values {
            Some(values @ Value::Object(_)) => Kind::Map(Box::new(read(name, values, depth + 1))),
            _ => Kind::Any,
        };
    };
    let fields = properties.iter().map(|(key, schema)| (key.clone(), read(key, schema, depth + 1))).collect();
    let open = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true))
        || values.is_some_and(|values| *values != Value::Bool(false));
    Kind::Struct(Arc::new(Struct { name: name.to_owned(), fields, open }))
}

fn replace(kind: &mut Kind, simple: &BTreeMap<String, Kind>, depth: usize) {
    match kind {
        Kind::Named(name) if depth < MAX_DEPTH => {
            if let Some(other) = simple.get(name) {
                *kind = other.clone();
                replace(kind, simple, depth + 1);
            }
        }
        Kind::List(inner) | Kind::Map(inner) => replace(inner, simple, depth + 1),
        Kind::Struct(fields) if depth < MAX_DEPTH => {
            let mut own = (**fields).clone();
            own.fields.values_mut().for_each(|field| replace(field, simple, depth + 1));
            *fields = Arc::new(own);
        }
        _ => {}
    }
}
