//! What must be found out on a host before its files can be made.

use serde::{Deserialize, Serialize};

/// Who manages the cgroups of pods on a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CgroupDriver {
    /// systemd.
    #[default]
    Systemd,
    /// The container runtime itself.
    Cgroupfs,
}

impl CgroupDriver {
    /// As kubelet and containerd call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Cgroupfs => "cgroupfs",
        }
    }
}

/// The facts. The default is a host of today: systemd, cgroup v2, an ordinary resolver and Ethernet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct HostFacts {
    /// Who manages cgroups.
    pub cgroup_driver: CgroupDriver,
    /// The resolver configuration that pods inherit: not that of a resolver on the loopback address.
    pub resolv_conf: String,
    /// The containerd that is there, or will be.
    pub containerd: String,
    /// Largest packet on the link to the other hosts, in bytes.
    pub mtu: u32,
}

impl Default for HostFacts {
    fn default() -> Self {
        Self {
            cgroup_driver: CgroupDriver::Systemd,
            resolv_conf: "/etc/resolv.conf".to_owned(),
            containerd: "/usr/local/bin/containerd".to_owned(),
            mtu: 1500,
        }
    }
}
