//! A file with decisions between double braces.
//!
//! There are three forms, and no more: `{{ name }}` is one value; `{{ name... }}` makes the line once for
//! each entry of a list; `{{ if name }}` and `{{ end }}`, each alone on a line, keep the lines between
//! them when the decision is true. Conditions do not nest.

use crate::error::Error;

/// A file, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Its path below `deploy/`.
    pub file: String,
    /// The lines that may be rendered; those with `if` and `end` are not among them.
    pub lines: Vec<Line>,
}

/// A line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Line in the file, from 1.
    pub number: usize,
    /// The decision that it depends on.
    pub when: Option<String>,
    /// Its text and the decisions in it.
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Value(String),
    List(String),
}

impl Line {
    /// Names of the decisions in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Value(name) | Piece::List(name) => Some(name.as_str()),
        })
    }

    /// The list that it is made for each entry of.
    pub(crate) fn list(&self) -> Option<&str> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::List(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Its text, with nothing where decisions stand.
    pub fn without_values(&self) -> Vec<&str> {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

impl Template {
    /// Reads it.
    ///
    /// # Errors
    /// [`Error::Template`] at the first line whose braces are not understood.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let mut when: Option<String> = None;
        let mut lines = Vec::new();
        for (index, text) in text.lines().enumerate() {
            let number = index + 1;
            let failed = |problem| Error::Template { file: file.to_owned(), line: number, problem };
            match control(text) {
                Some(Control::If(_)) if when.is_some() => return Err(failed("conditions do not nest")),
                Some(Control::If(name)) => when = Some(name.to_owned()),
                Some(Control::End) if when.is_none() => return Err(failed("there is no condition to end")),
                Some(Control::End) => when = None,
                None => {
                    let pieces = pieces(text).map_err(failed)?;
                    lines.push(Line { number, when: when.clone(), pieces });
                }
            }
        }
        if when.is_some() {
            let (file, line) = (file.to_owned(), text.lines().count());
            return Err(Error::Template { file, line, problem: "a condition is not ended" });
        }
        Ok(Self { file: file.to_owned(), lines })
    }

    /// The comment above a line that says why it is there; else the one at the top of the file.
    pub fn why(&self, number: usize) -> String {
        let Some(at) = self.lines.iter().position(|line| line.number == number) else { return String::new() };
        let starts = (0..=at).rev().filter(|start| self.is_start_of_comment(*start));
        let nearest = starts.into_iter().find(|start| self.governs(*start, at)).unwrap_or(0);
        let words = self.lines[nearest..].iter().map_while(comment);
        words.collect::<Vec<_>>().join(" ")
    }

    fn is_start_of_comment(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| comment(&self.lines[before]));
        comment(&self.lines[at]).is_some() && before.is_none()
    }

    /// Whether the comment that starts here speaks of the line too: down to a blank line, to one that is
    /// indented less, and to where a list or a section begins or ends.
    fn governs(&self, start: usize, at: usize) -> bool {
        let indent = indent(&self.lines[start]);
        let mut governed = self.lines[start..=at]
            .iter()
            .filter(|line| comment(line).is_none())
            .map(|line| (text(line), line));
        let Some(first) = governed.clone().next().map(|(text, _)| kind(text)) else {
            // The line is part of the comment.
            return true;
        };
        governed.all(|(text, line)| match text.is_empty() {
            true => false,
            false if self::indent(line) == indent => kind(text) == first,
            false => self::indent(line) > indent,
        })
    }
}

/// What the line begins with.
fn start(line: &Line) -> &str {
    match line.pieces.first() {
        Some(Piece::Text(text)) => text,
        _ => "{{",
    }
}

fn text(line: &Line) -> &str {
    start(line).trim_start()
}

/// Entries of lists, headings of sections, and everything else.
fn kind(text: &str) -> Option<char> {
    text.chars().next().filter(|first| ['-', '['].contains(first))
}

fn indent(line: &Line) -> usize {
    start(line).len() - text(line).len()
}

fn comment(line: &Line) -> Option<&str> {
    match line.pieces.as_slice() {
        [Piece::Text(text)] => Some(text.trim().strip_prefix('#')?.trim()),
        _ => None,
    }
}

enum Control<'a> {
    If(&'a str),
    End,
}

fn control(line: &str) -> Option<Control<'_>> {
    let inner = line.trim().strip_prefix("{{ ")?.strip_suffix(" }}")?;
    match inner.strip_prefix("if ") {
        Some(name) if is_name(name) => Some(Control::If(name)),
        _ => (inner == "end").then_some(Control::End),
    }
}

fn pieces(line: &str) -> Result<Vec<Piece>, &'static str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{ ") {
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        let (name, after) = after.split_once(" }}").ok_or("\"{{ \" has no \" }}\"")?;
        pieces.push(match name.strip_suffix("...") {
            Some(name) if is_name(name) => Piece::List(name.to_owned()),
            None if is_name(name) => Piece::Value(name.to_owned()),
            _ => return Err("between the braces belongs one name"),
        });
        rest = after;
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    let lists = pieces.iter().filter(|piece| matches!(piece, Piece::List(_))).count();
    let values = pieces.iter().filter(|piece| matches!(piece, Piece::Value(_))).count();
    if lists > 1 || (lists == 1 && values > 0) {
        return Err("a line with a list has no other name");
    }
    Ok(pieces)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        let text = "# why\na: {{ x.y }}:{{ z }}\n{{ if b }}\n- {{ l... }}\n{{ end }}\n{{.Other}}\n\n";
        let template = Template::parse("f", text).expect("a template");
        let numbers: Vec<usize> = template.lines.iter().map(|line| line.number).collect();
        assert_eq!(numbers, [1, 2, 4, 6, 7]);
        assert_eq!(template.lines[1].names().collect::<Vec<_>>(), ["x.y", "z"]);
        assert_eq!(template.lines[1].without_values(), ["a: ", ":"]);
        assert_eq!(template.lines[2].when.as_deref(), Some("b"));
        assert_eq!(template.lines[2].list(), Some("l"));
        assert_eq!(template.lines[3].without_values(), ["{{.Other}}"]);
        assert_eq!(template.why(2), "why");
        assert_eq!(template.why(6), "why");
    }

    #[test]
    fn the_nearest_comment_says_why() {
        let text = "# top\na:\n  # one\n  # two\n  - b\n  - {{ c }}\n    d\n  e: f\ng\n\n# other\nh\n\ni\n";
        let template = Template::parse("f", text).expect("a template");
        let reasons = [
            (1, "top"),
            (2, "top"),
            (4, "one two"),
            (5, "one two"),
            (6, "one two"),
            (7, "one two"),
            (8, "top"),
            (9, "top"),
            (12, "other"),
            (14, "top"),
        ];
        for (number, why) in reasons {
            assert_eq!(template.why(number), why, "{number}");
        }
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, line, problem) in [
            ("{{ if a }}\n{{ if b }}\n{{ end }}\n{{ end }}", 2, "conditions do not nest"),
            ("a\n{{ end }}", 2, "there is no condition to end"),
            ("{{ if a }}\nb", 2, "a condition is not ended"),
            ("a {{ b", 1, "\"{{ \" has no \" }}\""),
            ("a {{ b c }}", 1, "between the braces belongs one name"),
            ("{{ a... }} {{ b }}", 1, "a line with a list has no other name"),
        ] {
            let expected = Error::Template { file: "f".to_owned(), line, problem };
            assert_eq!(Template::parse("f", text), Err(expected), "{text}");
        }
    }
}
