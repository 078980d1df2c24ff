//! The mistakes found so far.

use serde_json::Value;

use crate::{
    document::{Document, Unreadable},
    finding::{Finding, Rule, Source},
    shape::Misshapen,
};

#[derive(Default)]
pub(super) struct Report {
    object: Option<Document>,
    inventory: Option<Document>,
    found: Vec<Finding>,
}

impl Report {
    pub(super) fn document(&mut self, source: Source, document: Document) {
        for (pointer, line) in &document.repeated {
            self.found.push(Finding {
                source,
                pointer: pointer.clone(),
                line: Some(*line),
                value: None,
                rule: Rule::Syntax,
                reason: "this key stands here a second time".to_owned(),
                fix: "keep one of the two".to_owned(),
            });
        }
        match source {
            Source::Object => self.object = Some(document),
            Source::Inventory => self.inventory = Some(document),
        }
    }

    pub(super) fn unreadable(&mut self, source: Source, problem: Unreadable) {
        self.found.push(Finding {
            source,
            pointer: String::new(),
            line: Some(problem.line),
            value: None,
            rule: Rule::Syntax,
            reason: problem.reason,
            fix: "correct the text: one JSON or YAML object".to_owned(),
        });
    }

    pub(super) fn misshapen(&mut self, source: Source, problem: Misshapen) {
        let line = self.line(source, &problem.pointer);
        let Misshapen { pointer, value, rule, reason, fix } = problem;
        self.found.push(Finding { source, pointer, line, value, rule, reason, fix });
    }

    /// Adds a mistake, unless this place, or the whole of which it is part, is known to be wrong.
    pub(super) fn add(
        &mut self,
        source: Source,
        pointer: impl Into<String>,
        rule: Rule,
        reason: impl Into<String>,
        fix: impl Into<String>,
    ) {
        let pointer = pointer.into();
        if self.is_wrong(source, &pointer) {
            return;
        }
        let value = self.value(source, &pointer).cloned();
        let line = self.line(source, &pointer);
        let (reason, fix) = (reason.into(), fix.into());
        self.found.push(Finding { source, pointer, line, value, rule, reason, fix });
    }

    /// Whether something is known to be wrong with this place or the whole of which it is part.
    pub(super) fn is_wrong(&self, source: Source, pointer: &str) -> bool {
        self.found.iter().filter(|finding| finding.source == source).any(|finding| {
            let rest = pointer.strip_prefix(finding.pointer.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Whether something is known to be wrong within this place.
    pub(super) fn is_wrong_within(&self, source: Source, pointer: &str) -> bool {
        let below = format!("{pointer}/");
        self.is_wrong(source, pointer)
            || self
                .found
                .iter()
                .any(|finding| finding.source == source && finding.pointer.starts_with(&below))
    }

    /// Whether the file has something at this place.
    pub(super) fn has(&self, source: Source, pointer: &str) -> bool {
        self.value(source, pointer).is_some()
    }

    fn of(&self, source: Source) -> Option<&Document> {
        match source {
            Source::Object => self.object.as_ref(),
            Source::Inventory => self.inventory.as_ref(),
        }
    }

    fn value(&self, source: Source, pointer: &str) -> Option<&Value> {
        self.of(source)?.value.pointer(pointer)
    }

    fn line(&self, source: Source, pointer: &str) -> Option<usize> {
        self.of(source)?.line(pointer)
    }

    /// All mistakes in the order of the files.
    pub(super) fn finish(mut self) -> Result<(), Vec<Finding>> {
        self.found.sort_by(|a, b| (a.source, a.line, &a.pointer).cmp(&(b.source, b.line, &b.pointer)));
        if self.found.is_empty() { Ok(()) } else { Err(self.found) }
    }
}
