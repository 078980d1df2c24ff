//! What is decided for one host.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::{
    Decisions,
    facts::{CgroupDriver, HostFacts},
    settings::of_host,
};
use crate::{
    cluster::{Cluster, PlacedHost},
    object::{CgroupDriverChoice, Effect, Ssh},
};

/// What VXLAN adds to a packet, in bytes.
const VXLAN: u32 = 50;
/// Keeps ordinary pods off a control plane.
const CONTROL_PLANE_TAINT: &str = "node-role.kubernetes.io/control-plane";

/// A host with everything decided that does not depend on what is found there.
#[derive(Clone, Debug)]
pub struct ResolvedHost {
    /// Name of the node.
    pub name: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// Whether the control plane runs there.
    pub control_plane: bool,
    /// How it is reached.
    pub ssh: Ssh,
    /// What was decided.
    pub decisions: Decisions,
    index: usize,
    cgroup_driver: CgroupDriverChoice,
}

pub(super) fn resolve(cluster: &Cluster, placed: &PlacedHost) -> ResolvedHost {
    let host = &placed.host;
    let mut decisions = Decisions::default();
    let roles = of_host(placed, "roles");
    decisions.put("host.name", host.name.clone(), &[of_host(placed, "name")], "the name of the node");
    let address = "the other hosts reach it there";
    decisions.put("host.address", placed.address.to_string(), &[of_host(placed, "address")], address);
    let reason = match (placed.roles_given, placed.control_plane) {
        (true, _) => "the roles that were given",
        (false, true) => "no host says its roles: the first is the control plane",
        (false, false) => "no host says its roles: all but the first are nodes",
    };
    decisions.put("host.controlPlane", placed.control_plane, &[&roles], reason);
    let labels: Vec<String> = host.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    decisions.put(
        "host.labels",
        labels.join(","),
        &[of_host(placed, "labels")],
        "the labels that were given",
    );
    let reason = match placed.takes_pods {
        true => "the taints that were given",
        false => "ordinary pods stay off the control plane",
    };
    let from = [of_host(placed, "taints"), roles];
    decisions.put("host.taints", taints(placed), &from, reason);
    ResolvedHost {
        name: host.name.clone(),
        address: placed.address,
        control_plane: placed.control_plane,
        ssh: host.ssh.clone(),
        decisions,
        index: placed.index,
        cgroup_driver: cluster.object.runtime.cgroup_driver,
    }
}

fn taints(placed: &PlacedHost) -> Value {
    let of_role =
        (!placed.takes_pods).then(|| json!({"key": CONTROL_PLANE_TAINT, "effect": Effect::NoSchedule}));
    let given = placed.host.taints.iter().map(|taint| json!(taint));
    Value::Array(of_role.into_iter().chain(given).collect())
}

impl ResolvedHost {
    /// JSON pointer of the host in the file that has it.
    pub fn pointer(&self) -> String {
        format!("/hosts/{}", self.index)
    }

    /// What is decided once the facts are known: all that there is about this host.
    pub fn with(&self, facts: &HostFacts) -> Decisions {
        let mut found = Decisions::default();
        let pointer = ["/runtime/cgroupDriver"];
        let (driver, reason) = match self.cgroup_driver {
            CgroupDriverChoice::Auto => (facts.cgroup_driver, "found out on the host"),
            CgroupDriverChoice::Systemd => (CgroupDriver::Systemd, "the driver that was given"),
            CgroupDriverChoice::Cgroupfs => (CgroupDriver::Cgroupfs, "the driver that was given"),
        };
        found.put("host.cgroupDriver", driver.name(), &pointer, reason);
        found.put("host.systemdCgroup", driver == CgroupDriver::Systemd, &pointer, reason);
        let none: &[&str] = &[];
        let reason = "found out on the host: pods inherit it, so it may not name a loopback address";
        found.put("host.resolvConf", facts.resolv_conf.clone(), none, reason);
        found.put(
            "host.containerd",
            facts.containerd.clone(),
            none,
            "found out on the host, or brought there",
        );
        let reason = format!("that of the link, less {VXLAN} bytes for VXLAN");
        found.put("host.podMtu", facts.mtu.saturating_sub(VXLAN), none, reason);
        self.decisions.clone().with(found)
    }
}
