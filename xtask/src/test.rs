//! `cargo xtask test`: everything that shows whether the code is right, and one line at the end.

mod binaries;
mod checks;
mod full;
mod outcome;
mod run;

use std::{process::ExitCode, time::Instant};

use anyhow::Result;

use crate::{
    components::Components,
    upstream::{self, Missing, Selection},
    workspace::Workspace,
};
use outcome::Summary;

/// Arguments of `cargo xtask test`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The long runs of one area, or of all areas; results go into results/AREA.json.
    #[arg(long, value_name = "AREA", num_args = 0..=1, default_missing_value = "all")]
    full: Option<String>,
    /// Takes upstream components as they are, without building what is missing.
    #[arg(long)]
    no_upstream: bool,
}

/// Runs the command.
///
/// # Errors
/// When something cannot even be tried; a test that fails is an exit code.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<ExitCode> {
    let started = Instant::now();
    let mut summary = Summary::default();
    println!("commit {}, build folder {}", workspace.commit(), workspace.target().display());
    if !arguments.no_upstream {
        prepare(workspace, arguments.full.is_some(), &mut summary)?;
    }
    match &arguments.full {
        Some(area) => full::run(workspace, area, &mut summary)?,
        None => {
            checks::run(workspace, &mut summary)?;
            binaries::run(workspace, &mut summary)?;
        }
    }
    println!("\nall of it took {:.0} s", started.elapsed().as_secs_f64());
    Ok(summary.close())
}

fn prepare(workspace: &Workspace, full: bool, summary: &mut Summary) -> Result<()> {
    let started = Instant::now();
    let components = Components::read(workspace.root())?;
    let selection = Selection { names: Vec::new(), full, hosts: false };
    for Missing { name, reason } in upstream::prepare(workspace, &components, &selection)? {
        // A component that fails to build with everything at hand is a defect; one that this machine
        // cannot have is a reason to leave its tests out.
        if reason.contains(" failed; its log") {
            summary.fail(&format!("upstream {name}"), &reason);
        } else {
            summary.skip(&format!("upstream {name}"), &reason);
        }
    }
    println!("upstream: ready after {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}
