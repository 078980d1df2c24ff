//! The commands of `trellis cluster` that go to hosts, or work with the keys of a cluster.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The object and its state folder.
#[derive(Args, Debug)]
pub(crate) struct ObjectArgs {
    /// The object, YAML or JSON
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Folder of keys and journals [default: beside the object, as cluster.state]
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
}

/// How hosts are reached.
#[derive(Args, Debug)]
pub(crate) struct ReachArgs {
    /// Keep the keys of hosts that were never seen, in the state folder; one that differs is refused always
    #[arg(long)]
    pub(crate) accept_new_host_keys: bool,
    /// How long a connection may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) connect_timeout: u32,
    /// Files to fill in, instead of those of this program
    #[arg(long, value_name = "DIR")]
    pub(crate) deploy: Option<PathBuf>,
}

/// How to tell what happens.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TellAs {
    /// One JSON document, or one JSON object a line while something goes on.
    Json,
}

/// Show what would change.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster plan cluster.yaml\n  \
    trellis cluster plan cluster.yaml --full\n  \
    trellis cluster plan cluster.yaml -o json\n\n\
    Exit code 0: nothing would change; 2: something would; 3: the object is wrong; 4: something stands in the way.\n\
    Nothing is changed on any host. Contents of keys are never shown, only that they differ.")]
pub(crate) struct ClusterPlanArgs {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    /// Show the contents of new files too
    #[arg(long)]
    pub(crate) full: bool,
    /// Replace this file on hosts though somebody else put it there, and keep it aside; can be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) overwrite: Vec<String>,
    /// How to print [default: text]
    #[arg(short, long, value_enum, value_name = "HOW")]
    pub(crate) output: Option<TellAs>,
}

/// Do what plan shows.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster apply cluster.yaml\n  \
    trellis cluster apply cluster.yaml --yes -o json\n  \
    trellis cluster apply cluster.yaml --overwrite /etc/containerd/config.toml\n\n\
    Creates, changes and repairs. A run that ended anywhere is finished by running it again.\n\
    Exit code 0: done; 3: the object is wrong; 4: something stands in the way, nothing was changed;\n\
    5: some of it is done, run it again.")]
pub(crate) struct ClusterApplyArgs {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    /// Do not ask, on a terminal, before the first change
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Replace this file on hosts though somebody else put it there, and keep it aside; can be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) overwrite: Vec<String>,
    /// How to tell what happens [default: a line for each step]
    #[arg(short, long, value_enum, value_name = "HOW")]
    pub(crate) output: Option<TellAs>,
}

/// Remove the cluster.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster down cluster.yaml\n  \
    trellis cluster down cluster.yaml --yes\n\n\
    Removes from each host exactly what is recorded there. Files of others stay, and what was kept aside comes back.\n\
    Keys stay in the state folder.")]
pub(crate) struct ClusterDownArgs {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// How to tell what happens [default: a line for each step]
    #[arg(short, long, value_enum, value_name = "HOW")]
    pub(crate) output: Option<TellAs>,
}

/// Take locks away.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster unlock cluster.yaml\n  \
    trellis cluster unlock cluster.yaml --yes\n\n\
    Says who has locked which host and for how long, and asks. A lock of a run that was killed from the same\n\
    state folder needs no unlocking: the next apply takes it over.")]
pub(crate) struct ClusterUnlockArgs {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Rebuild a lost state folder.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster adopt cluster.yaml\n  \
    trellis cluster adopt cluster.yaml --state demo.state\n\n\
    Fetches the keys of the cluster from its control-plane host. The state folder must have none yet.")]
pub(crate) struct ClusterAdoptArgs {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

/// List certificates.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster certs cluster.yaml\n  \
    trellis cluster certs cluster.yaml --local -o json\n\n\
    Exit code 6 when one has expired or does within 30 days.")]
pub(crate) struct ClusterCertsArgs {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    /// Look into the state folder alone, and not at the kubelets of the hosts
    #[arg(long)]
    pub(crate) local: bool,
    /// How to print [default: a table]
    #[arg(short, long, value_enum, value_name = "HOW")]
    pub(crate) output: Option<TellAs>,
}

/// Work with the keys.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster keys export cluster.yaml --output keys.tar")]
pub(crate) struct ClusterKeysArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) what: ClusterKeysWhat,
}

/// What can be done with the keys.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum ClusterKeysWhat {
    /// Write all keys and certificates of the cluster into a tar file for its owner alone
    Export(ClusterExportArgs),
}

/// Write the keys.
#[derive(Args, Debug)]
pub(crate) struct ClusterExportArgs {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    /// File to write
    #[arg(short, long, value_name = "FILE.tar")]
    pub(crate) output: PathBuf,
}

/// Get access.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster kubeconfig cluster.yaml\n  \
    trellis cluster kubeconfig cluster.yaml --output ~/.kube/config\n\n\
    Prints a kubeconfig of an administrator; with --output it is merged into that file, under the name of the cluster.")]
pub(crate) struct ClusterKubeconfigArgs {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    /// File to merge it into; what it has under other names stays
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Let a host join by hand.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster token cluster.yaml --host n1 --output bootstrap-kubelet.conf\n\n\
    Makes a token that lives an hour, and the kubeconfig with it that a kubelet joins with. It goes to\n\
    /etc/kubernetes/bootstrap-kubelet.conf of that host, 0600, and away again when the kubelet has its credential.")]
pub(crate) struct ClusterTokenArgs {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    /// Name of the host that will join
    #[arg(long, value_name = "NAME")]
    pub(crate) host: String,
    /// File to write, 0600 [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
