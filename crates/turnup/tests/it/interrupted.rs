//! A run that ends anywhere is finished by the next one.

use std::{fs, process::Command};

use turnup::{Ending, Error, Journal};

use crate::support::{Run, Sshd, TestHost, options, target};

const TWO: &str = r#"{"name": "demo", "hosts": [{"name": "cp1", "address": "10.0.0.1"}, {"name": "n1", "address": "10.0.0.2"}]}"#;

fn without_record(host: &TestHost) -> Vec<String> {
    host.everything().into_iter().filter(|line| !line.starts_with("/var/lib/trellis")).collect()
}

/// After every step the stream is cut, as it is when this program is killed there.
async fn check(index: usize) {
    let whole = TestHost::new();
    let (_, events) = Run::new(options(), target(&whole, "n1"), TWO, index).apply().await;
    let steps = events.iter().map(|event| event.of).max().expect("steps");
    assert!(steps > 8);
    for step in 1..=steps {
        let host = TestHost::new();
        let run = Run::new(options(), target(&host, "n1"), TWO, index);
        let (_, _, ending) = run.apply_until(Some(step)).await.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(ending, Ending::Stopped, "step {step}");
        let journal = run.state.path().join("journal");
        let stopped = Journal::unfinished(&journal, "n1").expect("a journal");
        assert_eq!(stopped.map_or(0, |event| event.step), step - 1);
        let (_, events) = run.apply().await;
        assert_eq!(Journal::unfinished(&journal, "n1").expect("a journal"), None);
        assert_eq!(without_record(&host), without_record(&whole), "step {step}: {events:?}");
        assert_eq!(
            host.read("/var/lib/trellis/record"),
            whole.read("/var/lib/trellis/record"),
            "step {step}"
        );
        for unit in ["containerd.service", "kubelet.service"] {
            assert!(host.path(&format!("/run/test-units/{unit}.active")).exists(), "step {step}: {unit}");
        }
        assert!(run.plan().await.is_empty(), "step {step}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_step_of_a_control_plane() {
    check(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_step_of_a_node() {
    check(1).await;
}

/// A unit whose file changed starts anew, also when the run ended between the two.
#[tokio::test(flavor = "multi_thread")]
async fn no_restart_is_forgotten() {
    let host = TestHost::new();
    let mut run = Run::new(options(), target(&host, "n1"), TWO, 0);
    let (_, events) = run.apply().await;
    assert!(!events.is_empty());
    run.resolved = crate::support::cluster(&TWO.replacen(
        "\"name\": \"demo\"",
        "\"name\": \"demo\", \"components\": {\"kubelet\": {\"extraArgs\": {\"v\": \"4\"}}}",
        1,
    ));
    host.units_changed();
    // Lock, record, put: the file lies there, and nothing knows of it.
    let (_, _, ending) = run.apply_until(Some(4)).await.expect("stopped");
    assert_eq!((ending, host.units_changed().len()), (Ending::Stopped, 0));
    assert!(host.read("/etc/systemd/system/kubelet.service").contains("--v=4"));
    let plan = run.plan().await.to_text(false);
    assert!(plan.contains("restart, which an earlier run did not come to"), "{plan}");
    run.apply().await;
    assert_eq!(host.units_changed(), ["daemon-reload", "restart kubelet.service"]);
    assert!(run.plan().await.is_empty());
}

/// The connection breaks while the host is busy.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_in_the_middle() {
    let host = TestHost::new();
    let sshd = Sshd::start(&host);
    let run = Run::new(sshd.options(), sshd.target("n1"), TWO, 0);
    let slow = host
        .read("/usr/local/bin/systemctl")
        .replace("#!/bin/sh\n", "#!/bin/sh\n[ \"$1\" != daemon-reload ] || sleep 30\n");
    let quick = host.read("/usr/local/bin/systemctl");
    host.program("/usr/local/bin/systemctl", &slow);
    let breaking = async {
        while !host.path("/etc/kubernetes/addons/coredns/coredns.yaml").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        sshd.drop_connections();
    };
    let (outcome, ()) = tokio::join!(run.apply_until(None), breaking);
    match outcome {
        Err(error @ Error::Ssh { .. }) => assert!(error.to_string().starts_with("n1: "), "{error}"),
        other => panic!("{other:?}"),
    }
    host.program("/usr/local/bin/systemctl", &quick);
    run.apply().await;
    assert!(run.plan().await.is_empty());
}

/// A file that cannot be put there leaves what was there.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_named_and_nothing_is_half() {
    let host = TestHost::new();
    let run = Run::new(options(), target(&host, "n1"), TWO, 0);
    let small = host.path("/etc/kubernetes");
    fs::create_dir_all(&small).expect("a folder");
    let mount = |arguments: &[&str]| {
        Command::new(arguments[0]).args(&arguments[1..]).arg(&small).status().expect("mount")
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs"]).success() {
        eprintln!("not tested: this machine lets nobody mount");
        return;
    }
    let outcome = run.apply_until(None).await;
    let left = fs::read_dir(&small).expect("a folder").count();
    assert!(mount(&["umount"]).success());
    let error = outcome.expect_err("no room").to_string();
    assert!(error.contains("no room"), "{error} ({left} entries)");
    run.apply().await;
    assert!(run.plan().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_that_does_not_start_is_named() {
    let host = TestHost::new();
    let run = Run::new(options(), target(&host, "n1"), TWO, 0);
    host.write("/etc/fail-systemctl", "");
    let error = run.apply_until(None).await.expect_err("a failure").to_string();
    assert!(error.starts_with("n1: systemd daemon-reload: ") && error.contains("failed."), "{error}");
    fs::remove_file(host.path("/etc/fail-systemctl")).expect("a file");
    run.apply().await;
    assert!(run.plan().await.is_empty());
}

/// A run of somebody else is not disturbed.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_locked() {
    let host = TestHost::new();
    let run = Run::new(options(), target(&host, "n1"), TWO, 0);
    host.write("/var/lib/trellis/lock/owner", "fedcba9876543210 other@there\n");
    let error = run.apply_until(None).await.expect_err("a lock").to_string();
    assert!(error.contains("locked fedcba9876543210 other@there"), "{error}");
    let (session, observed, ..) = run.look().await.expect("a look");
    session.close().await;
    assert_eq!(observed.lock.expect("a lock").owner, "other@there");
}
