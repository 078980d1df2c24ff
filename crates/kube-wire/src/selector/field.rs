//! Field selectors: `metadata.name=a,status.phase!=b`, with `\` before `\`, `,` and `=` in values.

use std::{borrow::Cow, str::FromStr};

use super::{MAX_LENGTH, SelectorError};

/// Terms, all of which must hold; none selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    field: String,
    equal: bool,
    value: String,
}

impl FieldSelector {
    /// Whether an object satisfies every term; `field` gives the value of a field path, the empty
    /// string for what is not there.
    pub fn matches<'o>(&self, mut field: impl FnMut(&str) -> Cow<'o, str>) -> bool {
        self.terms.iter().all(|term| (field(&term.field) == term.value) == term.equal)
    }

    /// The value that a field must have, when the selector pins it down.
    pub fn required(&self, field: &str) -> Option<&str> {
        self.terms.iter().find(|term| term.equal && term.field == field).map(|term| &*term.value)
    }

    /// The fields that it speaks of.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|term| &*term.field)
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

impl FromStr for FieldSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        if text.len() > MAX_LENGTH {
            return Err(SelectorError::TooLong);
        }
        let mut parts = split(text);
        // As upstream: of two terms on one field the alphabetically first decides.
        parts.sort_unstable();
        let terms = parts.into_iter().filter(|part| !part.is_empty()).map(term).collect::<Result<_, _>>()?;
        Ok(Self { terms })
    }
}

/// At the commas that no backslash precedes.
fn split(text: &str) -> Vec<&str> {
    let mut escaped = false;
    text.split(|c| {
        let separates = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        separates
    })
    .collect()
}

fn term(part: &str) -> Result<Term, SelectorError> {
    let position = part.find("!=").into_iter().chain(part.find('=')).min();
    let Some(position) = position else { return Err(SelectorError::Term(part.to_owned())) };
    let (field, rest) = part.split_at(position);
    let (equal, value) = match rest.strip_prefix("!=") {
        Some(value) => (false, value),
        None => (true, rest.strip_prefix("==").or_else(|| rest.strip_prefix('=')).unwrap_or(rest)),
    };
    Ok(Term { field: field.to_owned(), equal, value: unescape(value)? })
}

fn unescape(value: &str) -> Result<String, SelectorError> {
    let mut literal = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => literal.push(c),
                other => {
                    let sequence = other.map_or_else(|| "\\".to_owned(), |c| format!("\\{c}"));
                    return Err(SelectorError::Escape(sequence));
                }
            },
            ',' | '=' => return Err(SelectorError::Unescaped(c)),
            c => literal.push(c),
        }
    }
    Ok(literal)
}
