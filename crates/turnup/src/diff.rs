//! Unified differences of texts, as `diff -u` shows them.

use std::fmt::Write as _;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Most changed lines that are searched for the shortest difference; beyond it everything between the common
/// beginning and end counts as changed.
const SEARCHED: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The difference; empty when there is none.
pub(crate) fn unified(name: &str, before: &str, after: &str) -> String {
    let lines = compare(&before.lines().collect::<Vec<_>>(), &after.lines().collect::<Vec<_>>());
    let changed: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !matches!(line, Line::Same(_)))
        .map(|(at, _)| at)
        .collect();
    let Some(first) = changed.first() else {
        // Lines are the same; the end of the last one is not.
        return if before == after {
            String::new()
        } else {
            format!("--- {name}\n+++ {name}\n\\ end of the last line\n")
        };
    };
    let mut text = format!("--- {name}\n+++ {name}\n");
    let mut hunk = (*first, *first);
    for at in changed.into_iter().chain([usize::MAX]) {
        if at != usize::MAX && at <= hunk.1 + 2 * CONTEXT + 1 {
            hunk.1 = at;
            continue;
        }
        write_hunk(&mut text, &lines, hunk);
        hunk = (at, at);
    }
    text
}

fn write_hunk(text: &mut String, lines: &[Line<'_>], (first, last): (usize, usize)) {
    let (from, to) = (first.saturating_sub(CONTEXT), (last + CONTEXT + 1).min(lines.len()));
    let count = |lines: &[Line<'_>], new: bool| {
        lines
            .iter()
            .filter(|line| !matches!((line, new), (Line::Gone(_), true) | (Line::New(_), false)))
            .count()
    };
    let (hunk, above) = (&lines[from..to], &lines[..from]);
    let place = |new| {
        let length = count(hunk, new);
        format!("{},{length}", count(above, new) + usize::from(length > 0))
    };
    let _ = writeln!(text, "@@ -{} +{} @@", place(false), place(true));
    for line in hunk {
        let _ = match line {
            Line::Same(line) => writeln!(text, " {line}"),
            Line::Gone(line) => writeln!(text, "-{line}"),
            Line::New(line) => writeln!(text, "+{line}"),
        };
    }
}

fn compare<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<Line<'a>> {
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (old, new) = (&before[head..], &after[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let mut lines: Vec<Line<'a>> = before[..head].iter().map(|line| Line::Same(line)).collect();
    if old.len().max(new.len()) > SEARCHED {
        lines.extend(old.iter().map(|line| Line::Gone(line)));
        lines.extend(new.iter().map(|line| Line::New(line)));
    } else {
        middle(&mut lines, old, new);
    }
    lines.extend(before[before.len() - tail..].iter().map(|line| Line::Same(line)));
    lines
}

/// By the longest common subsequence: a table of its lengths from each pair of places to the end.
fn middle<'a>(lines: &mut Vec<Line<'a>>, old: &[&'a str], new: &[&'a str]) {
    let width = new.len() + 1;
    let mut lengths = vec![0_u16; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i * width + j] = if old[i] == new[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push(Line::Same(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len()
            || i < old.len() && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]
        {
            lines.push(Line::Gone(old[i]));
            i += 1;
        } else {
            lines.push(Line::New(new[j]));
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expected: &str) {
        assert_eq!(unified("f", before, after), expected);
    }

    #[test]
    fn as_diff_shows_it() {
        check("a\n", "a\n", "");
        check("", "a\n", "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
        check("a\nb\nc\n", "a\nx\nc\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
        check("a", "a\n", "--- f\n+++ f\n\\ end of the last line\n");
        let long: String = (0..40).map(|n| format!("{n}\n")).collect();
        let changed = long.replacen("\n5\n", "\nx\n", 1).replacen("\n30\n", "\n", 1);
        let diff = unified("f", &long, &changed);
        assert!(diff.contains("@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n"), "{diff}");
        assert!(diff.contains("@@ -28,7 +28,6 @@\n 27\n 28\n 29\n-30\n 31\n"), "{diff}");
    }

    #[test]
    fn it_is_bounded() {
        let (before, after) = ("a\n".repeat(5000), "b\n".repeat(5000));
        assert_eq!(unified("f", &before, &after).lines().count(), 10_003);
    }
}
