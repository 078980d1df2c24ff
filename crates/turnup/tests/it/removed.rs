//! What was laid down goes; what was there before, and what is of others, stays.

use std::fs;

use crate::support::{Run, TestHost, options, target};

const TWO: &str = r#"{"name": "demo", "hosts": [{"name": "cp1", "address": "10.0.0.1"}, {"name": "n1", "address": "10.0.0.2"}]}"#;

async fn check(index: usize) {
    let host = TestHost::new();
    host.write("/etc/containerd/certs.d/theirs/hosts.toml", "theirs\n");
    host.write("/etc/sysctl.d/50-theirs.conf", "a = 1\n");
    host.write("/etc/systemd/system/theirs.service", "[Service]\n");
    host.write("/var/lib/kubelet/theirs", "was there before\n");
    host.write("/run/test-units/theirs.service.active", "");
    let before = host.everything();
    let run = Run::new(options(), target(&host, "n1"), TWO, index);
    run.apply().await;
    // What runs leaves things, and others go on too.
    host.write("/var/lib/etcd/member/snap/db", "data");
    host.write("/var/lib/containerd/io.containerd/meta.db", "data");
    host.write("/var/log/pods/a/0.log", "log");
    host.write("/etc/kubernetes/theirs.conf", "put there later\n");
    let plan = run.down().await.to_text(false);
    for unit in ["kubelet.service", "containerd.service"] {
        assert!(plan.contains(&format!("- unit {unit}: stop, disable")), "{plan}");
    }
    let mut after = host.everything();
    after.retain(|line| {
        !line.starts_with("/etc/kubernetes/theirs.conf") && !line.starts_with("/etc/kubernetes/ ")
    });
    let lost: Vec<&String> = before.iter().filter(|line| !after.contains(line)).collect();
    let left: Vec<&String> = after.iter().filter(|line| !before.contains(line)).collect();
    // A control plane keeps its data in a folder that it brought: /var/lib/etcd. On a node that folder is nobody's.
    let left: Vec<&&String> =
        left.iter().filter(|line| index == 0 || !line.starts_with("/var/lib/etcd")).collect();
    assert!(lost.is_empty() && left.is_empty(), "lost {lost:?}, left {left:?}");
    assert_eq!(host.read("/etc/kubernetes/theirs.conf"), "put there later\n");
    assert!(host.path("/run/test-units/theirs.service.active").exists());
    assert!(!host.path("/run/test-units/kubelet.service.active").exists());
    fs::remove_dir_all(host.path("/etc/kubernetes")).expect("a folder");
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_control_plane() {
    check(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_node() {
    check(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_record_removes_nothing() {
    let host = TestHost::new();
    let run = Run::new(options(), target(&host, "n1"), TWO, 0);
    run.apply().await;
    let record = host.read("/var/lib/trellis/record");
    host.write("/var/lib/trellis/record", &record[..record.len() / 2]);
    let error = run.look().await.err().expect("an error").to_string();
    assert!(error.contains("the record of what was laid down"), "{error}");
    host.write("/var/lib/trellis/record", &record);
    run.down().await;
    assert!(!host.path("/var/lib/trellis").exists());
}
