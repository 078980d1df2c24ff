//! `trellis serve` and `trellis config`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::config::ServeOptions;

/// Run the door alone.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis serve --listen 127.0.0.1:6443 --state ./door\n  \
    trellis serve --state ./door --registrations ./servers.d --client-ca clients.crt\n  \
    trellis serve --state ./door --core core.kubeconfig --proxy-client-cert proxy.crt --proxy-client-key proxy.key\n  \
    trellis serve --config door.yaml\n\n\
    Every option is also a key of the configuration file (`--client-ca` is `clientCa`); what is\n\
    given here goes before what the file says. SIGTERM drains, a second one ends at once; certificates,\n\
    authorities and tokens are read again when their files change.")]
pub(crate) struct ServeArgs {
    /// Configuration file, YAML or JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Everything that can be set.
    #[command(flatten)]
    pub(crate) options: ServeOptions,
}

/// Configuration files.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  trellis config check door.yaml\n  trellis config schema > door.schema.json"
)]
pub(crate) struct ConfigArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) what: ConfigWhat,
}

/// What can be done with configuration files.
#[derive(Subcommand, Debug)]
pub(crate) enum ConfigWhat {
    /// Read a configuration file and everything it names, and say what is wrong
    #[command(after_help = "Example:\n  trellis config check door.yaml")]
    Check {
        /// The file, YAML or JSON
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print the JSON schema of the configuration file
    #[command(after_help = "Example:\n  trellis config schema > door.schema.json")]
    Schema,
}
