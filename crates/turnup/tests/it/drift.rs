//! Whatever is changed on a host is found, and repaired.

use std::{collections::BTreeSet, fs};

use turnup::{Change, HostPath, Reason};

use crate::support::{Run, TestHost, options, target, wanted};

const ONE: &str = r#"{"name": "demo", "hosts": [{"name": "cp1", "address": "10.0.0.1"}]}"#;

#[tokio::test(flavor = "multi_thread")]
async fn every_file_and_every_mode() {
    let host = TestHost::new();
    let run = Run::new(options(), target(&host, "n1"), ONE, 0);
    run.apply().await;
    let laid = host.everything();
    let files: Vec<String> = wanted(&run.resolved, 0, None).files.keys().map(ToString::to_string).collect();
    assert!(files.len() > 30);
    for (index, path) in files.iter().enumerate() {
        match index % 3 {
            0 => fs::write(host.path(path), "changed\n").expect("a file"),
            1 => host.mode(path, 0o666),
            _ => fs::remove_file(host.path(path)).expect("a file"),
        }
        let plan = run.plan().await;
        let found: Vec<&Change> = plan.changes.iter().filter(|change| names(change, path)).collect();
        assert_eq!(found.len(), 1, "{path}: {}", plan.to_text(false));
        assert!(
            index % 3 != 0 || matches!(found[0], Change::Replace { reason: Reason::Drift, .. }),
            "{path}"
        );
        run.apply().await;
        assert_eq!(host.everything(), laid, "{path}");
        assert!(run.plan().await.is_empty(), "{path}");
    }
}

fn names(change: &Change, expected: &str) -> bool {
    let (Change::Create { path, .. } | Change::Replace { path, .. } | Change::Mode { path, .. }) = change
    else {
        return false;
    };
    path.as_str() == expected
}

#[tokio::test(flavor = "multi_thread")]
async fn units_and_folders() {
    let host = TestHost::new();
    let run = Run::new(options(), target(&host, "n1"), ONE, 0);
    run.apply().await;
    fs::remove_file(host.path("/run/test-units/kubelet.service.active")).expect("a unit");
    fs::remove_file(host.path("/run/test-units/containerd.service.enabled")).expect("a unit");
    host.mode("/var/lib/etcd", 0o755);
    let plan = run.plan().await;
    let unit = |unit: &str| unit.to_owned();
    let expected = [
        Change::Mode {
            path: HostPath::new("/var/lib/etcd").expect("a path"),
            before: "0755 of 0:0".to_owned(),
            mode: 0o700,
        },
        Change::Enable { unit: unit("containerd.service") },
        Change::Start { unit: unit("kubelet.service") },
    ];
    assert_eq!(plan.changes, expected);
    run.apply().await;
    assert!(run.plan().await.is_empty());
}

/// A file that changes makes its unit start anew, and only that one.
#[tokio::test(flavor = "multi_thread")]
async fn a_difference_is_shown_and_its_unit_restarted() {
    let host = TestHost::new();
    let mut run = Run::new(options(), target(&host, "n1"), ONE, 0);
    run.apply().await;
    host.units_changed();
    let text = ONE.replacen(
        "\"name\": \"demo\"",
        "\"name\": \"demo\", \"components\": {\"kubelet\": {\"extraArgs\": {\"v\": \"4\"}}}",
        1,
    );
    run.resolved = crate::support::cluster(&text);
    let plan = run.plan().await.to_text(false);
    assert!(plan.contains("\n      +  --v=4 \\\n"), "{plan}");
    assert!(plan.contains("restart because of /etc/systemd/system/kubelet.service"), "{plan}");
    run.apply().await;
    assert_eq!(host.units_changed(), ["daemon-reload", "restart kubelet.service"]);
    // What is not wanted any more goes.
    let text = ONE.replacen(
        "\"name\": \"demo\"",
        "\"name\": \"demo\", \"addons\": {\"coredns\": {\"enabled\": false}}",
        1,
    );
    run.resolved = crate::support::cluster(&text);
    let plan = run.plan().await;
    let coredns = HostPath::new("/etc/kubernetes/addons/coredns/coredns.yaml").expect("a path");
    assert!(plan.changes.contains(&Change::Remove { path: coredns }), "{}", plan.to_text(false));
    run.apply().await;
    assert!(!host.path("/etc/kubernetes/addons/coredns").exists());
    assert!(run.plan().await.is_empty());
}

/// What somebody else put there stands in the way, until it is said that it goes; then it is kept aside.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_ours_is_a_conflict() {
    let host = TestHost::new();
    let (theirs, same) = ("/etc/containerd/config.toml", "/etc/modules-load.d/trellis.conf");
    host.write(theirs, "version = 2\n");
    host.write("/etc/cni/pods.conflist.template/inside", "");
    let mut run = Run::new(options(), target(&host, "n1"), ONE, 0);
    let modules = wanted(&run.resolved, 0, None);
    let modules = &modules.files[&HostPath::new(same).expect("a path")];
    host.write(same, modules.content.text().expect("text"));
    let plan = run.plan().await;
    let paths: Vec<String> =
        plan.conflicts.iter().filter_map(|c| Some(c.path.as_ref()?.to_string())).collect();
    assert_eq!(paths, ["/etc/cni/pods.conflist.template", theirs]);
    assert!(plan.changes.contains(&Change::TakeOver { path: HostPath::new(same).expect("a path") }));

    fs::remove_dir_all(host.path("/etc/cni/pods.conflist.template")).expect("a folder");
    run.overwrite = BTreeSet::from([HostPath::new(theirs).expect("a path")]);
    run.apply().await;
    assert_ne!(host.read(theirs), "version = 2\n");
    run.overwrite.clear();
    assert!(run.plan().await.is_empty());
    run.down().await;
    assert_eq!(host.read(theirs), "version = 2\n", "it comes back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_of_another_cluster_is_left_alone() {
    let host = TestHost::new();
    Run::new(options(), target(&host, "n1"), ONE, 0).apply().await;
    let other = Run::new(options(), target(&host, "n1"), &ONE.replace("demo", "other"), 0);
    let plan = other.plan().await;
    assert!(plan.changes.is_empty());
    assert_eq!(plan.conflicts[0].problem, "the host belongs to the cluster \"demo\"");
}
