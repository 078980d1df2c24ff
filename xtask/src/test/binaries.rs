//! The tests of the workspace: built once, then run binary by binary.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Result;
use fs_err as fs;
use serde::Deserialize;

use super::{
    checks::cargo,
    outcome::{Count, Summary},
    run::{Suite, test},
};
use crate::{command::tail, workspace::Workspace};

/// Builds all tests and runs them.
///
/// # Errors
/// When cargo cannot be started or its answer not be read.
pub(crate) fn run(workspace: &Workspace, summary: &mut Summary) -> Result<()> {
    let Some(binaries) = build(workspace, &[], summary)? else { return Ok(()) };
    for binary in &binaries {
        test(workspace, binary, &Suite::default(), summary)?;
    }
    documentation(workspace, summary)
}

/// One test binary.
#[derive(Clone, Debug)]
pub(crate) struct Binary {
    /// Package and target, for example `gateway it`.
    pub(crate) name: String,
    /// The package alone.
    pub(crate) package: String,
    /// The target alone.
    pub(crate) target: String,
    /// The program.
    pub(crate) path: PathBuf,
    /// Where its package lies.
    pub(crate) directory: PathBuf,
}

/// Builds the test binaries, and the programs that they start; none when that failed.
///
/// # Errors
/// When cargo cannot be started or its answer not be read.
pub(crate) fn build(
    workspace: &Workspace,
    profile: &[&str],
    summary: &mut Summary,
) -> Result<Option<Vec<Binary>>> {
    let started = Instant::now();
    let programs = workspace.logs().join("build-programs.log");
    let built = cargo(workspace, "programs")
        .arguments(["build", "--workspace", "--bins", "--locked"])
        .arguments(profile)
        .status(&programs)?;
    if !built {
        summary.fail("build of the programs", &tail(&programs));
        return Ok(None);
    }
    let log = workspace.logs().join("build-tests.log");
    let built = cargo(workspace, "tests")
        .arguments([
            "test",
            "--workspace",
            "--no-run",
            "--locked",
            "--message-format=json-render-diagnostics",
        ])
        .arguments(profile)
        .status(&log)?;
    println!("{:40} {:7.1} s", "build", started.elapsed().as_secs_f64());
    if !built {
        summary.fail("build of the tests", &tail(&log));
        return Ok(None);
    }
    Ok(Some(parse(&fs::read_to_string(&log)?)))
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// The test binaries in cargo's messages.
fn parse(messages: &str) -> Vec<Binary> {
    let mut binaries: Vec<Binary> = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter(|message| message.reason == "compiler-artifact")
        .filter(|message| message.profile.as_ref().is_some_and(|profile| profile.test))
        .filter_map(|message| {
            let directory = message.manifest_path?.parent()?.to_owned();
            let package = directory.file_name()?.to_string_lossy().into_owned();
            let target = message.target?.name;
            let name = format!("{package} {target}");
            Some(Binary { name, package, target, path: message.executable?, directory })
        })
        .collect();
    binaries.sort_by(|a, b| a.name.cmp(&b.name));
    binaries
}

/// Examples in the documentation.
fn documentation(workspace: &Workspace, summary: &mut Summary) -> Result<()> {
    let started = Instant::now();
    let log: &Path = &workspace.logs().join("documentation.log");
    let passed = cargo(workspace, "documentation")
        .arguments(["test", "--workspace", "--doc", "--locked", "--no-fail-fast"])
        .status(log)?;
    let count = Count::parse(&fs::read_to_string(log)?);
    match count {
        Some(count) if passed || count.failed > 0 => {
            summary.add("documentation", &count, started.elapsed().as_secs_f64());
            if !passed {
                println!("{}", tail(log));
            }
        }
        _ => summary.fail("documentation", &tail(log)),
    }
    Ok(())
}
