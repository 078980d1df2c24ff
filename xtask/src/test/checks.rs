//! What is checked without running anything: format, lints, licences and bans.

use std::time::Instant;

use anyhow::Result;

use super::outcome::Summary;
use crate::{
    command::{Step, tail, which},
    workspace::Workspace,
};

struct Check {
    name: &'static str,
    arguments: &'static [&'static str],
    /// A program without which the check is left out.
    needs: Option<&'static str>,
}

const CHECKS: [Check; 3] = [
    Check { name: "format", arguments: &["fmt", "--all", "--check"], needs: None },
    Check {
        name: "clippy",
        arguments: &["clippy", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"],
        needs: None,
    },
    Check {
        name: "deny",
        arguments: &["deny", "--offline", "check", "bans", "licenses", "sources"],
        needs: Some("cargo-deny"),
    },
];

/// Runs all checks.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn run(workspace: &Workspace, summary: &mut Summary) -> Result<()> {
    for check in CHECKS {
        if let Some(program) = check.needs.filter(|program| which(program).is_none()) {
            summary.skip(check.name, &format!("{program} is not installed (cargo install {program})"));
            continue;
        }
        let started = Instant::now();
        let log = workspace.logs().join(format!("{}.log", check.name));
        let passed = cargo(workspace, check.name).arguments(check.arguments).status(&log)?;
        println!("{:40} {:7.1} s", check.name, started.elapsed().as_secs_f64());
        if passed {
            summary.pass();
        } else {
            summary.fail(check.name, &tail(&log));
        }
    }
    Ok(())
}

/// Cargo, in this workspace and its build folder.
pub(crate) fn cargo(workspace: &Workspace, name: &str) -> Step {
    Step::new(name, std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .directory(workspace.root())
        .environment("CARGO_TARGET_DIR", workspace.target())
        .environment("CARGO_INCREMENTAL", "0")
}
