//! JSON and YAML as values, with what a strict reader has against them.

use std::{cell::RefCell, collections::HashSet, fmt};

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::syntax;
use crate::form::{Form, Kind};

/// Objects and lists in one another at most. The JSON reader stops a little earlier by itself.
pub const MAX_DEPTH: usize = 120;
/// Findings at most that are listed, for one document.
const MAX_FINDINGS: usize = 100;

/// A document that was read.
#[derive(Debug, PartialEq)]
pub struct Document {
    /// The last one of fields that stand there twice.
    pub value: Value,
    /// Unknown and duplicate fields, in the order in which they stand there.
    pub strict: Vec<String>,
}

/// A document that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidDocument(String);

impl InvalidDocument {
    /// A document that is a list, say.
    pub(super) fn not_an_object(value: &Value) -> Self {
        let found = syntax::type_name(value);
        Self(format!(
            "json: cannot unmarshal {found} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
        ))
    }

    /// A kind that is a number, say.
    pub(super) fn not_text(field: &str, value: &Value) -> Self {
        let found = syntax::type_name(value);
        Self(format!("json: cannot unmarshal {found} into Go struct field .{field} of type string"))
    }

    /// As the rest of a sentence.
    pub fn in_words(&self) -> String {
        format!("couldn't get version/kind; json parse error: {}", self.0)
    }
}

impl fmt::Display for InvalidDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads JSON.
///
/// # Errors
/// When it is none, in the words of Go's reader.
pub fn read_json(body: &[u8], form: Option<&Form>) -> Result<Document, InvalidDocument> {
    let findings = Findings::default();
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let read = seed(form, &findings).deserialize(&mut deserializer);
    let read = read.and_then(|value| deserializer.end().map(|()| value));
    match read {
        Ok(value) => Ok(Document { value, strict: findings.0.into_inner() }),
        Err(error) => Err(InvalidDocument(syntax::in_go_words(body, &error))),
    }
}

/// Reads YAML, within the bounds that keep small documents from becoming large ones.
///
/// # Errors
/// When it is none.
pub fn read_yaml(body: &[u8], form: Option<&Form>) -> Result<Document, InvalidDocument> {
    let text = std::str::from_utf8(body).map_err(|error| InvalidDocument(error.to_string()))?;
    let findings = Findings::default();
    let options =
        serde_saphyr::options! { duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::LastWins };
    let value = serde_saphyr::with_deserializer_from_str_with_options(text, options, |deserializer| {
        seed(form, &findings).deserialize(deserializer)
    });
    match value {
        Ok(value) => Ok(Document { value, strict: findings.0.into_inner() }),
        Err(error) => {
            let line = error.to_string().lines().next().unwrap_or_default().to_owned();
            Err(InvalidDocument(format!("error converting YAML to JSON: yaml: {line}")))
        }
    }
}

#[derive(Default)]
struct Findings(RefCell<Vec<String>>);

impl Findings {
    fn add(&self, what: &str, path: &str) {
        let mut findings = self.0.borrow_mut();
        let finding = format!("{what} field {path:?}");
        if findings.len() < MAX_FINDINGS && !findings.contains(&finding) {
            findings.push(finding);
        }
    }
}

fn seed<'s>(form: Option<&'s Form>, findings: &'s Findings) -> Seed<'s> {
    let kind = form.map_or(&Kind::Any, Form::root);
    Seed { form, kind, findings, path: String::new(), depth: 0 }
}

/// Reads one value, with the kind of value that should stand there.
struct Seed<'s> {
    form: Option<&'s Form>,
    kind: &'s Kind,
    findings: &'s Findings,
    path: String,
    depth: usize,
}

impl<'s> Seed<'s> {
    fn below(&self, kind: &'s Kind, path: String) -> Self {
        Self { form: self.form, kind, findings: self.findings, path, depth: self.depth + 1 }
    }

    fn too_deep<E: serde::de::Error>(&self) -> Result<(), E> {
        match self.depth > MAX_DEPTH {
            true => Err(E::custom("exceeded max depth")),
            false => Ok(()),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        self.too_deep()?;
        let element = self.form.map_or(&Kind::Any, |form| form.element(self.kind));
        let mut items = Vec::new();
        while let Some(item) =
            seq.next_element_seed(self.below(element, format!("{}[{}]", self.path, items.len())))?
        {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        self.too_deep()?;
        let mut fields = Map::new();
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key_seed(Key)? {
            let path = match &*self.path {
                "" => key.clone(),
                path => format!("{path}.{key}"),
            };
            let child = match self.form {
                Some(form) => form.child(self.kind, &key),
                None => Some(&Kind::Any),
            };
            if child.is_none() {
                self.findings.add("unknown", &path);
            } else if !seen.insert(key.clone()) {
                self.findings.add("duplicate", &path);
            }
            let value = map.next_value_seed(self.below(child.unwrap_or(&Kind::Any), path))?;
            fields.insert(key, value);
        }
        Ok(Value::Object(fields))
    }
}

/// A key; YAML knows others than strings.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = String;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Key {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key that is a string")
    }

    fn visit_str<E>(self, value: &str) -> Result<String, E> {
        Ok(value.to_owned())
    }

    fn visit_string<E>(self, value: String) -> Result<String, E> {
        Ok(value)
    }

    fn visit_bool<E>(self, value: bool) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_i64<E>(self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_u64<E>(self, value: u64) -> Result<String, E> {
        Ok(value.to_string())
    }
}
