//! `trellis`: the door, the commands that work with it, and the wiring between the crates.

mod args;
mod commands;
mod config;
mod door;
mod example_server;
mod exit;
mod logging;
mod output;
mod wiring;

use std::process::ExitCode;

use clap::Parser;

/// Gives memory back after a burst of watches, which the system's allocator does not.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(message) => return exit::usage(&message),
    };
    match commands::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => problem.report(),
    }
}
