//! What runs the cluster.

use std::{collections::BTreeMap, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// What runs containers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Runtime {
    /// Which one.
    pub name: RuntimeName,
    /// Who manages the cgroups of pods. `auto` finds out on each host.
    pub cgroup_driver: CgroupDriverChoice,
    /// Keys of containerd's CRI runtime plugin that replace ours or come on top.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
}

/// A container runtime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimeName {
    /// containerd 2.
    #[default]
    Containerd,
}

/// Who manages the cgroups of pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CgroupDriverChoice {
    /// systemd where the host runs it with cgroup v2, else the runtime itself.
    #[default]
    Auto,
    /// systemd.
    Systemd,
    /// The runtime itself.
    Cgroupfs,
}

/// Extra arguments and configuration, by component.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Components {
    /// The store.
    pub etcd: Component,
    /// The API server.
    pub kube_apiserver: Component,
    /// The controllers.
    pub kube_controller_manager: Component,
    /// The scheduler.
    pub kube_scheduler: Component,
    /// The agent on every host.
    pub kubelet: Configured,
    /// Service addresses on every host.
    pub kube_proxy: Configured,
}

/// A component that takes arguments alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Component {
    /// Arguments by name, without the leading `--`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra_args: BTreeMap<String, ArgValue>,
}

/// A component with a configuration file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Configured {
    /// Arguments by name, without the leading `--`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra_args: BTreeMap<String, ArgValue>,
    /// Top-level keys of its configuration file that replace ours or come on top.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
}

/// The value of an argument: text, an integer, or true and false.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ArgValue(pub String);

impl<'de> Deserialize<'de> for ArgValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Value::deserialize(deserializer)? {
            Value::String(text) => text,
            other => other.to_string(),
        }))
    }
}

impl JsonSchema for ArgValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ArgValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The value of an argument.",
            "type": ["string", "integer", "boolean"],
            "pattern": r"^[^\x00-\x1f\x7f]*$",
        })
    }
}

/// The components that take arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ComponentName {
    /// The store.
    Etcd,
    /// The API server.
    KubeApiserver,
    /// The controllers.
    KubeControllerManager,
    /// The scheduler.
    KubeScheduler,
    /// The agent on every host.
    Kubelet,
    /// Service addresses on every host.
    KubeProxy,
}

impl ComponentName {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Etcd,
        Self::KubeApiserver,
        Self::KubeControllerManager,
        Self::KubeScheduler,
        Self::Kubelet,
        Self::KubeProxy,
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::KubeControllerManager => "kube-controller-manager",
            Self::KubeScheduler => "kube-scheduler",
            Self::Kubelet => "kubelet",
            Self::KubeProxy => "kube-proxy",
        }
    }
}

impl fmt::Display for ComponentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Components {
    /// The extra arguments of a component.
    pub fn extra_args(&self, component: ComponentName) -> &BTreeMap<String, ArgValue> {
        match component {
            ComponentName::Etcd => &self.etcd.extra_args,
            ComponentName::KubeApiserver => &self.kube_apiserver.extra_args,
            ComponentName::KubeControllerManager => &self.kube_controller_manager.extra_args,
            ComponentName::KubeScheduler => &self.kube_scheduler.extra_args,
            ComponentName::Kubelet => &self.kubelet.extra_args,
            ComponentName::KubeProxy => &self.kube_proxy.extra_args,
        }
    }
}
