//! Values compared and shown as upstream's library does.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use crate::patch::{go_value, quoted};

/// The same value; a whole number is the same as an integer and as a float.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => numbers(left, right) == Ordering::Equal,
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let same =
                |(name, left): (&String, &Value)| right.get(name).is_some_and(|right| equal(left, right));
            left.len() == right.len() && left.iter().all(same)
        }
        (left, right) => left == right,
    }
}

/// A total order: numbers, texts, booleans, lists, maps, null.
pub(super) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => numbers(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => {
            let differs = left.iter().zip(right).map(|(left, right)| compare(left, right));
            differs.into_iter().find(|order| order.is_ne()).unwrap_or(left.len().cmp(&right.len()))
        }
        (Value::Object(left), Value::Object(right)) => {
            let entries = left.iter().zip(right);
            let differs = entries.map(|(left, right)| left.0.cmp(right.0).then(compare(left.1, right.1)));
            differs.into_iter().find(|order| order.is_ne()).unwrap_or(left.len().cmp(&right.len()))
        }
        (left, right) => rank(left).cmp(&rank(right)),
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn numbers(left: &Number, right: &Number) -> Ordering {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => left.cmp(&right),
        // Neither is not a number: JSON has none.
        _ => left.as_f64().unwrap_or(0.0).total_cmp(&(right.as_f64().unwrap_or(0.0))),
    }
}

/// As in the path of a conflict.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(shown).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(map) => map.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect(),
        other => go_value(other),
    }
}

/// As `%#v` shows what Go reads it as.
pub(super) fn in_go(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(in_go).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(map) => {
            let entries: Vec<_> =
                map.iter().map(|(name, value)| format!("{}:{}", quoted(name), in_go(value))).collect();
            format!("map[string]interface {{}}{{{}}}", entries.join(", "))
        }
        other => go_value(other),
    }
}

/// JSON as Go writes it into the keys of managed fields: safe inside HTML.
pub(super) fn go_json(value: &Value) -> String {
    let text = value.to_string();
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' | '>' | '&' => safe.push_str(&format!("\\u{:04x}", u32::from(c))),
            '\u{2028}' | '\u{2029}' => safe.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => safe.push(c),
        }
    }
    safe
}
