//! `trellis cluster explain`.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use ::render::{Explanation, Part};
use serde_json::json;

use super::render::{EXPLANATIONS, Explained, ExplainedFile};
use crate::{
    args::{ClusterExplainArgs, DocumentAs},
    commands::print,
    exit::{Code, Outcome, Problem},
    output,
};

/// Says where lines of a rendered file come from.
pub(super) fn run(args: &ClusterExplainArgs) -> Outcome {
    let (file, line) = place(&args.place);
    let (explained, name) = find(&file)?;
    let found = explained.files.get(&name).ok_or_else(|| {
        Problem::new(Code::NotFound, format!("{}: trellis cluster render did not write it", file.display()))
            .next("name a file below a folder that it wrote")
    })?;
    let texts = texts(&file, found)?;
    let wanted: Vec<(usize, &Explanation)> = found
        .lines
        .iter()
        .enumerate()
        .filter(|(index, _)| line.is_none_or(|line| line == index + 1))
        .collect();
    if wanted.is_empty() {
        let what = format!("{} has {} lines", file.display(), found.lines.len());
        return Err(Problem::new(Code::NotFound, what).next("name one of them"));
    }
    if let Some(format) = args.output {
        let listed =
            wanted.iter().map(|(index, explanation)| json!({"line": index + 1, "explanation": explanation}));
        let report = json!({"file": name, "lines": listed.collect::<Vec<_>>()});
        return print(&match format {
            DocumentAs::Json => output::json(&report),
            DocumentAs::Yaml => output::yaml(&report),
        });
    }
    let mut text = String::new();
    for (index, explanation) in wanted {
        let shown = texts.get(index).map_or("(not shown)", String::as_str);
        show(&mut text, index + 1, shown, explanation);
    }
    print(&text)
}

/// `FILE` or `FILE:LINE`.
fn place(text: &str) -> (PathBuf, Option<usize>) {
    match text.rsplit_once(':').map(|(file, line)| (file, line.parse::<usize>())) {
        Some((file, Ok(line))) => (file.into(), Some(line)),
        _ => (text.into(), None),
    }
}

/// The explanations of the folder that the file lies below, and its name there.
fn find(file: &Path) -> Outcome<(Explained, String)> {
    let not_found =
        |error: std::io::Error| Problem::new(Code::Input, error).next("name a file that was rendered");
    let file = fs_err::canonicalize(file).map_err(not_found)?;
    for folder in file.ancestors().skip(1) {
        let note = folder.join(EXPLANATIONS);
        if !note.is_file() {
            continue;
        }
        let bytes = pki::read_limited(&note).map_err(Problem::given)?;
        let explained = serde_json::from_slice(&bytes).map_err(|error| {
            Problem::new(Code::Input, format!("{}: {error}", note.display())).next("render it again")
        })?;
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
        return Ok((explained, name));
    }
    Err(Problem::new(Code::NotFound, format!("{} lies in no folder that was rendered", file.display()))
        .next("trellis cluster render CLUSTER -o FOLDER"))
}

/// The lines of the file; none when they are secret or no text.
fn texts(file: &Path, found: &ExplainedFile) -> Outcome<Vec<String>> {
    if found.secret {
        return Ok(Vec::new());
    }
    let bytes = pki::read_limited(file).map_err(Problem::given)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // A key is explained as a whole.
    Ok(if lines.len() == found.lines.len() { lines } else { Vec::new() })
}

fn show(text: &mut String, line: usize, shown: &str, explanation: &Explanation) {
    let _ = writeln!(text, "{line}: {shown}\n    from {}", explanation.from);
    if !explanation.why.is_empty() {
        let _ = writeln!(text, "    {}", explanation.why);
    }
    for Part { name, condition, fields, reason } in &explanation.parts {
        let there = if *condition { "it is there because of " } else { "" };
        let fields = if fields.is_empty() { String::new() } else { format!(" ({})", fields.join(", ")) };
        let _ = writeln!(text, "    {there}{name}: {reason}{fields}");
    }
}
