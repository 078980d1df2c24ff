//! The shape of an object, held against the published schema: keys, types, allowed words, ranges.
//!
//! All mistakes are found in one pass. What is wrong is left out of the value that goes on, so that
//! the rules after this one see a well-formed object and still judge everything else.

use serde_json::{Map, Value};

use crate::{
    document::escape,
    finding::{Rule, did_you_mean},
    later,
};

/// A mistake of shape.
#[derive(Debug)]
pub(crate) struct Misshapen {
    pub(crate) pointer: String,
    pub(crate) value: Option<Value>,
    pub(crate) rule: Rule,
    pub(crate) reason: String,
    pub(crate) fix: String,
}

/// Checks `value`, and gives what is left of it.
pub(crate) fn check(schema: &Value, value: &Value) -> (Value, Vec<Misshapen>) {
    let mut checker = Checker { root: schema, found: Vec::new() };
    let kept = checker.value(schema, value, "").unwrap_or_else(|| Value::Object(Map::new()));
    (kept, checker.found)
}

struct Checker<'a> {
    root: &'a Value,
    found: Vec<Misshapen>,
}

impl Checker<'_> {
    fn add(&mut self, pointer: &str, value: Option<&Value>, reason: String, fix: String) {
        let (pointer, value) = (pointer.to_owned(), value.cloned());
        self.found.push(Misshapen { pointer, value, rule: Rule::Shape, reason, fix });
    }

    /// The value without what is wrong in it; none when it is wrong as a whole.
    fn value(&mut self, schema: &Value, value: &Value, pointer: &str) -> Option<Value> {
        let schema = resolve(self.root, schema);
        if let Some(words) = words(schema) {
            return self.word(&words, value, pointer);
        }
        if !self.right_type(schema, value, pointer) {
            return None;
        }
        match value {
            Value::Object(map) => Some(self.map(schema, map, pointer)),
            Value::Array(entries) => self.list(schema, entries, pointer),
            Value::Number(number) => {
                let good = self.in_range(schema, number.as_f64().unwrap_or_default(), value, pointer);
                good.then(|| value.clone())
            }
            other => Some(other.clone()),
        }
    }

    fn word(&mut self, words: &[&str], value: &Value, pointer: &str) -> Option<Value> {
        let given = value.as_str();
        if given.is_some_and(|given| words.contains(&given)) {
            return Some(value.clone());
        }
        let given = given.map_or_else(|| value.to_string(), str::to_owned);
        if let Some(later) = later::word(pointer, &given) {
            self.later(pointer, value, later);
            return None;
        }
        let fix = did_you_mean(&given, words.iter().copied(), "write one of");
        self.add(pointer, Some(value), "this word is not known here".to_owned(), fix);
        None
    }

    fn right_type(&mut self, schema: &Value, value: &Value, pointer: &str) -> bool {
        let allowed: Vec<&str> = match schema.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => return true,
        };
        if allowed.iter().any(|name| is_type(value, name)) {
            return true;
        }
        let wanted: Vec<&str> = allowed.iter().map(|name| type_name(name)).collect();
        let reason = format!("{} stands where {} belongs", described(value), wanted.join(" or "));
        self.add(pointer, Some(value), reason, type_fix(value, &allowed));
        false
    }

    fn map(&mut self, schema: &Value, map: &Map<String, Value>, pointer: &str) -> Value {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let others = schema.get("additionalProperties");
        let mut kept = Map::new();
        for (key, value) in map {
            let below = format!("{pointer}/{}", escape(key));
            let below_schema = match (properties.get(key), others) {
                (Some(schema), _) => schema,
                (None, Some(Value::Bool(false))) => {
                    self.unknown_key(properties, key, value, &below);
                    continue;
                }
                (None, Some(schema)) => schema,
                (None, None) => &Value::Bool(true),
            };
            kept.extend(self.value(below_schema, value, &below).map(|value| (key.clone(), value)));
        }
        self.required(schema, properties, map, pointer);
        self.together(schema, map, pointer);
        Value::Object(kept)
    }

    fn unknown_key(&mut self, properties: &Map<String, Value>, key: &str, value: &Value, pointer: &str) {
        if let Some(later) = later::key(pointer) {
            self.later(pointer, value, later);
            return;
        }
        let keys = properties.keys().map(String::as_str);
        let fix = did_you_mean(key, keys, "the keys here are");
        self.add(pointer, Some(value), "this key is not known".to_owned(), fix);
    }

    fn later(&mut self, pointer: &str, value: &Value, later: &later::Later) {
        let (reason, fix) = (later.reason.to_owned(), later.fix.to_owned());
        let (pointer, value) = (pointer.to_owned(), Some(value.clone()));
        self.found.push(Misshapen { pointer, value, rule: Rule::Later, reason, fix });
    }

    fn required(
        &mut self,
        schema: &Value,
        properties: &Map<String, Value>,
        map: &Map<String, Value>,
        pointer: &str,
    ) {
        let keys = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for key in keys.filter_map(Value::as_str).filter(|key| !map.contains_key(*key)) {
            let purpose = properties.get(key).and_then(|of| of.get("description")).and_then(Value::as_str);
            let purpose = purpose.unwrap_or_default().split(':').next().unwrap_or_default();
            let fix = format!("add it: {}", purpose.trim_end_matches('.'));
            self.add(&format!("{pointer}/{key}"), None, "this key is missing".to_owned(), fix);
        }
    }

    /// Keys of which only one may be there.
    fn together(&mut self, schema: &Value, map: &Map<String, Value>, pointer: &str) {
        let keys = schema.pointer("/not/required").and_then(Value::as_array);
        let Some(keys) = keys else { return };
        let names: Vec<&str> = keys.iter().filter_map(Value::as_str).collect();
        if names.iter().all(|name| map.contains_key(*name)) {
            let reason = format!("{} are given together", names.join(" and "));
            self.add(pointer, None, reason, "keep the one that shall be used".to_owned());
        }
    }

    fn list(&mut self, schema: &Value, entries: &[Value], pointer: &str) -> Option<Value> {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        if (entries.len() as u64) < least {
            self.add(pointer, None, "this list is empty".to_owned(), "add an entry".to_owned());
            return None;
        }
        let of_entry = schema.get("items").unwrap_or(&Value::Bool(true));
        let map_expected = is_map(resolve(self.root, of_entry));
        let mut kept = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            match self.value(of_entry, entry, &format!("{pointer}/{index}")) {
                Some(entry) => kept.push(entry),
                // Later entries keep their place, so that what is found in them has the right pointer.
                None if map_expected => kept.push(Value::Object(Map::new())),
                None => {}
            }
        }
        Some(Value::Array(kept))
    }

    fn in_range(&mut self, schema: &Value, number: f64, value: &Value, pointer: &str) -> bool {
        let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
        let (least, most) = (limit("minimum"), limit("maximum"));
        if least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most) {
            return true;
        }
        let fix = match (least, most) {
            (Some(least), Some(most)) => format!("write a number from {least} to {most}"),
            (Some(least), None) => format!("write a number from {least}"),
            (None, most) => format!("write a number up to {}", most.unwrap_or_default()),
        };
        self.add(pointer, Some(value), "this number is out of range".to_owned(), fix);
        false
    }
}

/// The definition that a schema refers to.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let reference = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
    reference.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

/// The words that a schema allows, where it allows nothing else.
fn words(schema: &Value) -> Option<Vec<&str>> {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return Some(words.iter().filter_map(Value::as_str).collect());
    }
    let branches = schema.get("oneOf")?.as_array()?;
    let word = |branch: &'_ Value| branch.get("const").and_then(Value::as_str).is_some();
    let consts = branches.iter().filter_map(|branch| branch.get("const")?.as_str());
    branches.iter().all(word).then(|| consts.collect())
}

fn is_map(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => false,
    }
}

fn type_name(name: &str) -> &str {
    match name {
        "object" => "a map",
        "array" => "a list",
        "string" => "text",
        "boolean" => "true or false",
        "integer" => "a whole number",
        other => other,
    }
}

fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

fn type_fix(value: &Value, allowed: &[&str]) -> String {
    match (value, allowed) {
        (Value::Null, _) => "give a value, or remove the key".to_owned(),
        (Value::Number(_) | Value::Bool(_), ["string"]) => format!("put it in quotes: \"{value}\""),
        (Value::String(text), ["integer"]) if text.parse::<u64>().is_ok() => {
            format!("write {text} without quotes")
        }
        (Value::String(text), ["boolean"]) if ["true", "false"].contains(&text.as_str()) => {
            format!("write {text} without quotes")
        }
        (Value::Object(_), ["array"]) => "begin each entry with \"- \"".to_owned(),
        (Value::String(text), ["array"]) => format!("write [{text:?}]"),
        _ => "see the schema: trellis cluster schema".to_owned(),
    }
}
