//! What keeps an object from being a value of its type.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::validation::{FieldError, Path};

/// Fields that must be there and are not, in the words of kube-apiserver; and when that is not it, the field
/// that does not fit.
pub(crate) fn misfit<T: JsonSchema + DeserializeOwned>(body: &Value) -> Vec<FieldError> {
    let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>().to_value();
    let mut errors = Vec::new();
    Walk { root: &schema, errors: &mut errors }.value(&schema, body, "", 0);
    if errors.is_empty()
        && let Err(error) = serde_path_to_error::deserialize::<_, T>(body)
    {
        let place = match error.path().to_string() {
            place if place == "." => "<root>".to_owned(),
            place => place,
        };
        let shown = at(body, &place).cloned().unwrap_or_default();
        errors.push(FieldError::invalid(&Path::new(&place), shown, error.inner().to_string()));
    }
    errors
}

/// As deep as objects can be.
const MAX_DEPTH: usize = 128;

struct Walk<'s, 'e> {
    root: &'s Value,
    errors: &'e mut Vec<FieldError>,
}

impl<'s> Walk<'s, '_> {
    fn value(&mut self, schema: &'s Value, value: &Value, path: &str, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let schema = self.resolved(schema);
        match value {
            Value::Object(map) => {
                let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
                for name in required.filter(|name| map.get(*name).is_none_or(Value::is_null)) {
                    self.errors.push(FieldError::required(&Path::new(&below(path, name)), ""));
                }
                for (name, value) in map {
                    let own = schema["properties"].get(name).or(schema.get("additionalProperties"));
                    if let Some(schema) = own {
                        self.value(schema, value, &below(path, name), depth + 1);
                    }
                }
            }
            Value::Array(items) => {
                for (number, item) in items.iter().enumerate() {
                    self.value(&schema["items"], item, &format!("{path}[{number}]"), depth + 1);
                }
            }
            _ => {}
        }
    }

    /// Behind references, and behind the choice between a value and null.
    fn resolved(&self, mut schema: &'s Value) -> &'s Value {
        for _ in 0..MAX_DEPTH {
            let reference = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
            let any_of = schema["anyOf"].as_array().filter(|choices| choices.len() == 2);
            let some = any_of.and_then(|choices| choices.iter().find(|choice| choice["type"] != "null"));
            match (reference.and_then(|place| self.root.pointer(place)), some) {
                (Some(found), _) => schema = found,
                (None, Some(found)) => schema = found,
                _ => break,
            }
        }
        schema
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let mut parts = path.split(['.', '[', ']']).filter(|part| !part.is_empty());
    parts.try_fold(value, |value, part| match value {
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        other => other.get(part),
    })
}
