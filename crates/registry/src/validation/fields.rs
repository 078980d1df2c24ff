//! Reads the fields of a JSON object one by one, remembers which were asked for, and reports the rest.

use serde_json::{Map, Value};

use super::{ProblemKind, Problems};

/// How near a name must be to be suggested (0 to 1).
const SIMILAR: f64 = 0.7;

/// A JSON object under inspection.
pub(crate) struct Fields<'a> {
    path: String,
    object: Option<&'a Map<String, Value>>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The object `value` at `path`; anything but an object is reported and reads as empty.
    pub(crate) fn of(path: &str, value: &'a Value, problems: &mut Problems) -> Self {
        if !value.is_object() {
            wrong_type(path, "an object", value, problems);
        }
        Self { path: path.to_owned(), object: value.as_object(), known: Vec::new() }
    }

    /// Path of `field` in this object.
    pub(crate) fn path(&self, field: &str) -> String {
        if self.path.is_empty() { field.to_owned() } else { format!("{}.{field}", self.path) }
    }

    /// The value of `field`; null is as good as absent, as everywhere in the Kubernetes API.
    pub(crate) fn get(&mut self, field: &'static str) -> Option<&'a Value> {
        self.known.push(field);
        self.object?.get(field).filter(|value| !value.is_null())
    }

    /// The text in `field`.
    pub(crate) fn text(&mut self, field: &'static str, problems: &mut Problems) -> Option<&'a str> {
        let value = self.get(field)?;
        if !value.is_string() {
            wrong_type(&self.path(field), "a string", value, problems);
        }
        value.as_str()
    }

    /// The text in `field`, which has to be there and not empty.
    pub(crate) fn required_text(
        &mut self,
        field: &'static str,
        why: &str,
        problems: &mut Problems,
    ) -> Option<&'a str> {
        if self.object?.get(field).is_none_or(|value| value.is_null() || value == "") {
            self.known.push(field);
            problems.required(&self.path(field), why);
            return None;
        }
        self.text(field, problems)
    }

    /// The whole number in `field`.
    pub(crate) fn integer(&mut self, field: &'static str, problems: &mut Problems) -> Option<i64> {
        let value = self.get(field)?;
        if value.as_i64().is_none() {
            wrong_type(&self.path(field), "an integer", value, problems);
        }
        value.as_i64()
    }

    /// The truth value in `field`.
    pub(crate) fn boolean(&mut self, field: &'static str, problems: &mut Problems) -> Option<bool> {
        let value = self.get(field)?;
        if !value.is_boolean() {
            wrong_type(&self.path(field), "true or false", value, problems);
        }
        value.as_bool()
    }

    /// The list in `field`.
    pub(crate) fn list(&mut self, field: &'static str, problems: &mut Problems) -> Option<&'a Vec<Value>> {
        let value = self.get(field)?;
        if !value.is_array() {
            wrong_type(&self.path(field), "a list", value, problems);
        }
        value.as_array()
    }

    /// The object in `field`.
    pub(crate) fn object(&mut self, field: &'static str, problems: &mut Problems) -> Option<Fields<'a>> {
        let value = self.get(field)?;
        Some(Fields::of(&self.path(field), value, problems))
    }

    /// Reports every field that nobody asked for.
    pub(crate) fn finish(self, problems: &mut Problems) {
        let Some(object) = self.object else { return };
        for name in object.keys().filter(|name| !self.known.contains(&name.as_str())) {
            let suggestion = nearest(name, &self.known).map(|known| format!("did you mean {known:?}?"));
            problems.report(&self.path(name), ProblemKind::Unknown, "unknown field", suggestion);
        }
    }
}

/// Which of `known` was probably meant by `name`.
pub(crate) fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let lower = name.to_lowercase();
    known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(&lower, &candidate.to_lowercase()), *candidate))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

fn wrong_type(path: &str, expected: &str, value: &Value, problems: &mut Problems) {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    problems.report(path, ProblemKind::WrongType, format!("must be {expected}, not {found}"), None);
}
