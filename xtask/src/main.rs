//! The project's own commands: `cargo xtask test`, `bench`, `upstream`, `images` and `hosts`.

mod bench;
mod command;
mod components;
mod hosts;
mod images;
mod test;
mod upstream;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// One command for each thing that is done to this repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Prepares what the tests need, runs all checks and tests, and sums up.
    Test(test::Arguments),
    /// Measures the optimised binary against its peers.
    Bench(bench::Arguments),
    /// Builds or installs the real components named in upstream/components.toml; starts nothing.
    Upstream(upstream::Arguments),
    /// Makes images of the real components, for clusters on test hosts.
    Images(images::Arguments),
    /// Boots test hosts on this machine, or takes them away.
    Hosts(hosts::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = Workspace::find().and_then(|workspace| match arguments.task {
        Task::Test(arguments) => test::run(&workspace, &arguments),
        Task::Bench(arguments) => bench::run(&workspace, &arguments),
        Task::Upstream(arguments) => upstream::run(&workspace, &arguments),
        Task::Images(arguments) => images::run(&workspace, &arguments),
        Task::Hosts(arguments) => hosts::run(&workspace, &arguments),
    });
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
