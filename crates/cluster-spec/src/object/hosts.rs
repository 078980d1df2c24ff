//! Hosts and how to reach them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::patterns;

/// The hosts in a file of their own: what provisioning hands over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Inventory {
    /// Where editors find the schema of this file.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The hosts.
    pub hosts: Vec<Host>,
}

/// A machine that answers SSH.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Host {
    /// Name of the node: lower-case letters, digits, `-` and `.`, at most 63.
    #[schemars(regex(pattern = patterns::DOMAIN), length(max = 63))]
    pub name: String,
    /// IPv4 address at which the other hosts and this machine reach it.
    #[schemars(regex(pattern = patterns::IPV4))]
    pub address: String,
    /// What it does. Where no host says so, the first is the control plane and the others are nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<Role>,
    /// How it is reached.
    pub ssh: Ssh,
    /// Labels of the node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Taints of the node, besides the one that keeps ordinary pods off a control plane.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Taint>,
}

/// What a host does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// etcd, API server, controllers and scheduler.
    ControlPlane,
    /// Pods. Together with `control-plane`: that host takes ordinary pods too.
    Node,
}

/// How a host is reached. What is not given is up to the ssh configuration of this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Ssh {
    /// User; any but root must be allowed sudo without a password.
    #[schemars(regex(pattern = patterns::USER))]
    pub user: String,
    /// Port.
    #[schemars(range(min = 1, max = 65535))]
    pub port: u32,
    /// File of the private key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub key: Option<String>,
    /// A host in between, `[user@]host[:port]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::BASTION))]
    pub bastion: Option<String>,
}

impl Default for Ssh {
    fn default() -> Self {
        Self { user: "root".to_owned(), port: 22, key: None, bastion: None }
    }
}

/// Keeps pods that do not tolerate it off a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Taint {
    /// Key, as of a label.
    #[schemars(regex(pattern = patterns::TAINT_KEY))]
    pub key: String,
    /// Value, as of a label.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = patterns::TAINT_VALUE))]
    pub value: String,
    /// What happens to such pods.
    pub effect: Effect,
}

/// What a taint does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Effect {
    /// New ones are not scheduled there.
    #[default]
    NoSchedule,
    /// New ones are scheduled there only when there is no other place.
    PreferNoSchedule,
    /// Those that run there are evicted as well.
    NoExecute,
}
