//! From the bytes of a request to an object.

mod reader;
mod syntax;

use http::HeaderMap;
use kube_wire::{Status, accept};
use serde_json::Value;

use crate::{
    form::{Form, Misfit, fit},
    resource::{Definition, Fields, Version},
    validation,
};

pub(crate) use syntax::in_go_words;

pub use reader::{Document, InvalidDocument, MAX_DEPTH, read_json, read_yaml};

/// Bytes of a request body, as upstream's library allows.
pub const MAX_BODY: usize = 3 * 1024 * 1024;
/// How much of a body that cannot be read is shown.
const SHOWN: usize = 30;

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

/// What `fieldValidation` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// Unknown and duplicate fields are dropped.
    Ignore,
    /// They are dropped and the client is warned.
    #[default]
    Warn,
    /// They are refused.
    Strict,
}

/// What was read.
#[derive(Debug)]
pub struct Decoded {
    /// The object in the version in which it was sent.
    pub object: Fields,
    /// What the client should know.
    pub warnings: Vec<String>,
}

/// The syntax that a `Content-Type` names; none is JSON.
///
/// # Errors
/// 415 for anything else.
pub fn syntax(headers: &HeaderMap) -> Result<Syntax, Status> {
    let Some(value) = headers.get(http::header::CONTENT_TYPE) else { return Ok(Syntax::Json) };
    let value = value.to_str().unwrap_or("?");
    match value.split(';').next().unwrap_or_default().trim() {
        "" => Ok(Syntax::Json),
        kind if kind.eq_ignore_ascii_case(accept::JSON) => Ok(Syntax::Json),
        kind if kind.eq_ignore_ascii_case(accept::YAML) => Ok(Syntax::Yaml),
        _ => Err(Status::unsupported_media_type()),
    }
}

/// Reads an object of a resource.
///
/// # Errors
/// 400 in upstream's words, or 422 for a value that is none of those there are.
pub fn object(
    definition: &Definition,
    version: &Version,
    syntax: Syntax,
    validation: FieldValidation,
    body: &[u8],
) -> Result<Decoded, Status> {
    let kind = &*definition.names.kind;
    let unrecognized = |error: InvalidDocument| {
        Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {} ({})",
            error.in_words(),
            summary(body)
        ))
    };
    let form = &*version.form;
    let document = match syntax {
        Syntax::Json => read_json(body, Some(form)),
        Syntax::Yaml => read_yaml(body, Some(form)),
    };
    let document = document.map_err(unrecognized)?;
    let value = match document.value {
        Value::Null => Value::Object(Fields::new()),
        other => other,
    };
    let Value::Object(object) = value else {
        return Err(unrecognized(InvalidDocument::not_an_object(&value)));
    };
    let sent = Sent::read(&object).map_err(unrecognized)?;
    sent.check(definition, version)?;
    let strict = if validation == FieldValidation::Ignore { Vec::new() } else { document.strict };
    if validation == FieldValidation::Strict && !strict.is_empty() {
        let errors = strict.join(", ");
        return Err(cannot_be_handled(
            kind,
            &version.name,
            kind,
            &format!("strict decoding error: {errors}"),
        ));
    }
    let object = fitted(definition, version, object)?;
    Ok(Decoded { object, warnings: strict })
}

/// An object whose values have the types of the version, without what is not known, with its kind.
///
/// # Errors
/// As [`object`].
pub fn fitted(definition: &Definition, version: &Version, object: Fields) -> Result<Fields, Status> {
    let kind = &*definition.names.kind;
    made_to_fit(definition, version, object).map_err(|error| match error {
        NotDecoded::Document(error) => cannot_be_handled(kind, &version.name, kind, &error),
        NotDecoded::Status(status) => *status,
    })
}

/// Why JSON that was made here, by a patch, is no object of a resource.
pub(crate) enum NotDecoded {
    /// In the words of Go's reader.
    Document(String),
    /// It is one, with something wrong in it.
    Status(Box<Status>),
}

/// Reads an object that was made here. Its unknown and duplicate fields are among the warnings.
pub(crate) fn value(definition: &Definition, version: &Version, text: &str) -> Result<Decoded, NotDecoded> {
    let unreadable = |error: InvalidDocument| NotDecoded::Document(error.in_words());
    let document = read_json(text.as_bytes(), Some(&version.form)).map_err(unreadable)?;
    let Value::Object(object) = document.value else {
        return Err(unreadable(InvalidDocument::not_an_object(&document.value)));
    };
    let sent = Sent::read(&object).map_err(unreadable)?;
    sent.check(definition, version).map_err(|status| NotDecoded::Status(Box::new(status)))?;
    let object = made_to_fit(definition, version, object)?;
    Ok(Decoded { object, warnings: document.strict })
}

fn made_to_fit(definition: &Definition, version: &Version, object: Fields) -> Result<Fields, NotDecoded> {
    let (kind, group) = (&*definition.names.kind, &*definition.group);
    let mut value = Value::Object(object);
    fit(&version.form, &version.name, &mut value).map_err(|misfit| match misfit {
        Misfit::Type(error) => NotDecoded::Document(error),
        Misfit::Choice(error) => {
            let name = value_name(&value);
            NotDecoded::Status(Box::new(validation::invalid(kind, group, &name, &[*error])))
        }
    })?;
    if *version.form == Form::any() {
        metadata_alone(definition, version, &mut value)?;
    }
    let Value::Object(mut object) = value else { return Ok(Fields::new()) };
    object.insert("kind".to_owned(), kind.into());
    object.insert("apiVersion".to_owned(), definition.api_version(version).into());
    object.entry("metadata").or_insert_with(|| Value::Object(Fields::new()));
    crate::object::normalize_metadata(&mut object);
    Ok(object)
}

/// Where any fields are taken, metadata is still metadata.
fn metadata_alone(definition: &Definition, version: &Version, value: &mut Value) -> Result<(), NotDecoded> {
    let Some(metadata) = value.get_mut("metadata") else { return Ok(()) };
    let kind = &*definition.names.kind;
    let form = Form::of_metadata(kind);
    let mut whole = serde_json::json!({ "metadata": metadata.take() });
    let fitted = fit(&form, &version.name, &mut whole);
    *metadata = whole["metadata"].take();
    match fitted {
        Err(Misfit::Type(error)) => Err(NotDecoded::Document(error)),
        _ => Ok(()),
    }
}

fn value_name(value: &Value) -> String {
    value["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// Kind and version as they were sent.
struct Sent<'o> {
    kind: &'o str,
    api_version: &'o str,
}

impl<'o> Sent<'o> {
    fn read(object: &'o Fields) -> Result<Self, InvalidDocument> {
        let text = |name: &'static str| match object.get(name) {
            None | Some(Value::Null) => Ok(""),
            Some(Value::String(text)) => Ok(&**text),
            Some(other) => Err(InvalidDocument::not_text(name, other)),
        };
        Ok(Self { api_version: text("apiVersion")?, kind: text("kind")? })
    }

    /// Both may be left out.
    fn check(&self, definition: &Definition, version: &Version) -> Result<(), Status> {
        let own = definition.api_version(version);
        let (kind, api_version) = (
            if self.kind.is_empty() { &*definition.names.kind } else { self.kind },
            if self.api_version.is_empty() { &*own } else { self.api_version },
        );
        if kind == definition.names.kind && api_version == own {
            return Ok(());
        }
        let other = definition.versions.iter().any(|other| definition.api_version(other) == api_version);
        if kind == definition.names.kind && other {
            return Err(Status::bad_request(format!(
                "the API version in the data ({api_version}) does not match the expected API version ({own})"
            )));
        }
        let short = api_version.rsplit('/').next().unwrap_or_default();
        Err(cannot_be_handled(
            kind,
            short,
            &definition.names.kind,
            &format!(
                "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/runtime/scheme.go:111\""
            ),
        ))
    }
}

fn cannot_be_handled(kind: &str, version: &str, expected: &str, error: &str) -> Status {
    Status::bad_request(format!("{kind} in version {version:?} cannot be handled as a {expected}: {error}"))
}

/// The beginning of a body, as text when it is an object.
fn summary(body: &[u8]) -> String {
    let shown = &body[..body.len().min(SHOWN)];
    let more = if body.len() > SHOWN { " ..." } else { "" };
    match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(shown)),
        Some(_) => {
            let hex: String = shown.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{hex}{more}")
        }
    }
}
