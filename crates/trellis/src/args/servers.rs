//! `trellis servers`.

use clap::Args;

use super::{DoorArgs, PrintAs};

/// List the API servers behind the door.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis servers\n  \
    trellis servers -o wide      with endpoints and what to do about trouble\n  \
    trellis servers --watch      print again what changes")]
pub(crate) struct ServersArgs {
    /// How to print [default: a table]
    #[arg(short, long, value_enum, value_name = "HOW")]
    pub(crate) output: Option<PrintAs>,
    /// Keep running and print what changes
    #[arg(short, long)]
    pub(crate) watch: bool,
    /// The door.
    #[command(flatten)]
    pub(crate) door: DoorArgs,
}
