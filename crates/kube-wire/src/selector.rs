//! Label and field selectors.

mod field;
mod label;
mod lexer;

pub use field::FieldSelector;
pub use label::{LabelSelector, Operator, Requirement};

/// A selector longer than this is refused.
pub const MAX_LENGTH: usize = 64 * 1024;

/// Why a selector cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// Something stands where something else should.
    #[error("unable to parse requirement: found '{found}', expected: {expected}")]
    Unexpected {
        /// What stands there.
        found: String,
        /// What should.
        expected: &'static str,
    },
    /// A label key is not one.
    #[error("unable to parse requirement: invalid label key {0:?}")]
    Key(String),
    /// A label value is not one.
    #[error("unable to parse requirement: invalid label value {0:?}")]
    Value(String),
    /// `>` or `<` with something that is no whole number.
    #[error("unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer, not {0:?}")]
    Number(String),
    /// A field selector's term without an operator.
    #[error("invalid selector: can't understand '{0}'")]
    Term(String),
    /// A backslash before a character that needs none, or at the end.
    #[error("invalid field selector: invalid escape sequence: {0}")]
    Escape(String),
    /// A comma or equals sign in a value, without a backslash.
    #[error("invalid field selector: unescaped character in value: {0}")]
    Unescaped(char),
    /// Longer than [`MAX_LENGTH`].
    #[error("the selector is longer than {MAX_LENGTH} bytes")]
    TooLong,
}
