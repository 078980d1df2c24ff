//! Checks of what people write. All mistakes of an object are found in one go, each with its field,
//! its value, the reason and, where there is one, what was probably meant.

mod address;
mod api_service;
mod fields;
mod scalars;
mod spec;

use std::fmt;

use serde_json::Value;

pub use api_service::check_api_service;
pub(crate) use spec::RESERVED_NAME;
pub use spec::{check_name, check_spec};

/// A JSON object under inspection, for readers outside of this module.
pub(crate) fn fields_of<'a>(path: &str, value: &'a Value, problems: &mut Problems) -> fields::Fields<'a> {
    fields::Fields::of(path, value, problems)
}

/// A base URL that does not come from a registration: address and path prefix. Clear text is for
/// loopback alone here as well.
pub(crate) fn parse_base_url(url: &str) -> Result<(crate::registration::Address, String), Problems> {
    let mut problems = Problems::default();
    let found = address::base_url("server", url, &mut problems);
    match found {
        Some(found) if problems.is_empty() => Ok((found.address, found.path)),
        _ => Err(problems),
    }
}

/// Longest piece of a wrong value that a message repeats.
const SHOWN_VALUE: usize = 120;

/// One mistake in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Path of the field, for example `spec.endpoints[1]`.
    pub field: String,
    /// What kind of mistake.
    pub kind: ProblemKind,
    /// Why it is one.
    pub reason: String,
    /// What to write instead.
    pub suggestion: Option<String>,
}

/// The kinds of mistakes, in the words of the Kubernetes API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A field is missing.
    Required,
    /// A value does not do; carries the value as JSON, shortened.
    Invalid(String),
    /// A value is of another JSON type than it should be.
    WrongType,
    /// No such field.
    Unknown,
    /// The field may not be used here.
    Forbidden,
    /// The value occurs twice; carries it as JSON.
    Duplicate(String),
}

impl ProblemKind {
    /// The word in `details.causes[].reason`.
    pub fn cause(&self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid(_) => "FieldValueInvalid",
            Self::WrongType => "FieldValueTypeInvalid",
            Self::Unknown => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::Duplicate(_) => "FieldValueDuplicate",
        }
    }
}

impl Problem {
    /// The sentence without the field's path, as `details.causes[].message` carries it.
    pub fn message(&self) -> String {
        let suggestion = self.suggestion.as_deref().map(|s| format!("; {s}")).unwrap_or_default();
        match &self.kind {
            ProblemKind::Required => format!("Required value: {}{suggestion}", self.reason),
            ProblemKind::Invalid(value) => format!("Invalid value: {value}: {}{suggestion}", self.reason),
            ProblemKind::WrongType => format!("Invalid type: {}{suggestion}", self.reason),
            ProblemKind::Unknown => format!("{}{suggestion}", self.reason),
            ProblemKind::Forbidden => format!("Forbidden: {}{suggestion}", self.reason),
            ProblemKind::Duplicate(value) => format!("Duplicate value: {value}{suggestion}"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message())
    }
}

/// The mistakes of one object, in the order of their fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// The mistakes.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The paths of fields that do not exist, each with what was probably meant.
    pub fn unknown_fields(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter().filter(|problem| problem.kind == ProblemKind::Unknown)
    }

    /// The same without the fields that do not exist.
    pub fn without_unknown_fields(&self) -> Self {
        Self(self.0.iter().filter(|problem| problem.kind != ProblemKind::Unknown).cloned().collect())
    }

    pub(crate) fn required(&mut self, field: &str, reason: impl Into<String>) {
        self.report(field, ProblemKind::Required, reason, None);
    }

    pub(crate) fn invalid(&mut self, field: &str, value: &Value, reason: impl Into<String>) {
        self.report(field, ProblemKind::Invalid(shown(value)), reason, None);
    }

    pub(crate) fn invalid_but(
        &mut self,
        field: &str,
        value: &Value,
        reason: impl Into<String>,
        suggestion: impl Into<String>,
    ) {
        self.report(field, ProblemKind::Invalid(shown(value)), reason, Some(suggestion.into()));
    }

    pub(crate) fn forbidden(&mut self, field: &str, reason: impl Into<String>) {
        self.report(field, ProblemKind::Forbidden, reason, None);
    }

    pub(crate) fn report(
        &mut self,
        field: &str,
        kind: ProblemKind,
        reason: impl Into<String>,
        suggestion: Option<String>,
    ) {
        self.0.push(Problem { field: field.to_owned(), kind, reason: reason.into(), suggestion });
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [only] => write!(f, "{only}"),
            several => {
                let lines: Vec<String> = several.iter().map(Problem::to_string).collect();
                write!(f, "[{}]", lines.join(", "))
            }
        }
    }
}

impl std::error::Error for Problems {}

/// `value` as JSON, cut to a length that fits a message.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN_VALUE {
        return text;
    }
    text.chars().take(SHOWN_VALUE).chain(std::iter::once('…')).collect()
}
