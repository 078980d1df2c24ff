//! `trellis up`.

use std::path::PathBuf;

use clap::Args;

/// Everything on this machine with one command.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis up                                  state kept under ~/.local/state/trellis/up\n  \
    trellis up --data ./trellis                 state kept where you say\n  \
    trellis up --ephemeral --listen 127.0.0.1:0 nothing kept, any free port\n\n\
    Ctrl-C stops it; a second Ctrl-C stops it at once.")]
pub(crate) struct UpArgs {
    /// Folder for keys, certificates, registrations and the example's objects
    #[arg(long, value_name = "DIR", conflicts_with = "ephemeral")]
    pub(crate) data: Option<PathBuf>,
    /// Keep nothing: use a temporary folder and remove it at the end
    #[arg(long)]
    pub(crate) ephemeral: bool,
    /// Address of the door; port 0 takes any free port [default: 127.0.0.1:6443, or a free port]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
}
