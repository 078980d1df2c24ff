//! From text to a value that knows on which line each of its parts stands.

use std::{collections::BTreeMap, fmt};

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;

/// Longest text that is read: far more than a thousand hosts need.
const MAX_TEXT: usize = 4 << 20;

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The object; a key that stands there twice has its last value.
    pub(crate) value: Value,
    /// Line, from 1, of each key and list entry, by JSON pointer.
    lines: BTreeMap<String, usize>,
    /// Keys that stand there again, with the line of the repetition.
    pub(crate) repeated: Vec<(String, usize)>,
}

/// Text that is neither JSON nor YAML.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

impl Document {
    /// Reads JSON, or else YAML.
    pub(crate) fn parse(text: &str) -> Result<Self, Unreadable> {
        if text.len() > MAX_TEXT {
            let reason = format!("the file has {} bytes; {MAX_TEXT} is the limit", text.len());
            return Err(Unreadable { line: 1, reason });
        }
        // What begins like JSON is meant as JSON: its own parser says best what is wrong with it.
        if text.trim_start().starts_with('{') && text.trim_end().ends_with('}') {
            let json = serde_json::from_str::<Value>(text);
            if let Err(error) = json.as_ref()
                && !error.is_data()
            {
                // A flow mapping of YAML begins the same way.
                return yaml(text)
                    .map_err(|_| Unreadable { line: error.line().max(1), reason: error.to_string() });
            }
        }
        yaml(text)
    }

    /// The line at which the part with this pointer stands, or the nearest part around it.
    pub(crate) fn line(&self, pointer: &str) -> Option<usize> {
        let mut at = pointer;
        loop {
            if let Some(line) = self.lines.get(at) {
                return Some(*line);
            }
            at = &at[..at.rfind('/')?];
        }
    }
}

fn yaml(text: &str) -> Result<Document, Unreadable> {
    let options = serde_saphyr::options! {
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::PassThrough,
    };
    let only_comments = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    if text.lines().all(only_comments) {
        return Err(Unreadable { line: 1, reason: "the file is empty".to_owned() });
    }
    let root: Spanned<Node> = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let line = error.location().map_or(1, |location| usize::try_from(location.line()).unwrap_or(1));
        Unreadable { line: line.max(1), reason: one_line(&error.without_snippet().to_string()) }
    })?;
    let mut document = Document::default();
    document.lines.insert(String::new(), line_of(&root));
    document.value = take(root.value, "", &mut document.lines, &mut document.repeated);
    Ok(document)
}

/// What the parser says, in the words of somebody who does not call it.
fn one_line(message: &str) -> String {
    if message.contains("multiple YAML documents") {
        return "there is more than one document in this file".to_owned();
    }
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn line_of<T>(part: &Spanned<T>) -> usize {
    usize::try_from(part.referenced.line()).unwrap_or(1).max(1)
}

fn take(
    node: Node,
    pointer: &str,
    lines: &mut BTreeMap<String, usize>,
    repeated: &mut Vec<(String, usize)>,
) -> Value {
    match node {
        Node::Scalar(value) => value,
        Node::List(entries) => {
            let entries = entries.into_iter().enumerate().map(|(index, entry)| {
                let below = format!("{pointer}/{index}");
                lines.insert(below.clone(), line_of(&entry));
                take(entry.value, &below, lines, repeated)
            });
            Value::Array(entries.collect())
        }
        Node::Map(entries) => {
            let mut map = Map::new();
            for (key, entry) in entries {
                let below = format!("{pointer}/{}", escape(&key.value));
                let line = line_of(&key);
                if map.contains_key(&key.value) {
                    repeated.push((below.clone(), line));
                }
                lines.insert(below.clone(), line);
                let value = take(entry.value, &below, lines, repeated);
                map.insert(key.value, value);
            }
            Value::Object(map)
        }
    }
}

/// A key as it stands in a JSON pointer (RFC 6901).
pub(crate) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

enum Node {
    Scalar(Value),
    List(Vec<Spanned<Node>>),
    Map(Vec<(Spanned<String>, Spanned<Node>)>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Node, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("this number is not finite"))?;
        Ok(Node::Scalar(number.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = entries.next_element()? {
            list.push(entry);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Node::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "# a cluster\nname: demo\nhosts:\n- name: a\n  labels:\n    example.com/x: y\n- {name: b,\n   address: c}\n";

    #[test]
    fn every_part_has_its_line() {
        let document = Document::parse(TEXT).expect("YAML");
        let lines = [
            ("/name", 2),
            ("/hosts", 3),
            ("/hosts/0", 4),
            ("/hosts/0/labels/example.com~1x", 6),
            ("/hosts/1/address", 8),
            ("/hosts/1/roles/3", 7),
            ("/network/pods", 2),
        ];
        for (pointer, line) in lines {
            assert_eq!(document.line(pointer), Some(line), "{pointer}");
        }
    }

    #[test]
    fn json_has_lines_too() {
        let document =
            Document::parse("{\n\t\"name\": \"demo\",\n\t\"hosts\": [\n\t\t{}\n\t]\n}").expect("JSON");
        assert_eq!(document.value, json!({"name": "demo", "hosts": [{}]}));
        assert_eq!(document.line("/hosts/0"), Some(4));
    }

    #[test]
    fn repeated_keys_are_found() {
        let document = Document::parse("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n").expect("YAML");
        assert_eq!(document.repeated, [("/b/c".to_owned(), 4), ("/a".to_owned(), 5)]);
        assert_eq!(document.value, json!({"a": 3, "b": {"c": 2}}));
    }

    #[test]
    fn what_cannot_be_read_has_a_line() {
        for (text, line, part) in [
            ("{\n\"a\": 1,\n\"b\" 2\n}", 3, "expected `:`"),
            ("a: 1\nb: [1\n", 2, ""),
            ("# nothing\n\n", 1, "empty"),
            ("a: 1\n---\nb: 2\n", 2, "document"),
        ] {
            let problem = Document::parse(text).expect_err("unreadable");
            assert!(problem.line.abs_diff(line) <= 1, "{text}: {}", problem.line);
            assert!(problem.reason.contains(part), "{text}: {}", problem.reason);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_upsets_the_parser(text in "(---|[a-z]+|: |\\n|  |- |\\[|\\{|\"|&a|\\*a|<<|\\}){0,40}") {
            let _ = Document::parse(&text);
        }
    }
}
