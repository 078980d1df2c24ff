//! A value that was decided, with the fields it follows from and the reason.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// Something that was decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// What was decided.
    #[serde(flatten)]
    pub content: Content,
    /// Whether text, also that of items, stands in files with the quotes of JSON, which YAML and TOML
    /// read the same way.
    #[serde(skip)]
    pub quoted: bool,
    /// JSON pointers of the fields that it follows from.
    pub from: Vec<String>,
    /// Why it is so.
    pub reason: String,
}

/// One value, or a list of arguments.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Content {
    /// One value.
    Value(Value),
    /// Any number of lines, each with fields of its own behind it.
    Items(Vec<Item>),
}

/// An entry of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// The entry.
    pub text: String,
    /// JSON pointers of the fields that it follows from.
    pub from: Vec<String>,
}

impl Item {
    /// The entry as it stands in a file; `quoted` as of its list.
    pub fn text(&self, quoted: bool) -> String {
        if quoted { Value::from(self.text.as_str()).to_string() } else { self.text.clone() }
    }
}

impl Decision {
    /// The value as it stands in a file: text as it is, unless it is quoted, and everything else as JSON.
    /// None for a list.
    pub fn text(&self) -> Option<String> {
        match &self.content {
            Content::Value(Value::String(text)) if !self.quoted => Some(text.clone()),
            Content::Value(other) => Some(other.to_string()),
            Content::Items(_) => None,
        }
    }

    /// Whether it is the value `true`.
    pub fn is_true(&self) -> bool {
        self.content == Content::Value(Value::Bool(true))
    }
}

/// Decisions by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Decisions(BTreeMap<String, Decision>);

impl Decisions {
    /// The decision with this name.
    pub fn get(&self, name: &str) -> Option<&Decision> {
        self.0.get(name)
    }

    /// All, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Decision)> {
        self.0.iter().map(|(name, decision)| (name.as_str(), decision))
    }

    /// These and others; where both have a name, that of the others.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Adds a value.
    pub(crate) fn put(
        &mut self,
        name: impl Into<String>,
        value: impl Into<Value>,
        from: &[impl AsRef<str>],
        reason: impl Into<String>,
    ) {
        let from = from.iter().map(|pointer| pointer.as_ref().to_owned()).collect();
        let content = Content::Value(value.into());
        self.0.insert(name.into(), Decision { content, quoted: false, from, reason: reason.into() });
    }

    /// Adds a value of a configuration file, which may be anything.
    pub(crate) fn put_quoted(
        &mut self,
        name: impl Into<String>,
        value: Value,
        from: &str,
        reason: impl Into<String>,
    ) {
        let (content, from) = (Content::Value(value), vec![from.to_owned()]);
        self.0.insert(name.into(), Decision { content, quoted: true, from, reason: reason.into() });
    }

    /// Adds a list.
    pub(crate) fn put_items(
        &mut self,
        name: impl Into<String>,
        items: Vec<Item>,
        quoted: bool,
        from: &[&str],
        reason: impl Into<String>,
    ) {
        let from = from.iter().map(|pointer| (*pointer).to_owned()).collect();
        let content = Content::Items(items);
        self.0.insert(name.into(), Decision { content, quoted, from, reason: reason.into() });
    }
}
