//! Hosts that say anything at all: an error that names them, in bounded time and memory.

use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use turnup::{Error, Request, Session, SshCause, SshOptions, Target};

/// A program in the place of ssh.
fn options(script: &str) -> (tempfile::TempDir, SshOptions, Target) {
    let folder = tempfile::TempDir::new().expect("a folder");
    let program = folder.path().join("ssh");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    let target =
        Target { host: "n1".to_owned(), address: "10.0.0.1".to_owned(), ssh: cluster_spec::Ssh::default() };
    (folder, SshOptions { program, ..SshOptions::new("/nonexistent") }, target)
}

async fn check(script: &str, expected: &str) {
    let (_folder, options, target) = options(script);
    let outcome = async {
        let mut session = Session::open(&options, &target).await?;
        session.ask(Request::new("facts", ["10.0.0.1"]), Duration::from_secs(20)).await
    };
    let error = outcome.await.expect_err(script).to_string();
    assert!(error.starts_with("n1: ") && error.contains(expected), "{script}: {error}");
    assert!(error.len() < 1500 && !error.contains('\u{1b}'), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_they_say_is_bounded() {
    check("exit 0", "the connection ended").await;
    check("printf '\\033[2Jgo away\\n' >&2; exit 255", "[2Jgo away").await;
    check("yes", "no greeting of the script").await;
    check("head -c 1000000 /dev/zero", "a line of more than").await;
    check("echo trellis-host 1; yes", "an answer of more than").await;
    check("echo trellis-host 1; echo '. maybe'", "\". maybe\"").await;
    check("echo trellis-host 1; echo '. fail why not'; cat", "facts: why not").await;
    check("echo trellis-host 1; exit 1", "the connection ended").await;
    check("yes noise | head -c 100000 >&2; echo 'Connection refused' >&2; exit 255", "nothing listens there")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sudo_that_is_refused() {
    let (_folder, options, mut target) = options("echo 'sudo: a password is required' >&2; exit 1");
    target.ssh.user = "admin".to_owned();
    match Session::open(&options, &target).await.err().expect("refused") {
        Error::Ssh { cause, .. } => assert_eq!(cause, SshCause::SudoRefused),
        other => panic!("{other}"),
    }
}

/// Another user than root goes through sudo.
#[tokio::test(flavor = "multi_thread")]
async fn sudo_where_the_user_is_not_root() {
    let script = "while [ \"$1\" != -- ]; do shift; done\ncase $3 in 'sudo -n -- sh '*) exec sh -c \"${3#sudo -n -- }\" ;; esac\nexit 9";
    let (_folder, options, mut target) = options(script);
    target.ssh.user = "admin".to_owned();
    let session = Session::open(&options, &target).await;
    session.unwrap_or_else(|error| panic!("{error}")).close().await;
    target.ssh.user = "root".to_owned();
    assert!(Session::open(&options, &target).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_falls_silent() {
    let (_folder, options, target) = options("echo trellis-host 1; exec sleep 60");
    let mut session = Session::open(&options, &target).await.unwrap_or_else(|error| panic!("{error}"));
    let asked = session.ask(Request::new("facts", ["10.0.0.1"]), Duration::from_millis(300)).await;
    assert!(matches!(asked, Err(Error::Silent { .. })), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_ssh_on_this_machine() {
    let (_folder, mut options, target) = options("exit 0");
    options.program = "/nonexistent/ssh".into();
    let error = Session::open(&options, &target).await.err().expect("an error");
    assert!(matches!(error, Error::Start { .. }), "{error}");
}
