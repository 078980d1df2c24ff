//! Where a line of a host's file comes from, and why it is there.

use cluster_spec::{Content, Decisions};
use serde::{Deserialize, Serialize};

use crate::{
    deploy::Deploy,
    error::Error,
    layout::Origin,
    template::{Line, Template},
    tree::{File, RenderedLine},
};

/// The explanation of one line. It holds no values, so that it can be shown to anybody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// File and line below `deploy/`, or the key that the file is.
    pub from: String,
    /// The comment there that says why it is there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The decisions that stand in it, and the one on which it depends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// A decision behind a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Whether the line is there at all because of it.
    #[serde(default)]
    pub condition: bool,
    /// JSON pointers of the fields that it follows from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// Why it is so.
    pub reason: String,
}

/// Explains every line of a file; a key or certificate is explained as a whole.
///
/// # Errors
/// When `deploy` is another one than that of which the file was made.
pub fn explain(deploy: &Deploy, decisions: &Decisions, file: &File) -> Result<Vec<Explanation>, Error> {
    let whole = file.when.as_deref().and_then(|name| condition(decisions, name));
    let path = match &file.origin {
        Origin::Template(path) => path,
        Origin::Folder => return Ok(Vec::new()),
        Origin::Key(name) => {
            let why = "a key or certificate, made once and kept".to_owned();
            let from = format!("key {name} (tree.txt:{})", file.layout_line);
            return Ok(vec![Explanation { from, why, parts: whole.into_iter().collect() }]);
        }
    };
    let missing = || Error::NoFile { by: file.path.clone(), file: path.clone() };
    let template = Template::parse(path, deploy.get(path).ok_or_else(missing)?)?;
    let lines = file.lines.iter().filter_map(|rendered| {
        let line = template.lines.iter().find(|line| line.number == rendered.number)?;
        Some(explanation(decisions, &template, line, rendered, whole.as_ref()))
    });
    Ok(lines.collect())
}

fn explanation(
    decisions: &Decisions,
    template: &Template,
    line: &Line,
    rendered: &RenderedLine,
    whole: Option<&Part>,
) -> Explanation {
    let own = line.names().filter_map(|name| part(decisions, name, rendered.item));
    let conditions = line.when.iter().filter_map(|name| condition(decisions, name));
    Explanation {
        from: format!("{}:{}", template.file, line.number),
        why: template.why(line.number),
        parts: own.chain(conditions).chain(whole.cloned()).collect(),
    }
}

fn condition(decisions: &Decisions, name: &str) -> Option<Part> {
    Some(Part { condition: true, ..part(decisions, name, None)? })
}

fn part(decisions: &Decisions, name: &str, item: Option<usize>) -> Option<Part> {
    if name.starts_with("key.") {
        let reason = "a key of the cluster, never shown".to_owned();
        return Some(Part { name: name.to_owned(), condition: false, fields: Vec::new(), reason });
    }
    let decision = decisions.get(name)?;
    let fields = match (&decision.content, item) {
        (Content::Items(items), Some(index)) => items.get(index)?.from.clone(),
        _ => decision.from.clone(),
    };
    Some(Part { name: name.to_owned(), condition: false, fields, reason: decision.reason.clone() })
}
