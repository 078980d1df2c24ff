//! What the files look like: all of them for a plain cluster, and for each option those that differ;
//! `UPDATE_EXPECT=1` renews them.

use std::{fmt::Write as _, path::Path};

use cluster_spec::HostFacts;
use expect_test::expect_file;
use render::{Deploy, File, NoKeys, Tree, render};

use crate::support::{PLAIN, resolve, text, trees};

/// Every option at once, as far as they go together.
pub const EVERYTHING: &str = "kubernetes: {version: \"1.36\"}\n\
    api: {endpoint: \"api.example.com:443\", extraNames: [k8s.example.com]}\n\
    network: {pods: 172.20.0.0/14, services: 172.30.0.0/16, dnsDomain: k8s.example.com}\n\
    runtime: {cgroupDriver: cgroupfs, config: {restrict_oom_score_adj: true, disable_apparmor: true}}\n\
    components:\n\
    \x20 etcd: {extraArgs: {snapshot-count: 5000, quota-backend-bytes: 8589934592}}\n\
    \x20 kube-apiserver: {extraArgs: {profiling: true, v: 4, anonymous-auth: false}}\n\
    \x20 kube-controller-manager: {extraArgs: {node-monitor-period: 2s}}\n\
    \x20 kube-scheduler: {extraArgs: {v: \"2: \\\"two\\\"\"}}\n\
    \x20 kubelet: {extraArgs: {v: 2, vmodule: \"a=1\"}, config: {failCgroupV1: false, maxPods: 200}}\n\
    \x20 kube-proxy: {extraArgs: {v: 3}, config: {conntrack: {maxPerCore: 0}, mode: iptables}}\n\
    proxy: {http: \"http://10.9.9.9:3128\", noProxy: [.corp]}\n\
    sources: {mirror: {images: \"reg.example.com:5000/k8s\", binaries: \"https://reg.example.com/bin\"}}\n\
    audit: {level: Metadata}\n\
    encryption: {secrets: secretbox}\n";

/// Name of the golden file, and what is added to the plain object.
const OPTIONS: &[(&str, &str)] = &[
    ("02-everything", EVERYTHING),
    ("03-oldest-version", "kubernetes: {version: \"1.35\"}\n"),
    ("04-no-plugin", "network: {plugin: none}\n"),
    ("05-audit", "audit: {level: RequestResponse, maxAgeDays: 7}\n"),
    ("06-encryption", "encryption: {secrets: secretbox}\n"),
    ("07-proxy", "proxy: {https: \"http://10.9.9.9:3128\"}\n"),
    (
        "08-mirror",
        "sources: {mirror: {images: \"reg.example.com\", binaries: \"https://reg.example.com/bin\"}}\n",
    ),
    ("09-no-approver", "addons: {approver: {enabled: false}, metrics-server: {enabled: false}}\n"),
    (
        "10-no-addons",
        "network: {plugin: none}\naddons: {coredns: {enabled: false}, kube-proxy: {enabled: false}, approver: {enabled: false}, \
         metrics-server: {enabled: false}}\n",
    ),
    ("11-endpoint-here", "api: {endpoint: \"cp1:443\"}\n"),
    ("12-networks", "network: {pods: 172.20.0.0/14, services: 172.30.0.0/24, dnsAddress: 172.30.0.53}\n"),
    ("13-cgroupfs", "runtime: {cgroupDriver: cgroupfs, config: {restrict_oom_score_adj: true}}\n"),
];

#[track_caller]
fn check(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    expect_file![folder.join(format!("{name}.txt"))].assert_eq(text);
}

fn show(host: &str, file: &File) -> String {
    let condition = file.when.as_deref().map(|when| format!(" when {when}")).unwrap_or_default();
    format!("==== {host} {:04o} {}{condition}\n{}", file.mode, file.path, text(file))
}

fn all(tree: &Tree) -> String {
    let mut text = String::new();
    for folder in &tree.folders {
        let _ = writeln!(text, "==== {} {:04o} {}", tree.host, folder.mode, folder.path);
    }
    text.extend(tree.files.iter().map(|file| show(&tree.host, file)));
    text
}

/// What is other than in the plain cluster, and what is gone.
fn difference(plain: &Tree, tree: &Tree) -> String {
    let mut text = String::new();
    for file in &tree.files {
        if !plain.files.iter().any(|other| other.path == file.path && other.contents == file.contents) {
            text.push_str(&show(&tree.host, file));
        }
    }
    for file in plain.files.iter().filter(|file| !tree.files.iter().any(|other| other.path == file.path)) {
        let _ = writeln!(text, "==== {} ---- {}", tree.host, file.path);
    }
    text
}

#[test]
fn a_plain_cluster() {
    check("01-plain", &trees(PLAIN).iter().map(all).collect::<String>());
}

#[test]
fn the_options() {
    let plain = trees(PLAIN);
    for (name, option) in OPTIONS {
        let trees = trees(&format!("{PLAIN}{option}"));
        let text: String = plain.iter().zip(&trees).map(|(plain, tree)| difference(plain, tree)).collect();
        assert!(!text.is_empty(), "{name} changes nothing");
        check(name, &text);
    }
}

#[test]
fn facts_of_a_host() {
    let facts = HostFacts {
        cgroup_driver: cluster_spec::CgroupDriver::Cgroupfs,
        resolv_conf: "/run/systemd/resolve/resolv.conf".to_owned(),
        containerd: "/usr/bin/containerd".to_owned(),
        mtu: 9000,
    };
    let resolved = resolve(PLAIN);
    let tree = render(&Deploy::embedded(), &resolved, &resolved.hosts[1], &facts, &NoKeys).expect("a tree");
    check("14-facts", &difference(&trees(PLAIN)[1], &tree));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let object = format!("{PLAIN}{EVERYTHING}");
    assert_eq!(trees(&object), trees(&object));
}
