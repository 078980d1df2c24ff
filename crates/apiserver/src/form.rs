//! The fields that an object may have, and what kind of value each takes.
//!
//! With a form a body is checked while it is read: unknown fields, values of another type. The words are
//! those of Go's decoder, which clients of kube-apiserver know.

mod check;
mod metadata;
mod missing;
mod of_schema;

use std::{collections::BTreeMap, sync::Arc};

pub use check::{Misfit, fit};
pub use metadata::OBJECT_META;
pub(crate) use missing::misfit;

/// What kind of value stands somewhere.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Anything.
    Any,
    /// A string, with the name of its type.
    Text(&'static str),
    /// One of these.
    Choice(Vec<String>),
    /// `true` or `false`.
    Boolean,
    /// A whole number, with the name of its type.
    Integer(&'static str),
    /// A number.
    Number,
    /// An RFC 3339 time.
    Time,
    /// A list of these.
    List(Box<Kind>),
    /// An object with any keys and these values.
    Map(Box<Kind>),
    /// An object with these fields.
    Struct(Arc<Struct>),
    /// The struct of this name in the form.
    Named(String),
}

/// An object with named fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Struct {
    /// For messages.
    pub name: String,
    /// Its fields.
    pub fields: BTreeMap<String, Kind>,
    /// Whether it may have others.
    pub open: bool,
}

/// The fields of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    root: Kind,
    named: BTreeMap<String, Arc<Struct>>,
}

impl Form {
    /// Objects with any fields.
    pub fn any() -> Self {
        Self { root: Kind::Any, named: BTreeMap::new() }
    }

    /// Values of this kind.
    pub(crate) fn of(root: Kind) -> Self {
        Self { root, named: BTreeMap::new() }
    }

    /// What the whole object is.
    pub fn root(&self) -> &Kind {
        &self.root
    }

    /// What a name stands for.
    pub fn resolve<'f>(&'f self, kind: &'f Kind) -> &'f Kind {
        match kind {
            Kind::Named(name) => self.named.get(name).map_or(&Kind::Any, |_| kind),
            other => other,
        }
    }

    /// The struct that a kind is, if it is one.
    pub fn fields_of<'f>(&'f self, kind: &'f Kind) -> Option<&'f Struct> {
        match kind {
            Kind::Struct(fields) => Some(fields),
            Kind::Named(name) => self.named.get(name).map(|fields| &**fields),
            _ => None,
        }
    }

    /// What stands under a key of this kind: none when the key is not known.
    pub fn child<'f>(&'f self, kind: &'f Kind, key: &str) -> Option<&'f Kind> {
        match kind {
            Kind::Map(values) => Some(values),
            Kind::Struct(_) | Kind::Named(_) => match self.fields_of(kind) {
                Some(known) => known.fields.get(key).or(known.open.then_some(&Kind::Any)),
                None => Some(&Kind::Any),
            },
            _ => Some(&Kind::Any),
        }
    }

    /// What the elements of a list of this kind are.
    pub fn element<'f>(&'f self, kind: &'f Kind) -> &'f Kind {
        match kind {
            Kind::List(elements) => elements,
            _ => &Kind::Any,
        }
    }
}
