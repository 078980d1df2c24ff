//! Label selectors: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, `a>1`, `a<1`.

use std::{collections::BTreeMap, str::FromStr};

use super::{
    MAX_LENGTH, SelectorError,
    lexer::{Lexer, Token},
};

/// Requirements, all of which must hold; none selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

/// One requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Label key.
    pub key: String,
    /// What is asked of its value.
    pub operator: Operator,
}

/// What is asked of a label's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operator {
    /// It is there and one of these.
    In(Vec<String>),
    /// It is not there, or none of these.
    NotIn(Vec<String>),
    /// It is there.
    Exists,
    /// It is not there.
    DoesNotExist,
    /// It is there and a larger whole number.
    GreaterThan(i64),
    /// It is there and a smaller whole number.
    LessThan(i64),
}

impl LabelSelector {
    /// Whether these labels satisfy every requirement.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = labels.get(&requirement.key).map(String::as_str);
            requirement.operator.holds(value)
        })
    }

    /// The requirements in the order in which they were written.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }
}

impl Operator {
    fn holds(&self, value: Option<&str>) -> bool {
        let among = |values: &[String]| value.is_some_and(|value| values.iter().any(|v| v == value));
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::In(values) => among(values),
            Self::NotIn(values) => !among(values),
            Self::Exists => value.is_some(),
            Self::DoesNotExist => value.is_none(),
            Self::GreaterThan(bound) => number().is_some_and(|number| number > *bound),
            Self::LessThan(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

impl FromStr for LabelSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        if text.len() > MAX_LENGTH {
            return Err(SelectorError::TooLong);
        }
        let mut lexer = Lexer::new(text);
        let mut requirements = Vec::new();
        if lexer.peek() == Token::End {
            return Ok(Self::default());
        }
        loop {
            requirements.push(requirement(&mut lexer)?);
            match lexer.next() {
                Token::End => return Ok(Self { requirements }),
                Token::Comma => {}
                other => return Err(unexpected(other, "',' or 'end of string'")),
            }
        }
    }
}

fn requirement(lexer: &mut Lexer<'_>) -> Result<Requirement, SelectorError> {
    let absent = lexer.peek() == Token::Not;
    if absent {
        lexer.next();
    }
    let key = match lexer.next() {
        Token::Word(key) if is_key(key) => key.to_owned(),
        Token::Word(key) => return Err(SelectorError::Key(key.to_owned())),
        other => return Err(unexpected(other, "identifier")),
    };
    let operator = if absent { Operator::DoesNotExist } else { operator(lexer)? };
    Ok(Requirement { key, operator })
}

fn operator(lexer: &mut Lexer<'_>) -> Result<Operator, SelectorError> {
    if matches!(lexer.peek(), Token::End | Token::Comma) {
        return Ok(Operator::Exists);
    }
    match lexer.next() {
        Token::Word("in") => Ok(Operator::In(values(lexer)?)),
        Token::Word("notin") => Ok(Operator::NotIn(values(lexer)?)),
        Token::Equal => Ok(Operator::In(vec![single(lexer)?])),
        Token::NotEqual => Ok(Operator::NotIn(vec![single(lexer)?])),
        Token::Greater => Ok(Operator::GreaterThan(whole_number(lexer)?)),
        Token::Less => Ok(Operator::LessThan(whole_number(lexer)?)),
        other => Err(unexpected(other, "in, notin, =, ==, !=, gt, lt")),
    }
}

/// `(a,b,)`: an empty place is the empty value.
fn values(lexer: &mut Lexer<'_>) -> Result<Vec<String>, SelectorError> {
    match lexer.next() {
        Token::Open => {}
        other => return Err(unexpected(other, "'('")),
    }
    if matches!(lexer.peek(), Token::End) {
        return Err(unexpected(Token::End, "',', ')' or identifier"));
    }
    let mut values = Vec::new();
    loop {
        values.push(single(lexer)?);
        match lexer.next() {
            Token::Comma => {}
            Token::Close => return Ok(values),
            other => return Err(unexpected(other, "',', or ')'")),
        }
    }
}

/// A value, which may be empty.
fn single(lexer: &mut Lexer<'_>) -> Result<String, SelectorError> {
    match lexer.peek() {
        Token::Comma | Token::Close | Token::End => Ok(String::new()),
        Token::Word(value) if is_value(value) => {
            lexer.next();
            Ok(value.to_owned())
        }
        Token::Word(value) => Err(SelectorError::Value(value.to_owned())),
        other => Err(unexpected(other, "identifier")),
    }
}

fn whole_number(lexer: &mut Lexer<'_>) -> Result<i64, SelectorError> {
    let value = single(lexer)?;
    value.parse().map_err(|_| SelectorError::Number(value))
}

fn unexpected(found: Token<'_>, expected: &'static str) -> SelectorError {
    SelectorError::Unexpected { found: found.text().to_owned(), expected }
}

/// `name` or `dns.prefix/name`.
fn is_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => is_dns(prefix) && !name.is_empty() && is_value(name),
        None => !key.is_empty() && is_value(key),
    }
}

/// Empty, or at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.
fn is_value(value: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    value.len() <= 63
        && ends(value.chars().next())
        && ends(value.chars().last())
        && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn is_dns(name: &str) -> bool {
    let inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.first().is_some_and(inner)
            && bytes.last().is_some_and(inner)
            && bytes.iter().all(|byte| inner(byte) || *byte == b'-')
    };
    name.len() <= 253 && name.split('.').all(label)
}
