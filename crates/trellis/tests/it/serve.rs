//! `trellis serve`: its files, its reloads, its end.

use std::path::{Path, PathBuf};

use testkit::client::{Client, Target};

use crate::program::{Kubeconfig, Running, run, trellis, wait_for};

/// A door with its state in a folder.
struct Serve {
    running: Running,
    ready: String,
}

impl Serve {
    fn start(state: &Path, args: &[&str]) -> Self {
        let mut running = Running::start(
            trellis()
                .args(["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--state"])
                .arg(state)
                .args(args),
        );
        let ready = running.line("ready: ");
        Self { running, ready }
    }

    /// The value of `key=` in the line that says that it serves.
    fn told(&self, key: &str) -> Option<PathBuf> {
        self.ready.split(' ').find_map(|part| part.strip_prefix(key)?.strip_prefix('=').map(PathBuf::from))
    }

    fn target(&self, state: &Path) -> Target {
        let url = self.ready.split(' ').nth(1).expect("a URL");
        let address = url.trim_start_matches("https://").parse().expect("an address");
        Target::tls(address, &std::fs::read(state.join("pki/server-ca.crt")).expect("its authority"))
    }
}

async fn status_with(target: &Target, token: &str) -> u16 {
    let mut client = Client::http1(target).await.expect("the door answers");
    client.get("/apis", &[("authorization", &format!("Bearer {token}"))]).await.status.as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn it_makes_what_it_was_not_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut serve = Serve::start(folder.path(), &[]);
    let kubeconfig = Kubeconfig::read(&serve.told("kubeconfig").expect("told"));
    assert_eq!(kubeconfig.client().await.get("/apis", &[]).await.status, 200);
    let ca = std::fs::read(serve.told("front-proxy-ca").expect("told")).expect("exported");
    assert!(ca.starts_with(b"-----BEGIN CERTIFICATE-----"));
    let mut nobody = Client::http1(&kubeconfig.anonymous()).await.expect("the door answers");
    assert_eq!(nobody.get("/apis", &[]).await.status, 401);
    assert_eq!(nobody.get("/readyz", &[]).await.text(), "ok");
    serve.running.signal("TERM");
    assert!(serve.running.wait().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_stay_over_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = || {
        let mut serve = Serve::start(folder.path(), &[]);
        serve.running.signal("TERM");
        assert!(serve.running.wait().success());
        ["front-proxy-ca.crt", "pki/server-ca.crt", "pki/serving.crt", "pki/front-proxy-client.key"]
            .map(|file| std::fs::read(folder.path().join(file)).expect("written"))
    };
    assert_eq!(read(), read());
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let tokens = folder.path().join("tokens.csv");
    std::fs::write(&tokens, "old-token,jane,1\n").expect("written");
    let state = folder.path().join("state");
    let serve = Serve::start(&state, &["--token-file", tokens.to_str().expect("text")]);
    assert!(serve.told("kubeconfig").is_none(), "whoever brings users has ways in");
    let target = serve.target(&state);
    assert_eq!(status_with(&target, "old-token").await, 200);
    assert_eq!(status_with(&target, "new-token").await, 401);

    std::fs::write(&tokens, "new-token,jane,1\n").expect("written");
    for _ in 0..500 {
        if status_with(&target, "new-token").await == 200 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(status_with(&target, "new-token").await, 200);
    assert_eq!(status_with(&target, "old-token").await, 401);

    // What cannot be read changes nothing.
    std::fs::write(&tokens, "no fields\n").expect("written");
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    assert_eq!(status_with(&target, "new-token").await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut serve = Serve::start(folder.path(), &["--shutdown-delay", "1h"]);
    let kubeconfig = Kubeconfig::read(&serve.told("kubeconfig").expect("told"));
    serve.running.signal("TERM");
    let mut client = Client::http1(&kubeconfig.anonymous()).await.expect("still there");
    loop {
        let ready = client.get("/readyz", &[]).await;
        if ready.status == 500 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    serve.running.signal("TERM");
    assert!(serve.running.wait().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_says_what_flags_do_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("door.yaml");
    let text =
        "apiVersion: config.trellis.dev/v1alpha1\nkind: Door\nlisten: 127.0.0.1:1\nstate: state\nlog: warn\n";
    std::fs::write(&file, text).expect("written");
    let mut running =
        Running::start(trellis().args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(&file));
    let ready = running.line("ready: ");
    assert!(ready.contains(&format!("{}/state/admin.kubeconfig", folder.path().display())), "{ready}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_state_is_named_and_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(Serve::start(folder.path(), &[]));
    let key = folder.path().join("pki/server-ca.key");
    wait_for("the folder to be free", || std::fs::write(&key, "garbage").ok());
    let ended = run(trellis().args(["serve", "--listen", "127.0.0.1:0", "--state"]).arg(folder.path()));
    assert_eq!(ended.code, 5, "{}", ended.stderr);
    assert!(ended.stderr.contains("server-ca.key"), "{}", ended.stderr);
    assert_eq!(std::fs::read_to_string(&key).expect("readable"), "garbage", "nothing is overwritten");
}

#[tokio::test(flavor = "multi_thread")]
async fn audit_and_registrations_are_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = folder.path().join("servers.d");
    std::fs::create_dir(&servers).expect("made");
    let registration = "apiVersion: federation.trellis.dev/v1alpha1\nkind: APIServer\nmetadata: {name: filed}\n\
                        spec: {url: 'https://127.0.0.1:1'}\n";
    std::fs::write(servers.join("filed.yaml"), registration).expect("written");
    let (state, audit) = (folder.path().join("state"), folder.path().join("audit.jsonl"));
    let serve = Serve::start(
        &state,
        &["--registrations", servers.to_str().expect("text"), "--audit-log", audit.to_str().expect("text")],
    );
    let kubeconfig = serve.told("kubeconfig").expect("told");
    let list = run(trellis().args(["servers", "--kubeconfig"]).arg(&kubeconfig));
    assert!(list.stdout.contains("filed"), "{}", list.stdout);
    wait_for("an audit event", || {
        std::fs::read_to_string(&audit).ok().filter(|text| text.contains("/healthz/servers"))
    });
}
