//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write as _};

pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A text under construction.
#[derive(Debug, Default)]
pub(super) struct Exposition(String);

impl Exposition {
    /// The head of a family; its samples follow.
    pub(super) fn family(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// One sample.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (index, (label, text)) in labels.iter().enumerate() {
            self.0.push(if index == 0 { '{' } else { ',' });
            let _ = write!(self.0, "{label}=\"");
            self.escaped(text);
            self.0.push('"');
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }

    /// A family with one sample without labels.
    pub(super) fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, help, "counter");
        self.sample(name, &[], value);
    }

    /// A family with one sample without labels.
    pub(super) fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, help, "gauge");
        self.sample(name, &[], value);
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    fn escaped(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '\\' => self.0.push_str("\\\\"),
                '"' => self.0.push_str("\\\""),
                '\n' => self.0.push_str("\\n"),
                c => self.0.push(c),
            }
        }
    }
}
