//! Sets without duplicates, lists without the same keys twice.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{super::structural::Structural, child, field};
use crate::validation::FieldError;

pub(super) fn validate(data: &Value, schema: &Structural, path: &str, errors: &mut Vec<FieldError>) {
    match data {
        Value::Object(map) => {
            for (name, value) in map {
                if let Some(property) = schema.properties.get(name) {
                    validate(value, property, &child(path, name), errors);
                } else if let Some(entry) = schema.entry(name) {
                    validate(value, entry, &format!("{path}[{name}]"), errors);
                }
            }
        }
        Value::Array(items) => {
            match schema.list_type.as_deref() {
                Some("set") => twice(items, path, errors),
                Some("map") => keyed(items, &schema.list_map_keys, path, errors),
                _ => {}
            }
            if let Some(schema) = &schema.items {
                for (number, item) in items.iter().enumerate() {
                    validate(item, schema, &format!("{path}[{number}]"), errors);
                }
            }
        }
        _ => {}
    }
}

/// Elements that are there for the second time.
fn twice(items: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (number, item) in items.iter().enumerate() {
        let times = seen.entry(item.to_string()).or_insert(0);
        *times += 1;
        if *times == 2 {
            errors.push(FieldError::duplicate(&field(path).index(number), item));
        }
    }
}

fn keyed(items: &[Value], keys: &[String], path: &str, errors: &mut Vec<FieldError>) {
    if let Some((number, item)) =
        items.iter().enumerate().find(|(_, item)| !item.is_null() && !item.is_object())
    {
        let detail = "must be an object for an array of list-type map";
        return errors.push(FieldError::invalid(&field(path).index(number), item, detail));
    }
    let key = |item: &Value| {
        let pairs = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
        Value::Object(pairs.collect::<Map<_, _>>())
    };
    twice(&items.iter().map(key).collect::<Vec<_>>(), path, errors);
}
