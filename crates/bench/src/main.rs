//! `bench door`: the door against nginx and kube-apiserver's aggregator, in one run on one machine.
//!
//! Every figure is a ratio of two measurements taken seconds apart, alternating; the median of the
//! rounds is printed with an interval of about 95 %. What is measured is the CPU time and memory of
//! the process under test, read from `/proc`; the load and the backend run in processes of their own.

mod backend;
mod client;
mod peers;
mod process;
mod report;
mod stats;
mod works;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Measures Trellis against its peers")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The door: proxying, memory, registrations, isolation.
    Door(DoorArgs),
    /// A backend with scripted behaviour, used by the other command.
    #[command(hide = true)]
    Backend(backend::Args),
}

/// What to measure.
#[derive(clap::Args)]
pub struct DoorArgs {
    /// The optimised binary under test.
    #[arg(long)]
    pub trellis: PathBuf,
    /// Alternating rounds of each comparison.
    #[arg(long, default_value_t = 15)]
    pub rounds: usize,
    /// Only these works (get, list, watches, registrations, neighbours, failover).
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
    /// The commit that is measured, for the report.
    #[arg(long, default_value = "unknown")]
    pub commit: String,
    /// The cargo profile that the binary was built with, for the report.
    #[arg(long, default_value = "unknown")]
    pub profile: String,
    /// Where the figures go, as JSON; those of works that are left out are kept as they stand there.
    #[arg(long)]
    pub out: Option<PathBuf>,
}

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match Args::parse().command {
        Command::Door(args) => runtime.block_on(works::run(&args)),
        Command::Backend(args) => runtime.block_on(backend::run(args)),
    }
}
