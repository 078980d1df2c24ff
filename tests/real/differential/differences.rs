//! The list of what may differ.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::rows::folder;

/// The list.
pub(crate) struct Differences(Vec<Entry>);

/// One thing that is meant to differ.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    /// Patterns of cases, `*` for anything.
    cases: Vec<String>,
    /// Patterns of fields: `status`, `body`, `header NAME`, `none`.
    fields: Vec<String>,
    /// What the door's value must contain.
    #[serde(default)]
    door: Option<String>,
    reason: String,
    source: String,
}

impl Differences {
    /// Reads the list; each entry has a reason and its source.
    pub(crate) fn read() -> Self {
        let path = folder("differential").join("differences.yaml");
        let text = fs_err::read_to_string(path).expect("the list of differences");
        let value: serde_json::Value = serde_saphyr::from_str(&text).expect("differences.yaml");
        let entries: Vec<Entry> = serde_json::from_value(value).expect("differences.yaml");
        for entry in &entries {
            assert!(
                entry.reason.len() > 20 && entry.source.len() > 1,
                "{}: reason or source is missing",
                entry.id
            );
        }
        Self(entries)
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether this difference is in the list.
    pub(crate) fn allow(&self, case: &str, field: &str, door: &str) -> bool {
        !self.entries_for(case, field, door).is_empty()
    }

    /// The entries that allow this difference.
    pub(crate) fn entries_for(&self, case: &str, field: &str, door: &str) -> Vec<String> {
        let covers = |entry: &&Entry| {
            entry.cases.iter().any(|pattern| matches(pattern, case))
                && entry.fields.iter().any(|pattern| matches(pattern, field))
                && entry.door.as_ref().is_none_or(|part| field != "body" || door.contains(part))
        };
        self.0.iter().filter(covers).map(|entry| entry.id.clone()).collect()
    }

    /// Entries that are not among these.
    pub(crate) fn others(&self, used: &BTreeSet<String>) -> Vec<String> {
        self.0.iter().map(|entry| entry.id.clone()).filter(|id| !used.contains(id)).collect()
    }
}

/// Whether `text` is as `pattern` says, where `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
