//! Everything that may stand in the way is found, with host, value and fix, on all hosts at once.

use std::time::{Duration, UNIX_EPOCH};

use turnup::{
    Facts, HostPath, Kind, Observed, Record, Seen,
    preflight::{Checked, Finding, Probed, preflight},
};

use crate::support::{cluster, wanted};

const TWO: &str = r#"{"name": "demo", "hosts": [{"name": "cp1", "address": "10.0.0.1"}, {"name": "n1", "address": "10.0.0.2"}]}"#;

/// A host in which nothing is wrong.
const GOOD: &str = "os debian
os-version 12
arch x86_64
kernel 6.1.0
hostname NAME
machine-id id-NAME
product-uuid uuid-NAME
uid 0
systemd yes
cgroup v2
capabilities 000001ffffffffff
resolv-conf /etc/resolv.conf
nameserver /etc/resolv.conf 192.0.2.53
module overlay
module br_netfilter
module vxlan
module nf_tables
containerd /usr/bin/containerd
link eth0 1500
disk /var/lib/containerd 99999999 /
disk /var/lib/kubelet 99999999 /
disk /var/lib/etcd 99999999 /
time 1000";

fn observed(name: &str, change: &[(&str, &str)]) -> Observed {
    let mut text = GOOD.replace("NAME", name);
    for (from, to) in change {
        assert!(from.is_empty() || text.contains(from), "{from}");
        text = if from.is_empty() { format!("{text}\n{to}") } else { text.replacen(from, to, 1) };
    }
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let facts = Facts::parse(&lines, UNIX_EPOCH + Duration::from_secs(1000));
    let kubelet = Seen { kind: Kind::File, mode: 0o755, owner: (0, 0), size: 1, sha256: None };
    let seen = [(HostPath::new("/usr/local/bin/kubelet").expect("a path"), kubelet)];
    Observed { facts, seen: seen.into(), ..Observed::default() }
}

fn find(first: &Observed, second: &Observed, probed: &[&str], accept: &[&str]) -> Vec<Finding> {
    let resolved = cluster(TWO);
    let (cp, node) = (wanted(&resolved, 0, None), wanted(&resolved, 1, None));
    let lines: Vec<String> = probed.iter().map(|line| (*line).to_owned()).collect();
    let (probed, nothing) = (Probed::parse(&lines), Probed::default());
    let hosts = [
        Checked { name: "cp1", observed: first, wanted: &cp, probed: &probed },
        Checked { name: "n1", observed: second, wanted: &node, probed: &nothing },
    ];
    let accept: Vec<String> = accept.iter().map(|id| (*id).to_owned()).collect();
    preflight(&hosts, &accept)
}

/// One thing wrong on the control plane: one finding, with this id, and these words in its value.
fn check(change: &[(&str, &str)], probed: &[&str], id: &str, words: &str) {
    let findings = find(&observed("a", change), &observed("b", &[]), probed, &[]);
    let [finding] = findings.as_slice() else { panic!("{id}: {findings:?}") };
    assert_eq!((finding.id, finding.host.as_str(), finding.accepted), (id, "cp1", false));
    assert!(finding.value.contains(words), "{finding}");
    assert!(!finding.fix.is_empty());
    let accepted = find(&observed("a", change), &observed("b", &[]), probed, &[id]);
    assert!(accepted[0].accepted, "it is shown all the same");
}

#[test]
fn nothing_is_wrong_with_a_good_host() {
    assert_eq!(
        find(&observed("a", &[]), &observed("b", &[]), &["reach 10.0.0.2 whole", "latency 900"], &[]),
        []
    );
}

#[test]
fn each_thing_by_itself() {
    check(&[("os debian", "os plan9")], &[], "os-untested", "plan9 12");
    check(&[("arch x86_64", "arch s390x")], &[], "architecture", "s390x");
    check(&[("module vxlan", "")], &[], "kernel-feature", "vxlan (flannel)");
    check(&[("cgroup v2", "")], &[], "kernel-feature", "no cgroups");
    check(&[("uid 0", "uid 1000")], &[], "rights", "user 1000");
    check(&[("000001ffffffffff", "000001fffeffffff")], &[], "capability", "CAP_SYS_RESOURCE");
    check(&[("000001ffffffffff", "000001ffffdfffff")], &[], "rights", "CAP_SYS_ADMIN");
    check(&[("", "swap /dev/sda2 2097152")], &[], "swap", "/dev/sda2, 2048 MiB");
    check(&[("containerd 99999999", "containerd 1048576")], &[], "disk-space", "1024 MiB are free");
    check(&[], &["latency 31400"], "disk-latency", "31.4 ms");
    check(&[("time 1000", "time 1060")], &[], "clock-skew", "60 s ahead");
    check(&[("time 1000", "time 900")], &[], "clock-skew", "100 s behind");
    check(&[("192.0.2.53", "127.0.0.53")], &[], "loopback-resolver", "127.0.0.53");
    check(&[("", "listener 6443 77 haproxy")], &[], "port-taken", "port 6443 is taken by haproxy (pid 77)");
    check(&[("", "leftover /var/lib/k0s")], &[], "leftovers", "/var/lib/k0s");
    check(&[("", "running k3s.service")], &[], "other-installation", "k3s.service");
    check(&[("containerd /usr/bin/containerd", "")], &[], "binary-missing", "containerd");
    check(&[], &["reach 10.0.0.2 small"], "mtu", "packets of 1500 bytes");
    check(&[], &["reach 10.0.0.2 no"], "unreachable", "10.0.0.2 is not reached");
    check(&[], &["reach 10.0.0.2 unknown"].map(|_| "latency 99999"), "disk-latency", "100.0 ms");
}

#[test]
fn cgroup_v1_under_systemd_is_two_things() {
    let findings =
        find(&observed("a", &[("cgroup v2", "cgroup v1")]), &observed("b", &[]), &[], &["cgroup-v1"]);
    let ids: Vec<(&str, bool)> = findings.iter().map(|finding| (finding.id, finding.accepted)).collect();
    assert_eq!(ids, [("cgroup-v1", true), ("cgroup-driver", false)]);
}

#[test]
fn copies_of_a_machine_name_both_hosts() {
    let findings = find(&observed("a", &[]), &observed("a", &[]), &[], &[]);
    let ids: Vec<&str> = findings.iter().map(|finding| finding.id).collect();
    assert_eq!(ids, ["duplicate-hostname", "duplicate-machine-id", "duplicate-product-uuid"]);
    assert!(
        findings.iter().all(|finding| finding.value.starts_with("cp1 and n1 have the same")),
        "{findings:?}"
    );
}

/// What runs on a host of ours is ours.
#[test]
fn a_host_that_was_set_up_before_is_not_in_its_own_way() {
    let mut ours =
        observed("a", &[("", "listener 6443 77 kube-apiserver"), ("containerd 99999999", "containerd 1")]);
    ours.record = Record { cluster: "demo".to_owned(), ..Record::default() };
    assert_eq!(find(&ours, &observed("b", &[]), &[], &[]), []);
}
