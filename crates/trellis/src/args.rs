//! What was typed. What it means is decided in [`crate::config`] and [`crate::commands`].

mod cluster;
mod door;
mod example_server;
mod explain;
mod register;
mod serve;
mod servers;
mod up;

use clap::{Parser, Subcommand};

pub(crate) use cluster::{
    ClusterAdoptArgs, ClusterApplyArgs, ClusterArgs, ClusterCertsArgs, ClusterDownArgs, ClusterExplainArgs,
    ClusterExportArgs, ClusterInitArgs, ClusterKeysWhat, ClusterKubeconfigArgs, ClusterPlanArgs,
    ClusterRenderArgs, ClusterSchemaArgs, ClusterShowArgs, ClusterTokenArgs, ClusterUnlockArgs,
    ClusterValidateArgs, ClusterWhat, DocumentAs, ObjectArgs, ReachArgs, TellAs,
};
pub(crate) use door::{DoorArgs, PrintAs};
pub(crate) use example_server::ExampleServerArgs;
pub(crate) use explain::{ExplainArgs, ExplainWhat};
pub(crate) use register::{IdentityArg, RegisterArgs, UnregisterArgs};
pub(crate) use serve::{ConfigArgs, ConfigWhat, ServeArgs};
pub(crate) use servers::ServersArgs;
pub(crate) use up::UpArgs;

/// Many API servers behind one Kubernetes endpoint, added and removed while it runs.
#[derive(Parser, Debug)]
#[command(name = "trellis", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "Start here: `trellis up`, then `trellis register https://your.server:8443`.\n\
                        Exit codes and all commands: docs/commands.md")]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run everything on this machine: the door and an example API server behind it.
    Up(UpArgs),
    /// Run the door alone.
    Serve(Box<ServeArgs>),
    /// Put an API server behind the door, while it runs.
    Register(Box<RegisterArgs>),
    /// Take an API server away from the door; requests in flight finish.
    Unregister(UnregisterArgs),
    /// List the API servers behind the door, and how they are.
    Servers(ServersArgs),
    /// Say what the door would do, without doing it.
    Explain(ExplainArgs),
    /// Check a configuration file of the door, or print its schema.
    Config(ConfigArgs),
    /// Turn up a cluster on your hosts from one object: write, check and show the object, render the files.
    Cluster(ClusterArgs),
    /// The example API server that `trellis up` starts.
    #[command(hide = true)]
    ExampleServer(Box<ExampleServerArgs>),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_examples() {
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("trellis "), "`trellis {} --help` has no example", command.get_name());
        }
    }
}
