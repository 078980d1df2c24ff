//! A plan as people read it.

use std::fmt;

use super::{Change, Conflict, HostPlan, Reason};

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MakeFolder { path, mode } => write!(f, "+ {path}/ {mode:04o}"),
            Self::Create { path, mode, diff, sha256 } => match diff {
                Some(diff) => {
                    write!(
                        f,
                        "+ {path} {mode:04o}, {} lines",
                        diff.lines().filter(|l| l.starts_with('+')).count() - 1
                    )
                }
                None => write!(f, "+ {path} {mode:04o}, not shown, sha256 {}", short(sha256)),
            },
            Self::Replace { path, before, sha256, reason, .. } => {
                let reason = match reason {
                    Reason::Wanted => "",
                    Reason::Drift => ", was changed on the host",
                    Reason::Overwritten => ", is of somebody else and kept aside",
                };
                write!(f, "~ {path}, sha256 {} -> {}{reason}", short(before), short(sha256))
            }
            Self::Mode { path, before, mode } => write!(f, "~ {path}, {before} -> {mode:04o} of 0:0"),
            Self::TakeOver { path } => write!(f, "= {path}, is as wanted and counts as ours from now on"),
            Self::Remove { path } => write!(f, "- {path}"),
            Self::RemoveFolder { path, contents: true } => write!(f, "- {path}/ with everything in it"),
            Self::RemoveFolder { path, contents: false } => write!(f, "- {path}/ when it is empty"),
            Self::Restore { path } => write!(f, "~ {path}, what was there before comes back"),
            Self::Stop { unit } => write!(f, "- unit {unit}: stop, disable"),
            Self::Reload => f.write_str("~ systemd reads its units"),
            Self::Enable { unit } => write!(f, "+ unit {unit}: enable"),
            Self::Start { unit } => write!(f, "+ unit {unit}: start"),
            Self::Restart { unit, because } => match because.as_slice() {
                [] => write!(f, "~ unit {unit}: restart, which an earlier run did not come to"),
                [only] => write!(f, "~ unit {unit}: restart because of {only}"),
                [first, rest @ ..] => {
                    write!(f, "~ unit {unit}: restart because of {first} and {} more", rest.len())
                }
            },
            Self::Join => f.write_str("+ join the cluster with a token that lives an hour"),
            Self::StopPods => f.write_str("- containers of the cluster"),
            Self::Clear { leaf } => write!(f, "- {leaf}, left by the cluster"),
            Self::Record => f.write_str("~ what is recorded on the host"),
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{path}: ")?;
        }
        write!(f, "{} ({})", self.problem, self.fix)
    }
}

impl HostPlan {
    /// The plan, each change on a line, with the differences of files that change; with `full` also those that are new.
    pub fn to_text(&self, full: bool) -> String {
        use fmt::Write as _;
        let mut text = format!("{}:", self.host);
        if self.is_empty() {
            text.push_str(" no change\n");
            return text;
        }
        text.push('\n');
        for conflict in &self.conflicts {
            let _ = writeln!(text, "  ! conflict: {conflict}");
        }
        for change in &self.changes {
            let _ = writeln!(text, "  {change}");
            let diff = match change {
                Change::Replace { diff, .. } => diff.as_deref(),
                Change::Create { diff, .. } if full => diff.as_deref(),
                _ => None,
            };
            for line in diff.unwrap_or_default().lines().skip(2) {
                let _ = writeln!(text, "      {}", crate::session::printable(line.as_bytes()));
            }
        }
        text
    }
}

fn short(sha256: &str) -> &str {
    sha256.get(..12).unwrap_or("nothing")
}
