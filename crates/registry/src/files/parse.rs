//! One file: documents, objects, and the line of whatever is wrong.

use std::{fmt, path::PathBuf};

use serde_json::Value;

use crate::{
    object::{DeclaredSpec, Resource, check, text},
    validation::Problem,
};

/// Largest file that is read.
pub(super) const MAX_FILE: u64 = 4 << 20;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// The file.
    pub path: PathBuf,
    /// Line, from 1; none when the whole file is meant.
    pub line: Option<usize>,
    /// What is wrong, and what happens meanwhile.
    pub message: String,
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path.display(), self.message),
            None => write!(f, "{}: {}", self.path.display(), self.message),
        }
    }
}

/// A valid object of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) resource: Resource,
    pub(super) line: usize,
    pub(super) value: Value,
    pub(super) spec: DeclaredSpec,
}

/// A mistake at a line.
pub(super) type Mistake = (usize, String);

/// Everything in the text of one file. Objects of other kinds are none of our business: a project's
/// whole manifest may lie here.
pub(super) fn parse(text: &str, json: bool) -> Result<Vec<Found>, Vec<Mistake>> {
    let mut found = Vec::new();
    let mut mistakes = Vec::new();
    let documents = if json { vec![(1, text)] } else { documents(text) };
    for (first_line, document) in documents {
        match value(document, json) {
            Ok(Value::Null) => {}
            Ok(value) => take(value, first_line, document, &mut found, &mut mistakes),
            Err((line, message)) => mistakes.push((first_line + line - 1, message)),
        }
    }
    if mistakes.is_empty() { Ok(found) } else { Err(mistakes) }
}

/// The documents of a YAML stream, each with the line at which it starts.
fn documents(text: &str) -> Vec<(usize, &str)> {
    let mut documents = Vec::new();
    let (mut start, mut first_line, mut offset) = (0, 1, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let bare = line.trim_end();
        if bare == "---" || bare.starts_with("--- ") {
            documents.push((first_line, &text[start..offset]));
            // What follows on the same line, a comment for the most part, belongs to the new document.
            start = offset + 3;
            first_line = index + 1;
        }
        offset += line.len();
    }
    documents.push((first_line, &text[start..]));
    documents
}

/// The document as JSON, or line and message of what is wrong with it.
fn value(document: &str, json: bool) -> Result<Value, Mistake> {
    if json {
        return serde_json::from_str(document).map_err(|error| (error.line().max(1), error.to_string()));
    }
    let only_comments = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    if document.lines().all(only_comments) {
        return Ok(Value::Null);
    }
    serde_saphyr::from_str(document).map_err(|error| {
        let line = error.location().map_or(1, |location| usize::try_from(location.line()).unwrap_or(1));
        (line.max(1), one_line(&error.without_snippet().to_string()))
    })
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn take(value: Value, line: usize, document: &str, found: &mut Vec<Found>, mistakes: &mut Vec<Mistake>) {
    let kind = text(&value, "/kind").unwrap_or_default();
    let api_version = text(&value, "/apiVersion").unwrap_or_default();
    if kind == "List" && api_version == "v1" {
        let items = value.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
        for item in items {
            take(item, line, document, found, mistakes);
        }
        return;
    }
    let Some(resource) = Resource::of(api_version, kind) else {
        mistakes.extend(misspelt(&value, api_version, kind).map(|message| (line, message)));
        return;
    };
    match check(resource, &value) {
        Ok(spec) => {
            let line = line_of(document, "apiVersion").map_or(line, |within| line + within - 1);
            found.push(Found { resource, line, value, spec });
        }
        Err(problems) => {
            let at = |problem: &Problem| line_of(document, &problem.field).map_or(line, |l| line + l - 1);
            let name = text(&value, "/metadata/name").unwrap_or_default();
            let say = |problem: &Problem| (at(problem), format!("{kind} {name:?}: {problem}"));
            mistakes.extend(problems.iter().map(say));
        }
    }
}

/// What to say of an object that nearly is one of ours.
fn misspelt(value: &Value, api_version: &str, kind: &str) -> Option<String> {
    if !value.is_object() {
        return Some("this document is no object; a registration starts with apiVersion and kind".to_owned());
    }
    if kind.is_empty() || api_version.is_empty() {
        return Some("apiVersion and kind are missing".to_owned());
    }
    let group = api_version.split('/').next().unwrap_or_default();
    let ours =
        Resource::ALL.into_iter().find(|resource| resource.group() == group || resource.kind() == kind)?;
    Some(format!("{api_version} {kind} is not known; did you mean {} {}?", ours.api_version(), ours.kind()))
}

/// The line, from 1, at which the field with this path stands, as near as a look at the text can tell.
fn line_of(document: &str, path: &str) -> Option<usize> {
    let lines: Vec<&str> = document.lines().collect();
    let (mut at, mut known) = (0, None);
    for segment in path.split('.') {
        let (name, index) = segment
            .split_once('[')
            .map_or((segment, None), |(name, rest)| (name, rest.trim_end_matches(']').parse::<usize>().ok()));
        let named = |line: &&str| -> bool {
            let key = line.trim_start().trim_start_matches("- ").trim_start_matches(['"', '\'']);
            key.strip_prefix(name).is_some_and(|rest| rest.trim_start_matches(['"', '\'']).starts_with(':'))
        };
        let Some(found) = lines.iter().skip(at).position(named) else { break };
        at += found;
        if let Some(index) = index {
            let items =
                lines.iter().enumerate().skip(at + 1).filter(|(_, l)| l.trim_start().starts_with('-'));
            at = items.map(|(line, _)| line).nth(index).unwrap_or(at);
        }
        known = Some(at + 1);
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "# first\n---\napiVersion: federation.trellis.dev/v1alpha1\nkind: APIServer\nmetadata:\n  name: a\nspec:\n  url: https://a:1\n---\nkind: ConfigMap\napiVersion: v1\n--- # third\napiVersion: federation.trellis.dev/v1alpha1\nkind: APIServer\nmetadata: {name: b}\nspec: {endpoints: [\"b:2\"]}\n";

    #[test]
    fn documents_are_found_with_their_lines() {
        let found = parse(TWO, false).expect("valid");
        let names: Vec<_> =
            found.iter().map(|f| (text(&f.value, "/metadata/name").unwrap_or(""), f.line)).collect();
        assert_eq!(names, [("a", 3), ("b", 13)]);
    }

    #[test]
    fn mistakes_are_found_with_their_lines() {
        let cases = [
            (TWO.replace("url:", "urll:"), 8, "spec.urll: unknown field; did you mean \"url\"?"),
            (TWO.replace("APIServer\nmetadata:\n", "APIServr\nmetadata:\n"), 2, "did you mean"),
            (TWO.replace("url: https://a:1", "url: [https"), 8, ""),
            (TWO.replace("{name: b}", "{name: B}"), 15, "metadata.name: Invalid value: \"B\""),
            ("just text\n".to_owned(), 1, "this document is no object"),
            ("a: 1\n".to_owned(), 1, "apiVersion and kind are missing"),
        ];
        for (text, line, part) in cases {
            let mistakes = parse(&text, false).expect_err("wrong");
            let hit = mistakes.iter().any(|(at, message)| at.abs_diff(line) <= 1 && message.contains(part));
            assert!(hit, "{line} {part}: {mistakes:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_upsets_the_parser(text in "(---|[a-z]+|: |\\n|  |- |\\[|\\{|\"|&a|\\*a){0,40}") {
            let _ = parse(&text, false);
            let _ = parse(&text, true);
        }
    }
}
