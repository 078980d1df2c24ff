//! How a command finds the door: as kubectl finds its cluster.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Where the door is and who is asking.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Finding the door")]
pub(crate) struct DoorArgs {
    /// Kubeconfig file; else the files in KUBECONFIG, merged, else ~/.kube/config
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig; else its current context
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

/// How to print.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrintAs {
    /// A table with more columns.
    Wide,
    /// One JSON document.
    Json,
    /// One YAML document.
    Yaml,
}
