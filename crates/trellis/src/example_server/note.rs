//! Kind `Note`: its names, what may stand in it, what the server adds.

use kube_wire::{Status, status::StatusCause};
use serde_json::{Map, Value, json};

/// API group.
pub(super) const GROUP: &str = "example.trellis.dev";
/// API version.
pub(super) const VERSION: &str = "v1";
/// Group and version as objects say it.
pub(super) const API_VERSION: &str = "example.trellis.dev/v1";
/// Kind.
pub(super) const KIND: &str = "Note";
/// Resource, as in paths.
pub(super) const RESOURCE: &str = "notes";

const MAX_TEXT: usize = 64 * 1024;
const MAX_TAGS: usize = 32;

const ROOT_FIELDS: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];
const SPEC_FIELDS: [&str; 3] = ["text", "tags", "pinned"];
const METADATA_FIELDS: [&str; 14] = [
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// `?fieldValidation=`: what happens with fields that a note does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FieldValidation {
    /// They are dropped.
    Ignore,
    /// They are dropped with a warning.
    #[default]
    Warn,
    /// The request fails.
    Strict,
}

impl FieldValidation {
    /// Reads the parameter; absent is `Warn`.
    pub(super) fn parse(value: Option<&str>) -> Result<Self, Status> {
        match value {
            None | Some("" | "Warn") => Ok(Self::Warn),
            Some("Ignore") => Ok(Self::Ignore),
            Some("Strict") => Ok(Self::Strict),
            Some(other) => Err(Status::bad_request(format!(
                "fieldValidation: Unsupported value: {other:?}: supported values: \"Ignore\", \"Warn\", \"Strict\""
            ))),
        }
    }
}

/// Checks that `object` is a note and drops what no note has; gives warnings back.
pub(super) fn decode(object: &mut Value, validation: FieldValidation) -> Result<Vec<String>, Status> {
    let Some(fields) = object.as_object_mut() else {
        return Err(Status::bad_request("the body is no object"));
    };
    expect(fields, "apiVersion", API_VERSION)?;
    expect(fields, "kind", KIND)?;
    fields.entry("metadata").or_insert_with(|| json!({}));
    let mut unknown = Vec::new();
    drop_unknown(object, &[], &ROOT_FIELDS, &mut unknown)?;
    drop_unknown(object, &["metadata"], &METADATA_FIELDS, &mut unknown)?;
    drop_unknown(object, &["spec"], &SPEC_FIELDS, &mut unknown)?;
    if let Some(fields) = object.as_object_mut() {
        // Only the server writes the status.
        fields.remove("status");
    }
    let warnings = unknown.into_iter().map(|field| format!("unknown field \"{field}\""));
    match validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Warn => Ok(warnings.collect()),
        FieldValidation::Strict => match warnings.collect::<Vec<_>>() {
            warnings if warnings.is_empty() => Ok(warnings),
            warnings => {
                let sentence = format!("strict decoding error: {}", warnings.join(", "));
                Err(Status::bad_request(sentence))
            }
        },
    }
}

fn expect(fields: &mut Map<String, Value>, key: &str, expected: &str) -> Result<(), Status> {
    match fields.entry(key).or_insert_with(|| Value::String(expected.to_owned())) {
        Value::String(given) if given == expected => Ok(()),
        given => Err(Status::bad_request(format!(
            "{key} in the data ({given}) does not match the expected {expected}"
        ))),
    }
}

fn drop_unknown(
    object: &mut Value,
    path: &[&str],
    known: &[&str],
    unknown: &mut Vec<String>,
) -> Result<(), Status> {
    let Some(part) = path.iter().try_fold(object, |value, key| value.get_mut(key)) else { return Ok(()) };
    let Some(fields) = part.as_object_mut() else {
        return Err(Status::bad_request(format!("{} is no object", path.join("."))));
    };
    fields.retain(|key, value| {
        let keep = known.contains(&&**key);
        if !keep {
            unknown.push(path.iter().copied().chain([&**key]).collect::<Vec<_>>().join("."));
        }
        // A null says nothing; as upstream, it is as if it were not there.
        keep && !value.is_null()
    });
    Ok(())
}

/// What is wrong with the values of a note; empty when nothing is.
pub(super) fn validate(object: &Value) -> Vec<StatusCause> {
    let mut causes = Vec::new();
    let mut wrong = |reason: &str, field: &str, message: String| {
        causes.push(StatusCause { reason: reason.to_owned(), field: field.to_owned(), message });
    };
    match &object["spec"]["text"] {
        Value::String(text) if text.len() <= MAX_TEXT => {}
        Value::String(_) => {
            wrong(
                "FieldValueTooLong",
                "spec.text",
                format!("Too long: may not be more than {MAX_TEXT} bytes"),
            );
        }
        Value::Null => wrong("FieldValueRequired", "spec.text", "Required value".to_owned()),
        other => {
            wrong("FieldValueTypeInvalid", "spec.text", format!("Invalid value: {other}: must be a string"))
        }
    }
    match &object["spec"]["pinned"] {
        Value::Null | Value::Bool(_) => {}
        other => wrong(
            "FieldValueTypeInvalid",
            "spec.pinned",
            format!("Invalid value: {other}: must be a boolean"),
        ),
    }
    match &object["spec"]["tags"] {
        Value::Null => {}
        Value::Array(tags) if tags.len() <= MAX_TAGS && tags.iter().all(Value::is_string) => {}
        other => wrong(
            "FieldValueInvalid",
            "spec.tags",
            format!("Invalid value: {other}: must be at most {MAX_TAGS} strings"),
        ),
    }
    let metadata = &object["metadata"];
    for map in ["labels", "annotations"] {
        let strings = match &metadata[map] {
            Value::Null => true,
            Value::Object(entries) => entries.values().all(Value::is_string),
            _ => false,
        };
        if !strings {
            wrong(
                "FieldValueInvalid",
                &format!("metadata.{map}"),
                "Invalid value: must map strings to strings".to_owned(),
            );
        }
    }
    for list in ["finalizers", "ownerReferences", "managedFields"] {
        if !matches!(metadata[list], Value::Null | Value::Array(_)) {
            wrong(
                "FieldValueTypeInvalid",
                &format!("metadata.{list}"),
                "Invalid value: must be a list".to_owned(),
            );
        }
    }
    match &metadata["name"] {
        Value::String(name) if is_dns_subdomain(name) => {}
        Value::Null => wrong(
            "FieldValueRequired",
            "metadata.name",
            "Required value: name or generateName is required".to_owned(),
        ),
        other => wrong(
            "FieldValueInvalid",
            "metadata.name",
            format!(
                "Invalid value: {other}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
                     characters, '-' or '.', and must start and end with an alphanumeric character"
            ),
        ),
    }
    causes
}

fn is_dns_subdomain(name: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(label)
}

/// The status, which the server computes: who wrote the note first, and how long it is.
pub(super) fn set_status(object: &mut Value, author: &str) {
    let words = object["spec"]["text"].as_str().unwrap_or_default().split_whitespace().count();
    object["status"] = json!({ "author": author, "words": words });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_are_told_dropped_or_refused() {
        let note = || json!({"metadata": {"name": "a", "x": 1}, "spec": {"text": "t", "y": null}, "z": {}});
        let mut dropped = note();
        let mut warnings = decode(&mut dropped, FieldValidation::Warn).expect("warned");
        warnings.sort();
        assert_eq!(
            warnings,
            [r#"unknown field "metadata.x""#, r#"unknown field "spec.y""#, r#"unknown field "z""#]
        );
        assert_eq!(
            dropped,
            json!({"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": "a"}, "spec": {"text": "t"}})
        );
        assert!(decode(&mut note(), FieldValidation::Ignore).expect("ignored").is_empty());
        assert_eq!(decode(&mut note(), FieldValidation::Strict).expect_err("strict").code, 400);
    }

    #[test]
    fn every_wrong_value_is_named() {
        for (object, field) in [
            (json!({"metadata": {"name": "a"}}), "spec.text"),
            (json!({"metadata": {"name": "a"}, "spec": {"text": 1}}), "spec.text"),
            (json!({"metadata": {"name": "A"}, "spec": {"text": ""}}), "metadata.name"),
            (json!({"metadata": {}, "spec": {"text": ""}}), "metadata.name"),
            (json!({"metadata": {"name": "a"}, "spec": {"text": "", "pinned": 1}}), "spec.pinned"),
            (json!({"metadata": {"name": "a"}, "spec": {"text": "", "tags": [1]}}), "spec.tags"),
            (json!({"metadata": {"name": "a", "labels": {"a": 1}}, "spec": {"text": ""}}), "metadata.labels"),
            (
                json!({"metadata": {"name": "a", "finalizers": {}}, "spec": {"text": ""}}),
                "metadata.finalizers",
            ),
        ] {
            let causes = validate(&object);
            assert_eq!(causes.iter().map(|cause| &*cause.field).collect::<Vec<_>>(), [field], "{object}");
        }
        assert!(
            validate(&json!({"metadata": {"name": "a.b"}, "spec": {"text": "", "tags": ["x"]}})).is_empty()
        );
    }
}
