//! The list of what may differ.

use std::{collections::BTreeSet, path::Path};

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
        Self::read_from(&folder("differential").join("differences.yaml"))
    }

    /// Reads another list.
    pub(crate) fn read_from(path: &Path) -> Self {
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

    /// What of the list allows this difference: each entry with the pattern of the case, and with that of
    /// the field.
    pub(crate) fn entries_for(&self, case: &str, field: &str, door: &str) -> Vec<String> {
        let covers =
            |entry: &&Entry| entry.door.as_ref().is_none_or(|part| field != "body" || door.contains(part));
        let mut used = Vec::new();
        for entry in self.0.iter().filter(covers) {
            let matching = |patterns: &[String], text: &str| -> Vec<String> {
                let all = patterns.iter().filter(|pattern| matches(pattern, text));
                all.map(|pattern| entry.part(pattern)).collect()
            };
            let (cases, fields) = (matching(&entry.cases, case), matching(&entry.fields, field));
            if !cases.is_empty() && !fields.is_empty() {
                used.extend(cases.into_iter().chain(fields));
            }
        }
        used
    }

    /// The parts of the list that are not among these: an entry covers no case and no field without need.
    pub(crate) fn others(&self, used: &BTreeSet<String>) -> Vec<String> {
        let parts = self
            .0
            .iter()
            .flat_map(|entry| entry.cases.iter().chain(&entry.fields).map(|pattern| entry.part(pattern)));
        parts.filter(|part| !used.contains(part)).collect()
    }
}

impl Entry {
    /// One of its patterns, named.
    fn part(&self, pattern: &str) -> String {
        format!("{}: {pattern}", self.id)
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
