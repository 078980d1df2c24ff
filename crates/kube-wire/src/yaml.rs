//! YAML of a JSON value: block style, keys in alphabetical order, as upstream writes it.

use serde_json::Value;

/// The value as a YAML document.
pub fn document(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(_) | Value::Array(_) => block(value, 0, &mut text),
        scalar => text.push_str(&inline(scalar)),
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn block(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<_> = fields.iter().collect();
            keys.sort_by_key(|(key, _)| *key);
            for (number, (key, value)) in keys.into_iter().enumerate() {
                // The first line of an item stands behind its dash.
                if number > 0 || !text.ends_with("- ") {
                    text.push_str(&" ".repeat(indent));
                }
                text.push_str(&scalar(key));
                text.push(':');
                entry(value, indent, text);
            }
        }
        Value::Array(items) => {
            for item in items {
                text.push_str(&" ".repeat(indent));
                text.push_str("- ");
                match item {
                    Value::Object(fields) if !fields.is_empty() => block(item, indent + 2, text),
                    other => {
                        text.push_str(&inline(other));
                        text.push('\n');
                    }
                }
            }
        }
        _ => {}
    }
}

fn entry(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            text.push('\n');
            block(value, indent + 2, text);
        }
        Value::Array(items) if !items.is_empty() => {
            text.push('\n');
            block(value, indent, text);
        }
        other => {
            text.push(' ');
            text.push_str(&inline(other));
            text.push('\n');
        }
    }
}

/// In one line; every JSON text is YAML's flow style.
fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// Bare when it can only be read as the same string, else in double quotes.
fn scalar(text: &str) -> String {
    let bare = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || " ._/-".contains(c))
        && !is_keyword(text);
    if bare { text.to_owned() } else { Value::from(text).to_string() }
}

/// Words that YAML 1.1 readers take for Booleans, nulls or numbers.
fn is_keyword(text: &str) -> bool {
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}
