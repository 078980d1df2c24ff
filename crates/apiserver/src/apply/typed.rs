//! Values together with their types: valid or not, merged, compared, cut.

mod atom;
mod compare;
mod extract;
mod keys;
mod merge;
mod reconcile;
mod remove;
mod validate;

use std::fmt;

use serde_json::Value;

pub(super) use compare::Comparison;

use super::fields::FieldSet;
use crate::schema::types::{TypeId, Types};

/// What is wrong with the type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeError {
    /// Where, as in `.spec.ports[port=80]`.
    pub path: String,
    /// What.
    pub message: String,
}

/// All that is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeErrors(pub Vec<TypeError>);

impl TypeErrors {
    fn of(message: impl Into<String>) -> Self {
        Self(vec![TypeError { path: String::new(), message: message.into() }])
    }

    /// The errors, in a place below where they were found.
    fn below(mut self, element: impl fmt::Display) -> Self {
        for error in &mut self.0 {
            error.path.insert_str(0, &element.to_string());
        }
        self
    }

    fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn into_result(self) -> Result<(), Self> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

impl fmt::Display for TypeErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0[..] {
            [one] => one.fmt(f),
            several => {
                f.write_str("errors:")?;
                several.iter().try_for_each(|error| write!(f, "\n  {error}"))
            }
        }
    }
}

impl std::error::Error for TypeErrors {}

/// A value that is valid for its type.
#[derive(Clone, Debug)]
pub(super) struct Typed<'a> {
    pub(super) value: Value,
    pub(super) types: &'a Types,
    pub(super) root: TypeId,
}

impl<'a> Typed<'a> {
    /// Checks a value. Sets and lists with keys may have the same element twice if `duplicates`.
    pub(super) fn new(
        value: Value,
        types: &'a Types,
        root: TypeId,
        duplicates: bool,
    ) -> Result<Self, TypeErrors> {
        validate::validate(&value, types, root, duplicates)?;
        Ok(Self { value, types, root })
    }

    /// The fields that are set.
    pub(super) fn fields(&self) -> Result<FieldSet, TypeErrors> {
        extract::fields(self)
    }

    /// This with everything from the other.
    pub(super) fn merge(&self, other: &Self) -> Result<Self, TypeErrors> {
        let value = merge::merge(self.types, self.root, &self.value, &other.value)?;
        Ok(Self { value, ..*self })
    }

    /// What is different in the other.
    pub(super) fn compare(&self, other: &Self) -> Result<Comparison, TypeErrors> {
        compare::compare(self.types, self.root, &self.value, &other.value)
    }

    /// This without these fields.
    pub(super) fn without(&self, fields: &FieldSet) -> Self {
        let value = remove::remove(self.types, Some(self.root), &self.value, fields);
        Self { value, ..*self }
    }

    /// The fields as the type sees them now: of what is one value, only the whole is owned.
    pub(super) fn reconcile(&self, fields: &FieldSet) -> Option<FieldSet> {
        reconcile::reconcile(self.types, self.root, fields)
    }
}
