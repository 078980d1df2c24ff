//! A write that changes nothing but times is no write.

use serde_json::Value;

/// Gives `new` the times of `old`'s managed fields, if everything else is the same.
pub fn keep_times(new: &mut Value, old: &Value) {
    if timeless(new) == timeless(old)
        && let Some(metadata) = new.get_mut("metadata").and_then(Value::as_object_mut)
        && let Some(entries) = old["metadata"].get("managedFields")
    {
        metadata.insert("managedFields".to_owned(), entries.clone());
    }
}

/// An object without the times of its managed fields.
fn timeless(object: &Value) -> Value {
    let mut object = object.clone();
    let entries = object.get_mut("metadata").and_then(|metadata| metadata.get_mut("managedFields"));
    for entry in entries.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(entry) = entry.as_object_mut() {
            entry.remove("time");
        }
    }
    object
}
