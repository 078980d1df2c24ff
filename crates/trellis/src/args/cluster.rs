//! `trellis cluster`.

mod hosts;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

pub(crate) use hosts::{
    ClusterAdoptArgs, ClusterApplyArgs, ClusterCertsArgs, ClusterDownArgs, ClusterExportArgs,
    ClusterKeysArgs, ClusterKeysWhat, ClusterKubeconfigArgs, ClusterPlanArgs, ClusterTokenArgs,
    ClusterUnlockArgs, ObjectArgs, ReachArgs, TellAs,
};

/// Turn up a cluster from one object.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster init --name demo --host cp1=10.0.0.1 --host n1=10.0.0.2 --output cluster.yaml\n  \
    trellis cluster validate cluster.yaml\n  \
    trellis cluster show cluster.yaml --resolved\n  \
    trellis cluster plan cluster.yaml\n  \
    trellis cluster apply cluster.yaml\n\n\
    Hosts stand in the object, or in an inventory.json beside it.")]
pub(crate) struct ClusterArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) what: ClusterWhat,
}

/// What can be done with a cluster.
#[derive(Subcommand, Debug)]
pub(crate) enum ClusterWhat {
    /// Write an object to begin with; asks for what is not given, on a terminal
    Init(ClusterInitArgs),
    /// Say everything that is wrong with an object, before any host is asked
    Validate(ClusterValidateArgs),
    /// Print the JSON schema of the object
    Schema(ClusterSchemaArgs),
    /// Print an object with its defaults, or everything that follows from it
    Show(ClusterShowArgs),
    /// Write every host's files to a folder
    Render(ClusterRenderArgs),
    /// Say where a line of a rendered file comes from, and which fields are behind it
    Explain(ClusterExplainArgs),
    /// Look at all hosts, and show exactly what would change there
    Plan(ClusterPlanArgs),
    /// Do what plan shows: create, change, repair; go on where a run ended
    Apply(ClusterApplyArgs),
    /// Remove the cluster from its hosts: exactly what was laid down there
    Down(ClusterDownArgs),
    /// Take away the locks of runs that ended elsewhere
    Unlock(ClusterUnlockArgs),
    /// Rebuild a lost state folder from the control-plane host
    Adopt(ClusterAdoptArgs),
    /// List every certificate in the state folder, with the days it has left
    Certs(ClusterCertsArgs),
    /// Work with the keys of the cluster
    Keys(ClusterKeysArgs),
    /// Get a kubeconfig of an administrator
    Kubeconfig(ClusterKubeconfigArgs),
    /// Make a token with which a host joins by hand
    Token(ClusterTokenArgs),
}

/// How to print a document.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentAs {
    /// One JSON document.
    Json,
    /// One YAML document.
    Yaml,
}

/// Write an object to begin with.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster init --name demo --host cp1=10.0.0.1 --host n1=10.0.0.2 --output cluster.yaml\n  \
    trellis cluster init --name demo --host cp1=10.0.0.1 --output cluster.json\n\n\
    The first host is the control plane. The schema is written beside the object, for completion in editors.")]
pub(crate) struct ClusterInitArgs {
    /// Name of the cluster
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A host, its name and its address; the first one is the control plane
    #[arg(long = "host", value_name = "NAME=ADDRESS", value_parser = host)]
    pub(crate) hosts: Vec<cluster_spec::StarterHost>,
    /// File to write, .yaml or .json
    #[arg(long, value_name = "FILE", default_value = "cluster.yaml")]
    pub(crate) output: PathBuf,
}

/// Say what is wrong.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster validate cluster.yaml\n  \
    trellis cluster validate cluster.json -o json\n\n\
    Exit code 3 when something is wrong.")]
pub(crate) struct ClusterValidateArgs {
    /// The object, YAML or JSON
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// How to print [default: text]
    #[arg(short, long, value_enum, value_name = "HOW")]
    pub(crate) output: Option<DocumentAs>,
}

/// Print the schema.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster schema > cluster.schema.json\n  \
    trellis cluster schema --inventory > inventory.schema.json")]
pub(crate) struct ClusterSchemaArgs {
    /// That of inventory.json instead
    #[arg(long)]
    pub(crate) inventory: bool,
}

/// Print an object.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster show cluster.yaml\n  \
    trellis cluster show cluster.yaml --resolved\n  \
    trellis cluster show cluster.yaml --resolved -o json")]
pub(crate) struct ClusterShowArgs {
    /// The object, YAML or JSON
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Everything that was decided, each with the reason and the fields behind it
    #[arg(long)]
    pub(crate) resolved: bool,
    /// How to print [default: text, which is YAML]
    #[arg(short, long, value_enum, value_name = "HOW")]
    pub(crate) output: Option<DocumentAs>,
}

/// Write every host's files.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster render cluster.yaml -o tree\n  \
    trellis cluster render cluster.yaml --state demo.state -o tree\n  \
    trellis cluster render cluster.yaml --deploy ./deploy -o tree\n\n\
    Keys and certificates are made in the state folder when they are not there, and are among the files:\n\
    the folder is for its owner alone. Tokens by which nodes join are no part of it.")]
pub(crate) struct ClusterRenderArgs {
    /// The object, YAML or JSON
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Folder of keys [default: beside the object, as cluster.state]
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Folder to write; what an earlier run wrote there is replaced
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Files to fill in, instead of those of this program
    #[arg(long, value_name = "DIR")]
    pub(crate) deploy: Option<PathBuf>,
}

/// Say where a line comes from.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis cluster explain tree/cp1/etc/kubernetes/manifests/etcd.yaml:21\n  \
    trellis cluster explain tree/n1/etc/systemd/system/kubelet.service -o json")]
pub(crate) struct ClusterExplainArgs {
    /// A file that was rendered, or a line of it
    #[arg(value_name = "FILE[:LINE]")]
    pub(crate) place: String,
    /// How to print [default: text]
    #[arg(short, long, value_enum, value_name = "HOW")]
    pub(crate) output: Option<DocumentAs>,
}

fn host(text: &str) -> Result<cluster_spec::StarterHost, String> {
    match text.split_once('=') {
        Some((name, address)) if !name.is_empty() && !address.is_empty() => {
            Ok(cluster_spec::StarterHost { name: name.to_owned(), address: address.to_owned() })
        }
        _ => Err("write it as NAME=ADDRESS, like cp1=10.0.0.1".to_owned()),
    }
}
