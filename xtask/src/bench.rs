//! `cargo xtask bench door`: the optimised binary against its peers, with a result file.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use fs_err as fs;

use crate::{
    command::Step,
    components::Components,
    upstream::{self, Missing, Selection},
    workspace::Workspace,
};

/// What stands beside the door in the comparison.
const PEERS: &[&str] = &["debian", "etcd", "kube-apiserver", "kubectl"];

/// Arguments of `cargo xtask bench`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What to measure; there is `door`.
    subject: String,
    /// Further arguments of the benchmark, such as `--only get --rounds 5`.
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Runs the command; figures go into results/bench-SUBJECT.json.
///
/// # Errors
/// When a build fails or something cannot be measured.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<ExitCode> {
    if arguments.subject != "door" {
        bail!("there is no benchmark {:?}; there is door", arguments.subject);
    }
    let names = PEERS.iter().map(|name| (*name).to_owned()).collect();
    let selection = Selection { names, full: false, hosts: false };
    for Missing { name, reason } in
        upstream::prepare(workspace, &Components::read(workspace.root())?, &selection)?
    {
        eprintln!("without {name}: {reason}");
    }
    Step::new("the optimised build", "cargo")
        .arguments(["build", "--profile", "dist", "--package", "trellis", "--package", "bench"])
        .directory(workspace.root())
        .environment("CARGO_TARGET_DIR", workspace.target())
        .logged(&workspace.logs().join("bench-build.log"))?;
    let programs = workspace.target().join("dist");
    let results = workspace.root().join("results");
    fs::create_dir_all(&results)?;
    let status = Command::new(programs.join("bench"))
        .arg(&arguments.subject)
        .arg("--trellis")
        .arg(programs.join("trellis"))
        .args(["--profile", "dist", "--commit"])
        .arg(workspace.commit())
        .arg("--out")
        .arg(results.join(format!("bench-{}.json", arguments.subject)))
        .args(&arguments.arguments)
        .env("TRELLIS_CACHE", workspace.cache())
        .status()
        .context("the benchmark cannot be started")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
