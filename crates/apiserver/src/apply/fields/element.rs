//! Parts of paths.

use std::{cmp::Ordering, fmt};

use serde_json::Value;

use super::super::value;

/// One step on the way into an object.
#[derive(Clone, Debug)]
pub enum PathElement {
    /// A field of an object or an entry of a map.
    Field(String),
    /// The element of a list whose fields have these values; sorted by field.
    Key(Vec<(String, Value)>),
    /// The element of a set with this value.
    Value(Value),
    /// The element of a list at this place.
    Index(i64),
}

impl PathElement {
    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(left), Self::Field(right)) => left.cmp(right),
            (Self::Key(left), Self::Key(right)) => {
                let both = left.iter().zip(right);
                let order =
                    both.map(|(left, right)| left.0.cmp(&right.0).then(value::compare(&left.1, &right.1)));
                order.into_iter().find(|order| order.is_ne()).unwrap_or(left.len().cmp(&right.len()))
            }
            (Self::Value(left), Self::Value(right)) => value::compare(left, right),
            (Self::Index(left), Self::Index(right)) => left.cmp(right),
            (left, right) => left.rank().cmp(&right.rank()),
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PathElement {}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(name, field)| format!("{name}={}", value::shown(field))).collect();
                write!(f, "[{}]", fields.join(","))
            }
            Self::Value(element) => write!(f, "[={}]", value::shown(element)),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// A path as in a conflict.
pub(in super::super) fn shown(path: &[PathElement]) -> String {
    path.iter().map(ToString::to_string).collect()
}
