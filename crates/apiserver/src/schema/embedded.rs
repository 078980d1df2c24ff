//! Objects inside of objects: their kind, version and metadata.

use std::sync::LazyLock;

use kube_wire::object::ObjectMeta;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::{
    structural::{Additional, Structural},
    validate::child,
};
use crate::{
    form::{Form, Misfit, OBJECT_META, fit},
    validation::{FieldError, Path, names, validate_metadata},
};

static METADATA: LazyLock<Form> = LazyLock::new(|| Form::of(OBJECT_META.clone()));
/// Stands for a name that need not be there.
const ANY_NAME: &str = "fakename";

/// Brings the metadata of embedded objects into form: unknown fields go, and their paths are what comes
/// back. `root` is whether the value itself is an object, `place` where it stands.
///
/// # Errors
/// For the first field of another type than it must have.
pub(super) fn coerce(
    value: &mut Value,
    schema: &Structural,
    root: bool,
    place: &str,
) -> Result<Vec<String>, FieldError> {
    let mut unknown = Vec::new();
    each(value, schema, root, place, &mut |object, place| {
        for name in ["apiVersion", "kind"] {
            if let Some(value) = object.get(name).filter(|value| !value.is_string()) {
                return Err(FieldError::invalid(&field(&child(place, name)), value, "must be a string"));
            }
        }
        let Some(metadata) = object.get_mut("metadata") else { return Ok(()) };
        let mut formed = if metadata.is_null() { Value::Object(Map::new()) } else { metadata.clone() };
        if let Err(misfit) = fit(&METADATA, "v1", &mut formed) {
            return Err(FieldError::invalid(&field(&child(place, "metadata")), metadata, words(misfit)));
        }
        if let (Value::Object(fields), Value::Object(left)) = (&*metadata, &formed) {
            let place = child(place, "metadata");
            let gone = fields.iter().filter(|(name, value)| !value.is_null() && !left.contains_key(*name));
            unknown.extend(gone.map(|(name, _)| child(&place, name)));
        }
        *metadata = formed;
        Ok(())
    })?;
    Ok(unknown)
}

/// What is wrong with kind, version and metadata of embedded objects.
pub(super) fn validate(value: &Value, schema: &Structural, root: bool, place: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut value = value.clone();
    let walked = each(&mut value, schema, root, place, &mut |object, place| {
        one(object, place, &mut errors);
        Ok(())
    });
    // The step above refuses nothing.
    let _ = walked;
    errors
}

fn one(object: &Map<String, Value>, place: &str, errors: &mut Vec<FieldError>) {
    for name in ["apiVersion", "kind"] {
        let at = field(&child(place, name));
        match object.get(name) {
            None => errors.push(FieldError::required(&at, "")),
            Some(Value::String(text)) if text.is_empty() => {
                errors.push(FieldError::invalid(&at, text, "must not be empty"));
            }
            Some(Value::String(text)) => {
                errors.extend(wrong_name(name, text).map(|detail| FieldError::invalid(&at, text, detail)));
            }
            Some(other) => errors.push(FieldError::invalid(&at, other, "must be a string")),
        }
    }
    let Some(metadata) = object.get("metadata") else { return };
    let at = child(place, "metadata");
    let mut formed = metadata.clone();
    let read = match fit(&METADATA, "v1", &mut formed) {
        Ok(()) => ObjectMeta::deserialize(&formed).map_err(|error| error.to_string()),
        Err(misfit) => Err(words(misfit)),
    };
    match read {
        Err(problem) => errors.push(FieldError::invalid(&field(&at), metadata, problem)),
        Ok(mut own) => {
            if own.name.is_empty() {
                ANY_NAME.clone_into(&mut own.name);
            }
            let namespaced = !own.namespace.is_empty();
            errors.extend(validate_metadata(&own, namespaced, names::path_segment).into_iter().map(
                |error| {
                    let path = error.field.to_string();
                    let below = path.strip_prefix("metadata").unwrap_or(&path);
                    FieldError { field: field(&format!("{at}{below}")), ..error }
                },
            ));
        }
    }
}

/// What is wrong with an `apiVersion` or a kind that is not empty.
fn wrong_name(name: &str, text: &str) -> Option<String> {
    if name == "apiVersion" {
        return (text.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {text}"));
    }
    let wrong = names::is_rfc_1035_label(&text.to_lowercase());
    (!wrong.is_empty())
        .then(|| format!("may have mixed case, but should otherwise match: {}", wrong.join(",")))
}

fn words(misfit: Misfit) -> String {
    match misfit {
        Misfit::Type(sentence) => sentence,
        Misfit::Choice(error) => error.message(),
    }
}

fn field(path: &str) -> Path {
    Path::new(path.trim_start_matches('.'))
}

type Step<'a> = dyn FnMut(&mut Map<String, Value>, &str) -> Result<(), FieldError> + 'a;

/// Calls `step` for each embedded object, the outer before the inner.
fn each(
    value: &mut Value,
    schema: &Structural,
    object: bool,
    place: &str,
    step: &mut Step<'_>,
) -> Result<(), FieldError> {
    match value {
        Value::Object(map) => {
            if object || schema.embedded_resource {
                step(map, place)?;
            }
            for (name, value) in map {
                match (schema.properties.get(name), &schema.additional) {
                    (Some(property), _) => each(value, property, false, &child(place, name), step)?,
                    (None, Some(Additional::Schema(entry))) => {
                        each(value, entry, false, &format!("{place}[{name}]"), step)?;
                    }
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = &schema.items else { return Ok(()) };
            for (number, item) in items.iter_mut().enumerate() {
                each(item, schema, false, &format!("{place}[{number}]"), step)?;
            }
        }
        _ => {}
    }
    Ok(())
}
