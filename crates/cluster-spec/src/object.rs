//! The one object that describes a cluster, as it is written: every key, its default, and what it is for.

mod components;
mod hosts;
mod network;
mod patterns;
mod policy;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use components::{
    ArgValue, CgroupDriverChoice, Component, ComponentName, Components, Configured, Runtime, RuntimeName,
};
pub use hosts::{Effect, Host, Inventory, Role, Ssh, Taint};
pub use network::{Api, Network, Plugin, Proxy};
pub use policy::{
    Addons, Audit, AuditLevel, EncryptAtRest, Encryption, Mirror, Pki, Preflight, PreflightId, Sources,
    Toggle,
};

/// A cluster of Kubernetes. Only `name` and `hosts` must be given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Object {
    /// Where editors find the schema of this file.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Name of the cluster and of its kubeconfig context: lower-case letters, digits and `-`, at most 63.
    #[schemars(regex(pattern = patterns::CLUSTER_NAME))]
    pub name: String,
    /// What is installed.
    pub kubernetes: Kubernetes,
    /// The hosts. They stand here or in an `inventory.json` beside this file, never in both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<Host>>,
    /// How clients reach the API.
    pub api: Api,
    /// Networks inside the cluster.
    pub network: Network,
    /// What runs containers.
    pub runtime: Runtime,
    /// Extra arguments and configuration, by component.
    pub components: Components,
    /// How hosts reach what is outside, when not directly.
    pub proxy: Proxy,
    /// Where binaries and images come from. Nothing given: upstream.
    pub sources: Sources,
    /// The audit log of the API server.
    pub audit: Audit,
    /// Encryption of what is stored in etcd.
    pub encryption: Encryption,
    /// What runs in the cluster from the start.
    pub addons: Addons,
    /// How long certificates are valid.
    pub pki: Pki,
    /// What is checked on the hosts before the first change.
    pub preflight: Preflight,
}

/// What is installed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Kubernetes {
    /// Version, 1.35 to 1.37: `1.37` is the newest release known of it, `1.37.2` exactly that one.
    #[schemars(regex(pattern = patterns::VERSION))]
    pub version: String,
}

impl Default for Kubernetes {
    fn default() -> Self {
        Self { version: crate::versions::NEWEST.minor_text() }
    }
}
