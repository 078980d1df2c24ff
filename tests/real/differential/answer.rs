//! An answer without what differs between any two requests.

use std::collections::BTreeMap;

use serde_json::Value;
use testkit::Reply;

/// Headers whose value says nothing about behaviour, or that depend on how the body was framed.
const IGNORED: [&str; 6] =
    ["date", "content-length", "transfer-encoding", "connection", "keep-alive", "alt-svc"];
/// Headers whose presence and number count, but not their value.
const VOLATILE: [&str; 6] = [
    "audit-id",
    "etag",
    "expires",
    "last-modified",
    "x-kubernetes-pf-flowschema-uid",
    "x-kubernetes-pf-prioritylevel-uid",
];
/// Fields of objects that no two requests share.
const VOLATILE_FIELDS: [&str; 7] =
    ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", "continue", "auditID"];
/// Longest value that a message shows.
const SHOWN: usize = 600;

/// What a client can tell of an answer: named fields with their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    fields: BTreeMap<String, String>,
}

impl Answer {
    /// Takes an answer, or why there was none.
    pub(crate) fn new(reply: Result<Reply, String>) -> Self {
        let reply = match reply {
            Ok(reply) => reply,
            Err(reason) => {
                let fields = BTreeMap::from([("none".to_owned(), plain(&reason))]);
                return Self { fields };
            }
        };
        let mut fields = BTreeMap::from([
            ("status".to_owned(), reply.status.as_u16().to_string()),
            ("body".to_owned(), body(&reply)),
        ]);
        for name in reply.headers.keys().filter(|name| !IGNORED.contains(&name.as_str())) {
            let values: Vec<String> = reply
                .headers
                .get_all(name)
                .iter()
                .map(|value| header(name.as_str(), value.to_str().unwrap_or("")))
                .collect();
            fields.insert(format!("header {name}"), values.join(" | "));
        }
        Self { fields }
    }

    /// Fields that differ, with both values.
    pub(crate) fn differs(&self, other: &Self) -> BTreeMap<String, (String, String)> {
        let names = self.fields.keys().chain(other.fields.keys());
        names
            .filter(|name| self.fields.get(*name) != other.fields.get(*name))
            .map(|name| {
                let (left, right) = around(self.fields.get(name), other.fields.get(name));
                (name.clone(), (left, right))
            })
            .collect()
    }
}

/// Both values, long ones cut to the neighbourhood of their first difference.
fn around(left: Option<&String>, right: Option<&String>) -> (String, String) {
    let absent = "(absent)".to_owned();
    let (left, right) = (left.unwrap_or(&absent), right.unwrap_or(&absent));
    let same = left.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
    let cut = |text: &str| -> String {
        if text.len() <= SHOWN {
            return text.to_owned();
        }
        let from = same.saturating_sub(200);
        let window: Vec<u8> = text.bytes().skip(from).take(SHOWN).collect();
        format!("…{}…", String::from_utf8_lossy(&window))
    };
    (cut(left), cut(right))
}

fn header(name: &str, value: &str) -> String {
    match name {
        _ if VOLATILE.contains(&name) => "(some)".to_owned(),
        // Names of fields, in the case of whoever wrote them last.
        "trailer" => value.to_ascii_lowercase(),
        _ => plain(value),
    }
}

/// The body: JSON or YAML as data, or JSON line by line, without volatile fields; else text.
fn body(reply: &Reply) -> String {
    let text = reply.text();
    // Which strings stand in quotes is each writer's own judgement.
    if reply.header("content-type").starts_with("application/yaml")
        && let Ok(value) = serde_saphyr::from_str::<Value>(&text)
    {
        return format!("yaml {}", steady(value));
    }
    if let Ok(value) = serde_json::from_str::<Value>(&text) {
        // Whether an error is indented is part of the form (upstream indents only some).
        let form = if text.starts_with("{\n") { "indented " } else { "" };
        return format!("{form}{}", steady(value));
    }
    let lines: Option<Vec<String>> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).ok().map(|value| steady(value).to_string()))
        .collect();
    match lines {
        Some(lines) if !lines.is_empty() => lines.join("\n"),
        _ if reply.body.starts_with(b"k8s\0") => format!("protobuf envelope, {}", envelope(&reply.body)),
        _ => plain(&text),
    }
}

/// Kind and version out of a protobuf envelope: what follows holds volatile values; but discovery has none.
fn envelope(body: &[u8]) -> String {
    let discovery = ["APIVersions", "APIGroup", "APIResourceList"];
    let whole = discovery
        .iter()
        .any(|kind| body[..body.len().min(60)].windows(kind.len()).any(|part| part == kind.as_bytes()));
    if whole {
        return body.iter().map(|byte| format!("{byte:02x}")).collect();
    }
    body.iter().take(60).filter(|byte| byte.is_ascii_graphic()).map(|byte| char::from(*byte)).collect()
}

fn steady(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| {
                let volatile =
                    VOLATILE_FIELDS.contains(&name.as_str()) && (value.is_string() || value.is_null());
                let mut value = if volatile { Value::from("(some)") } else { steady(value) };
                // They stand in the order of their times, which a second may divide or not.
                if let ("managedFields", Some(entries)) = (&*name, value.as_array_mut()) {
                    entries.sort_by_key(|entry| format!("{} {}", entry["manager"], entry["subresource"]));
                }
                (name, value)
            })
            .collect(),
        Value::Array(items) => items.into_iter().map(steady).collect(),
        Value::String(text) => Value::String(plain(&text)),
        other => other,
    }
}

/// Text without times, revisions, hashes, identifiers and addresses.
fn plain(text: &str) -> String {
    let mut steady = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = &rest[..rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())];
        if word.is_empty() {
            steady.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            let revision = steady.ends_with("resourceVersion: \"");
            steady.push_str(if revision { "(some)" } else { name_of(word).unwrap_or(word) });
            rest = &rest[word.len()..];
        }
    }
    steady
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':')
}

/// What a word is, when no two requests share it.
fn name_of(word: &str) -> Option<&'static str> {
    let shape: String = word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let hex = word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    match shape.as_str() {
        "0000-00-00T00:00:00Z" => Some("(time)"),
        "0s" | "00s" | "000s" | "0m" | "00m" | "0m0s" | "0m00s" => Some("(age)"),
        _ if hex && word.len() == 36 && word.matches('-').count() == 4 => Some("(uid)"),
        _ if hex && word.len() >= 40 => Some("(hash)"),
        _ if word.starts_with("10.213.") => Some("(address)"),
        _ => None,
    }
}
