//! What is planned is laid down, and nothing else; then there is nothing to do.

use crate::support::{FakeJoins, Run, Sshd, TOKEN, TestHost, options, target, wanted};
use turnup::Joins as _;

const TWO: &str = r#"{"name": "demo", "hosts": [{"name": "cp1", "address": "10.0.0.1"}, {"name": "n1", "address": "10.0.0.2"}]}"#;

async fn check(host_index: usize) {
    let host = TestHost::new();
    let sshd = Sshd::start(&host);
    let before = host.everything();
    let run = Run::new(sshd.options(), sshd.target("n1"), TWO, host_index);
    let planned = run.plan().await;
    assert!(!planned.is_empty());
    assert_eq!(host.everything(), before, "a plan changes nothing");

    let (applied, _) = run.apply().await;
    assert_eq!(applied, planned, "what was planned is done");
    for (path, file) in &wanted(&run.resolved, host_index, None).files {
        let meta =
            std::fs::metadata(host.path(path.as_str())).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mode = std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o7777;
        assert_eq!(mode, file.mode, "{path}");
        assert_eq!(meta.len(), file.content.payload.size(), "{path}");
    }
    host.units_changed();
    let again = run.plan().await;
    assert!(again.is_empty(), "{}", again.to_text(true));
    run.apply().await;
    assert_eq!(host.units_changed(), [""; 0], "a second run changes nothing");
    let temporary = host.everything().into_iter().find(|line| line.contains(".trellis-new"));
    assert_eq!(temporary, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_control_plane() {
    check(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_joins() {
    check(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn units_start_in_order_and_the_token_goes() {
    let host = TestHost::new();
    let run = Run::new(options(), target(&host, "n1"), TWO, 1);
    run.apply().await;
    let changed = host.units_changed();
    let expected = [
        "daemon-reload",
        "restart systemd-modules-load.service",
        "restart systemd-sysctl.service",
        "enable containerd.service",
        "start containerd.service",
        "enable kubelet.service",
        "restart kubelet.service",
    ];
    assert_eq!(changed, expected);
    assert!(!host.path("/etc/kubernetes/bootstrap-kubelet.conf").exists());
    assert!(FakeJoins.issue("n1").await.is_ok());
    let everywhere = host.everything().join("\n");
    assert!(!everywhere.contains(TOKEN), "the token stayed on the host");
}

/// Neither what is shown nor what is kept on this machine has a key or a token.
#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_told() {
    let host = TestHost::new();
    let text = TWO.replacen(
        "\"name\": \"demo\"",
        "\"name\": \"demo\", \"encryption\": {\"secrets\": \"secretbox\"}",
        1,
    );
    for index in [0, 1] {
        let run = Run::new(options(), target(&host, "n1"), &text, index);
        let (plan, events) = run.apply().await;
        let mut told = vec![plan.to_text(true), format!("{plan:?}{events:?}")];
        told.push(serde_json::to_string(&plan).expect("JSON"));
        told.push(serde_json::to_string(&events).expect("JSON"));
        let journal = std::fs::read_to_string(run.state.path().join("journal/n1.jsonl")).expect("a journal");
        told.push(journal);
        told.push(host.read("/var/log/systemctl.log"));
        told.push(format!("{:?}", wanted(&run.resolved, index, None)));
        for text in told {
            for secret in ["PRIVATE-KEY", TOKEN] {
                assert!(!text.contains(secret), "{text}");
            }
        }
        run.down().await;
        host.write("/var/log/systemctl.log", "");
    }
    // A secret that differs is told by its hash.
    let run = Run::new(options(), target(&host, "n1"), &text, 0);
    run.apply().await;
    let key = "/etc/kubernetes/pki/ca.key";
    host.write(key, "PRIVATE-KEY changed\n");
    let plan = run.plan().await.to_text(true);
    assert!(plan.contains(key) && !plan.contains("PRIVATE-KEY"), "{plan}");
}
