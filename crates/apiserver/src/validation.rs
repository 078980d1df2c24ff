//! What is wrong with an object, in the words that clients and people know from kube-apiserver.

mod metadata;
pub mod names;

use std::fmt;

use kube_wire::status::{Status, StatusCause};
use serde::Serialize;

pub use metadata::{validate_metadata, validate_metadata_update, validate_standard_finalizers};

/// Where in an object, as in `metadata.labels` or `spec.ports[2].name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(String);

impl Path {
    /// A field of the object itself.
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// A field below this one.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self(format!("{}.{name}", self.0))
    }

    /// An element of this list.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// An entry of this map.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(format!("{}[{key}]", self.0))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What kind of mistake; `CauseType` of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// `FieldValueNotFound`.
    NotFound,
    /// `FieldValueRequired`.
    Required,
    /// `FieldValueDuplicate`.
    Duplicate,
    /// `FieldValueInvalid`.
    Invalid,
    /// `FieldValueNotSupported`.
    NotSupported,
    /// `FieldValueForbidden`.
    Forbidden,
    /// `FieldValueTooLong`.
    TooLong,
    /// `FieldValueTooMany`.
    TooMany,
    /// `FieldValueTypeInvalid`.
    TypeInvalid,
}

/// A field with a mistake in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Where.
    pub field: Path,
    /// What kind.
    pub mistake: Mistake,
    /// The value as JSON, for the kinds that show it.
    pub value: Option<String>,
    /// What is expected; may be empty.
    pub detail: String,
}

impl FieldError {
    /// A value that is malformed.
    pub fn invalid(field: &Path, value: impl Serialize, detail: impl Into<String>) -> Self {
        Self::about(field, Mistake::Invalid, value, detail)
    }

    /// A value that is missing.
    pub fn required(field: &Path, detail: impl Into<String>) -> Self {
        Self { field: field.clone(), mistake: Mistake::Required, value: None, detail: detail.into() }
    }

    /// A value that would be right elsewhere, or at another time.
    pub fn forbidden(field: &Path, detail: impl Into<String>) -> Self {
        Self { field: field.clone(), mistake: Mistake::Forbidden, value: None, detail: detail.into() }
    }

    /// A value that must be unique.
    pub fn duplicate(field: &Path, value: impl Serialize) -> Self {
        Self::about(field, Mistake::Duplicate, value, "")
    }

    /// A value that names something that is not there.
    pub fn not_found(field: &Path, value: impl Serialize) -> Self {
        Self::about(field, Mistake::NotFound, value, "")
    }

    /// A value that is none of those there are.
    pub fn not_supported(field: &Path, value: impl Serialize, supported: &[&str]) -> Self {
        let quoted: Vec<_> = supported.iter().map(|word| format!("{word:?}")).collect();
        Self::about(field, Mistake::NotSupported, value, format!("supported values: {}", quoted.join(", ")))
    }

    /// A value with more than `max` bytes.
    pub fn too_long(field: &Path, max: usize) -> Self {
        let detail = format!("may not be more than {max} {}", if max == 1 { "byte" } else { "bytes" });
        Self { field: field.clone(), mistake: Mistake::TooLong, value: None, detail }
    }

    /// A list with more than `max` elements.
    pub fn too_many(field: &Path, actual: usize, max: usize) -> Self {
        let detail = format!("must have at most {max} {}", if max == 1 { "item" } else { "items" });
        Self::about(field, Mistake::TooMany, actual, detail)
    }

    fn about(field: &Path, mistake: Mistake, value: impl Serialize, detail: impl Into<String>) -> Self {
        // What cannot be shown as JSON is not shown.
        let value = serde_json::to_string(&value).ok();
        Self { field: field.clone(), mistake, value, detail: detail.into() }
    }

    /// The sentence without the field.
    pub fn message(&self) -> String {
        let mut message = self.mistake.phrase().to_owned();
        if let Some(value) = &self.value {
            message.push_str(": ");
            message.push_str(value);
        }
        if !self.detail.is_empty() {
            message.push_str(": ");
            message.push_str(&self.detail);
        }
        message
    }
}

impl Mistake {
    fn reason(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    fn phrase(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
        }
    }
}

impl From<&FieldError> for StatusCause {
    fn from(error: &FieldError) -> Self {
        Self {
            reason: error.mistake.reason().to_owned(),
            message: error.message(),
            field: error.field.to_string(),
        }
    }
}

/// 422 `Invalid`, with all that is wrong.
pub fn invalid(kind: &str, group: &str, name: &str, errors: &[FieldError]) -> Status {
    Status::invalid(kind, group, name, errors.iter().map(StatusCause::from).collect())
}
