//! Addresses that are not the loopback: kube-apiserver refuses 127.0.0.0/8 in EndpointSlices.

use std::{
    net::{IpAddr, Ipv4Addr},
    process::{self, Command},
    sync::atomic::{AtomicU8, Ordering},
};

use super::Unavailable;

/// A network namespace of this machine, joined to it by a pair of virtual interfaces. Servers in it
/// stand for pods. Gone when dropped.
pub struct Network {
    name: String,
    /// Third number of the network's addresses.
    subnet: u8,
}

impl Network {
    /// Makes it; needs root.
    ///
    /// # Errors
    /// When this machine or user cannot.
    pub fn create() -> Result<Self, Unavailable> {
        static NEXT: AtomicU8 = AtomicU8::new(0);
        remove_orphans();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let id = process::id();
        let network = Self { name: format!("trellis-{id}-{number}"), subnet: free_subnet(id, number)? };
        let (name, outer, inner) = (network.name.clone(), format!("tr{id}x{number}"), "eth0");
        // An interface name has at most 15 bytes.
        let outer = &outer[..outer.len().min(15)];
        ip(&format!("netns add {name}"))?;
        ip(&format!("link add {outer} type veth peer name {inner} netns {name}"))?;
        ip(&format!("addr add {}/24 dev {outer}", network.host()))?;
        ip(&format!("link set {outer} up"))?;
        ip(&format!("-n {name} link set lo up"))?;
        ip(&format!("-n {name} link set {inner} up"))?;
        for pod in 0..4 {
            ip(&format!("-n {name} addr add {}/24 dev {inner}", network.pod(pod)))?;
        }
        Ok(network)
    }

    /// The machine's own address in it.
    pub fn host(&self) -> IpAddr {
        Ipv4Addr::new(10, 213, self.subnet, 1).into()
    }

    /// Address of pod 0 to 3.
    pub fn pod(&self, number: u8) -> IpAddr {
        Ipv4Addr::new(10, 213, self.subnet, 10 + number).into()
    }

    /// The words that start a program inside.
    pub fn enter(&self) -> [&str; 4] {
        ["ip", "netns", "exec", &self.name]
    }

    /// Drops everything that goes to pod `number`, as a host that has lost its power does, or carries it again.
    ///
    /// # Panics
    /// When the routing table cannot be changed.
    pub fn blackhole(&self, number: u8, on: bool) {
        let verb = if on { "add" } else { "del" };
        ip(&format!("route {verb} blackhole {}/32", self.pod(number))).expect("a route");
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // Its interfaces go with it.
        let _ = ip(&format!("netns del {}", self.name));
    }
}

/// A subnet that no interface of this machine has: two with the same would take each other's packets.
fn free_subnet(id: u32, number: u8) -> Result<u8, Unavailable> {
    let output = Command::new("ip").args(["-o", "-4", "addr"]).output();
    let output =
        output.map_err(|error| Unavailable(format!("no network namespace: ip (iproute2): {error}")))?;
    let taken = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = id.wrapping_add(u32::from(number) * 97);
    let mut candidates = (0..250).map(|step| (first.wrapping_add(step) % 250) as u8);
    let free = candidates.find(|subnet| !taken.contains(&format!(" 10.213.{subnet}.")));
    free.ok_or_else(|| Unavailable("no network namespace: 10.213.0.0/16 is in use".to_owned()))
}

/// Removes namespaces of processes that were killed.
fn remove_orphans() {
    let Ok(output) = Command::new("ip").args(["netns", "list"]).output() else { return };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let name = line.split(' ').next().unwrap_or_default();
        let process = name.strip_prefix("trellis-").and_then(|rest| rest.split('-').next());
        if process.is_some_and(|id| !std::path::Path::new("/proc").join(id).exists()) {
            let _ = ip(&format!("netns del {name}"));
        }
    }
}

fn ip(arguments: &str) -> Result<(), Unavailable> {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(Unavailable(format!("no network namespace (needs root): ip {arguments}: {reason}")))
        }
        Err(error) => Err(Unavailable(format!("no network namespace: ip (iproute2): {error}"))),
    }
}
