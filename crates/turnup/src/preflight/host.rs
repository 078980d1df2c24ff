//! What is found on one host alone.

use crate::{HostPath, facts::is_loopback, wanted::KUBELET_PROGRAM};

use super::{Checked, Finding};

/// Systems on which this was tried: os-release's `ID` and `VERSION_ID`.
const TESTED: [(&str, &str); 1] = [("debian", "12")];
/// As `uname -m` says.
const ARCHITECTURES: [&str; 2] = ["x86_64", "aarch64"];
/// Capabilities without which nothing works, by bit.
const NEEDED: [(&str, u32); 3] = [("CAP_NET_ADMIN", 12), ("CAP_SYS_CHROOT", 18), ("CAP_SYS_ADMIN", 21)];
/// One that some containers ask for.
const RESOURCE: (&str, u32) = ("CAP_SYS_RESOURCE", 24);
/// Free space that should be there, in KiB: images and containers; what the kubelet keeps; etcd.
const SPACE: [(&str, u64); 3] =
    [("/var/lib/containerd", 10 << 20), ("/var/lib/kubelet", 2 << 20), ("/var/lib/etcd", 2 << 20)];
/// How far a clock may be from ours, in seconds. Certificates begin five minutes before they are made.
const SKEW: u64 = 10;
/// How long the disk of etcd may take, in microseconds.
const LATENCY: u64 = 10_000;
/// Modules of the kernel, and what they are for.
const MODULES: [(&str, &str); 4] = [
    ("overlay", "layers of images"),
    ("br_netfilter", "Services on one host"),
    ("vxlan", "flannel"),
    ("nf_tables", "kube-proxy"),
];

/// The findings of one host.
pub fn host(host: &Checked<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    system(host, &mut findings);
    rights(host, &mut findings);
    cgroups(host, &mut findings);
    resources(host, &mut findings);
    network(host, &mut findings);
    programs(host, &mut findings);
    if host.is_new() {
        others(host, &mut findings);
    }
    findings
}

fn system(host: &Checked<'_>, findings: &mut Vec<Finding>) {
    let facts = host.facts();
    if !TESTED.contains(&(facts.os.as_str(), facts.os_version.as_str())) {
        let value = format!(
            "{} {} is not among the systems this was tested on",
            or_unknown(&facts.os),
            facts.os_version
        );
        findings.push(host.finding("os-untested", value.replace("  ", " "), "use Debian 12, or accept it"));
    }
    if !ARCHITECTURES.contains(&facts.arch.as_str()) {
        let value = format!("the processor is {}", or_unknown(&facts.arch));
        findings.push(host.finding(
            "architecture",
            value,
            format!("use one of {}", ARCHITECTURES.join(", ")),
        ));
    }
    if !facts.systemd {
        findings.push(host.finding(
            "no-systemd",
            "systemd does not run there",
            "use a host that systemd started",
        ));
    }
    let missing: Vec<String> = MODULES
        .iter()
        .filter(|(module, _)| !facts.modules.iter().any(|found| found == module))
        .map(|(module, use_)| format!("{module} ({use_})"))
        .collect();
    if !missing.is_empty() {
        let value = format!("the kernel {} has no {}", facts.kernel, missing.join(", "));
        findings.push(host.finding(
            "kernel-feature",
            value,
            "install the modules of this kernel, or another kernel",
        ));
    }
    if let Some(ahead) = facts.clock_ahead.filter(|ahead| ahead.unsigned_abs() > SKEW) {
        let which = if ahead > 0 { "ahead of" } else { "behind" };
        let value = format!("its clock is {} s {which} that of this machine", ahead.unsigned_abs());
        findings.push(host.finding(
            "clock-skew",
            value,
            "set the clock, and have chrony or timesyncd keep it",
        ));
    }
}

fn rights(host: &Checked<'_>, findings: &mut Vec<Finding>) {
    let facts = host.facts();
    if let Some(uid) = facts.uid.filter(|uid| *uid != 0) {
        let value = format!("requests run as user {uid}");
        findings.push(host.finding("rights", value, "give ssh.user root, or allow the user sudo"));
    }
    let Some(capabilities) = facts.capabilities else { return };
    let lacks = |bit: u32| capabilities & (1 << bit) == 0;
    let missing: Vec<&str> = NEEDED.iter().filter(|(_, bit)| lacks(*bit)).map(|(name, _)| *name).collect();
    if !missing.is_empty() {
        let value = format!("root there lacks {}", missing.join(", "));
        findings.push(host.finding("rights", value, "give the container or machine these capabilities"));
    }
    if lacks(RESOURCE.1) {
        let fix = "give it, or set restrict_oom_score_adj of containerd and accept it";
        findings.push(host.finding("capability", format!("root there lacks {}", RESOURCE.0), fix));
    }
}

fn cgroups(host: &Checked<'_>, findings: &mut Vec<Finding>) {
    let facts = host.facts();
    match facts.cgroup {
        None => findings.push(host.finding("kernel-feature", "no cgroups are mounted", "mount cgroup v2")),
        Some(1) => {
            let fix =
                "start it with systemd.unified_cgroup_hierarchy=1, or accept it and set failCgroupV1: false";
            findings.push(host.finding("cgroup-v1", "cgroup v1 is in use, which Kubernetes gives up", fix));
        }
        Some(_) => {}
    }
    if facts.systemd && facts.for_files().cgroup_driver != cluster_spec::CgroupDriver::Systemd {
        let value = "systemd runs, and the driver is cgroupfs: two then manage the same groups";
        findings.push(host.finding("cgroup-driver", value, "use cgroup v2, or accept it"));
    }
}

fn resources(host: &Checked<'_>, findings: &mut Vec<Finding>) {
    let facts = host.facts();
    for (name, kib) in &facts.swap {
        let fix = "swapoff -a and take it out of /etc/fstab, or accept it and set failSwapOn: false";
        findings.push(host.finding("swap", format!("swap is on: {name}, {} MiB", kib / 1024), fix));
    }
    for (folder, free, on) in &facts.disks {
        let wanted = SPACE.iter().find(|(of, _)| of == folder).map_or(0, |(_, kib)| *kib);
        let etcd_elsewhere = folder == "/var/lib/etcd" && !has_folder(host, folder);
        // What has filled up since is the business of whoever watches the cluster.
        if host.is_new() && *free < wanted && !etcd_elsewhere {
            let value =
                format!("{} MiB are free for {folder} on {on}, {} should be", free / 1024, wanted / 1024);
            findings.push(host.finding(
                "disk-space",
                value,
                "make room there, or mount a larger disk at that folder",
            ));
        }
    }
    if let Some(micros) = host.probed.latency_micros.filter(|micros| *micros > LATENCY) {
        let value =
            format!("the disk of etcd takes {:.1} ms to keep 2 KiB, 10 should do", micros_to_ms(micros));
        findings.push(host.finding("disk-latency", value, "give /var/lib/etcd a disk of its own, an SSD"));
    }
}

fn micros_to_ms(micros: u64) -> f64 {
    // Beyond four seconds the number says nothing more.
    f64::from(u32::try_from(micros).unwrap_or(u32::MAX)) / 1000.0
}

fn has_folder(host: &Checked<'_>, folder: &str) -> bool {
    HostPath::new(folder).is_ok_and(|path| host.wanted.folders.contains_key(&path))
}

fn network(host: &Checked<'_>, findings: &mut Vec<Finding>) {
    let facts = host.facts();
    let file = facts.for_files().resolv_conf;
    if let Some(address) = facts.resolvers(&file).find(|address| is_loopback(address)) {
        let value = format!("{file} names the resolver {address}: pods would ask themselves");
        findings.push(host.finding("loopback-resolver", value, "name a resolver that pods can reach"));
    }
    for listener in facts.listeners.iter().filter(|_| host.is_new()) {
        let value = format!("port {} is taken by {} (pid {})", listener.port, listener.name, listener.pid);
        findings.push(host.finding("port-taken", value, "stop it, or have it listen elsewhere"));
    }
}

fn programs(host: &Checked<'_>, findings: &mut Vec<Finding>) {
    let there = |path: &str| {
        HostPath::new(path)
            .is_ok_and(|path| host.observed.seen.contains_key(&path) || host.wanted.files.contains_key(&path))
    };
    let fix = "put it there, or name a bundle in sources.bundle";
    if !there(KUBELET_PROGRAM) {
        findings.push(host.finding("binary-missing", format!("{KUBELET_PROGRAM} is not there"), fix));
    }
    let containerd = host.facts().for_files().containerd;
    if host.facts().containerd.is_none() && !there(&containerd) {
        let value = format!("containerd is neither in {containerd} nor in /usr/bin");
        findings.push(host.finding("binary-missing", value, fix));
    }
}

fn others(host: &Checked<'_>, findings: &mut Vec<Finding>) {
    let facts = host.facts();
    for unit in &facts.running {
        let value = format!("{unit} of another installation runs");
        findings.push(host.finding(
            "other-installation",
            value,
            format!("remove that first: systemctl disable --now {unit}"),
        ));
    }
    if !facts.leftovers.is_empty() {
        let value = format!("another installation left {}", facts.leftovers.join(", "));
        findings.push(host.finding(
            "leftovers",
            value,
            "remove them, or accept it: what is not ours stays as it is",
        ));
    }
}

fn or_unknown(text: &str) -> &str {
    if text.is_empty() { "unknown" } else { text }
}
