//! Where things come from, what is recorded, what is encrypted, what is added, what is accepted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::patterns;

/// Where binaries and images come from: upstream, or one of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Sources {
    /// Servers of yours that have copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror: Option<Mirror>,
    /// Folder or file that has everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub bundle: Option<String>,
}

/// Servers that have copies of what upstream has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Mirror {
    /// Registry and path that stand for `registry.k8s.io` and the others, `host[:port][/path]`.
    #[schemars(regex(pattern = patterns::REGISTRY))]
    pub images: String,
    /// URL below which the binaries lie, under upstream's names.
    #[schemars(regex(pattern = patterns::BINARIES))]
    pub binaries: String,
}

/// The audit log of the API server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Audit {
    /// How much of a request is recorded.
    pub level: AuditLevel,
    /// Days that a file is kept.
    #[schemars(range(min = 1, max = 3650))]
    pub max_age_days: u32,
    /// Files that are kept.
    #[schemars(range(min = 1, max = 1000))]
    pub max_backups: u32,
    /// Size at which a file is ended, in MiB.
    #[schemars(range(min = 1, max = 10240))]
    pub max_size_mib: u32,
}

impl Default for Audit {
    fn default() -> Self {
        Self { level: AuditLevel::None, max_age_days: 30, max_backups: 10, max_size_mib: 100 }
    }
}

/// How much of a request is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AuditLevel {
    /// Nothing: there is no audit log.
    #[default]
    None,
    /// Who, what, when, from where.
    Metadata,
    /// The body of the request too, but never of Secrets and ConfigMaps.
    Request,
    /// The body of the answer too, but never of Secrets and ConfigMaps.
    RequestResponse,
}

impl AuditLevel {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Metadata => "Metadata",
            Self::Request => "Request",
            Self::RequestResponse => "RequestResponse",
        }
    }
}

/// Encryption of what is stored in etcd.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Encryption {
    /// How Secrets are encrypted.
    pub secrets: EncryptAtRest,
}

/// How Secrets are encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EncryptAtRest {
    /// Not at all, as upstream does.
    #[default]
    None,
    /// XSalsa20 and Poly1305, with a key that is kept among the keys of the cluster.
    Secretbox,
}

/// What runs in the cluster from the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Addons {
    /// DNS of the cluster.
    pub coredns: Toggle,
    /// Service addresses.
    pub kube_proxy: Toggle,
    /// `kubectl top` and autoscaling; needs the approver.
    pub metrics_server: Toggle,
    /// Approves serving certificates of kubelets after checking them against the hosts.
    pub approver: Toggle,
}

/// Whether something is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Toggle {
    /// Whether it is there.
    pub enabled: bool,
}

impl Default for Toggle {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// How long certificates are valid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Pki {
    /// Authorities, in days.
    #[schemars(range(min = 30, max = 36500))]
    pub authority_days: u32,
    /// Certificates that they sign, in days.
    #[schemars(range(min = 1, max = 3650))]
    pub certificate_days: u32,
}

impl Default for Pki {
    fn default() -> Self {
        Self { authority_days: 3650, certificate_days: 365 }
    }
}

/// What is checked on the hosts before the first change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Preflight {
    /// Findings to live with. The plan shows them all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<PreflightId>,
}

/// What a check of a host can find, as far as one can live with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PreflightId {
    /// A system on which this was not tested.
    OsUntested,
    /// A feature of the kernel that some pods need is missing.
    KernelFeature,
    /// cgroup v1, which Kubernetes gives up.
    CgroupV1,
    /// Another cgroup driver than systemd where systemd runs.
    CgroupDriver,
    /// Swap is on.
    Swap,
    /// A capability is missing, such as CAP_SYS_RESOURCE inside a container.
    Capability,
    /// Less room on a disk than recommended.
    DiskSpace,
    /// The disk of etcd needs long to write.
    DiskLatency,
    /// Clocks differ.
    ClockSkew,
    /// The MTU between two hosts is smaller than that of their links.
    Mtu,
    /// The resolver of the host is a loopback address.
    LoopbackResolver,
    /// Leftovers of another installation that do not stand in the way.
    Leftovers,
}
