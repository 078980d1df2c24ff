//! `trellis explain`.

use clap::{Args, Subcommand};

use super::{DoorArgs, PrintAs};

/// Say what the door would do.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  trellis explain route GET /apis/example.trellis.dev/v1/namespaces/default/notes"
)]
pub(crate) struct ExplainArgs {
    /// What to explain.
    #[command(subcommand)]
    pub(crate) what: ExplainWhat,
}

/// What can be explained.
#[derive(Subcommand, Debug)]
pub(crate) enum ExplainWhat {
    /// Which server would answer a request, why, and what it would be sent
    #[command(after_help = "Examples:\n  \
        trellis explain route GET /apis/example.trellis.dev/v1/namespaces/default/notes\n  \
        trellis explain route DELETE /api/v1/namespaces/default -o json")]
    Route {
        /// HTTP method
        #[arg(value_name = "METHOD")]
        method: String,
        /// Path, with its query if it has one
        #[arg(value_name = "PATH")]
        path: String,
        /// How to print [default: text]
        #[arg(short, long, value_enum, value_name = "HOW")]
        output: Option<PrintAs>,
        /// The door.
        #[command(flatten)]
        door: DoorArgs,
    },
}
