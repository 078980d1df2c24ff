//! Whole documents.

use serde_json::Value;

/// JSON for people and programs, with a line end.
pub(crate) fn json(value: &Value) -> String {
    format!("{value:#}\n")
}

/// YAML, with a line end.
pub(crate) fn yaml(value: &Value) -> String {
    // A `Value` always has a YAML form; should the writer think otherwise, JSON is YAML too.
    match serde_saphyr::to_string(value) {
        Ok(text) if text.ends_with('\n') => text,
        Ok(text) => text + "\n",
        Err(_) => json(value),
    }
}

/// JSON on one line.
pub(crate) fn one_line(value: &Value) -> String {
    value.to_string()
}
