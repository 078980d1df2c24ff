//! Running one test binary.

use std::time::{Duration, Instant};

use anyhow::Result;
use fs_err as fs;

use super::{
    binaries::Binary,
    outcome::{Count, Summary},
};
use crate::{
    command::{Step, tail},
    workspace::Workspace,
};

/// How a binary is run.
#[derive(Clone, Debug)]
pub(crate) struct Suite {
    /// First word of the log's name: a long run beside an ordinary one has logs of its own.
    pub(crate) log: &'static str,
    /// Only tests whose name contains this.
    pub(crate) filter: Option<String>,
    /// Only the tests that are marked as long (`#[ignore]`).
    pub(crate) long: bool,
    /// Environment.
    pub(crate) environment: Vec<(String, String)>,
    /// After this it is ended and has failed.
    pub(crate) limit: Duration,
}

impl Default for Suite {
    fn default() -> Self {
        Self {
            log: "test",
            filter: None,
            long: false,
            environment: Vec::new(),
            limit: Duration::from_secs(20 * 60),
        }
    }
}

/// Runs one binary and adds what it came to.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn test(
    workspace: &Workspace,
    binary: &Binary,
    suite: &Suite,
    summary: &mut Summary,
) -> Result<Count> {
    let started = Instant::now();
    let log = workspace.logs().join(format!("{}-{}.log", suite.log, binary.name.replace(' ', "-")));
    let mut step = Step::new(&binary.name, &binary.path)
        .directory(&binary.directory)
        .environment("CARGO_MANIFEST_DIR", &binary.directory)
        .environment("CARGO_PKG_NAME", &binary.package)
        .environment("TRELLIS_CACHE", workspace.cache())
        .limit(suite.limit);
    for (name, value) in &suite.environment {
        step = step.environment(name, value);
    }
    if let Some(filter) = &suite.filter {
        step = step.arguments([filter]);
    }
    if suite.long {
        step = step.arguments(["--ignored"]);
    }
    let passed = step.status(&log)?;
    let seconds = started.elapsed().as_secs_f64();
    let output = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    match Count::parse(&output) {
        Some(count) if passed || count.failed > 0 => {
            summary.add(&binary.name, &count, seconds);
            if count.failed > 0 {
                println!("{}", failures(&output));
            }
            Ok(count)
        }
        // It crashed, or was ended: what it printed before does not count.
        _ => {
            let detail = format!(
                "  ended without a result after {seconds:.0} s; its log {}\n{}",
                log.display(),
                tail(&log)
            );
            summary.fail(&binary.name, &detail);
            Ok(Count { failed: 1, ..Count::default() })
        }
    }
}

/// The part of the output that tells of failures.
fn failures(output: &str) -> &str {
    output.find("\nfailures:\n").map_or(output, |at| &output[at..])
}
