//! Who is reached, and who is not: with the cause.

use std::fs;

use turnup::{Error, Request, Session, SshCause};

use crate::support::{Sshd, TestHost};

async fn cause(sshd: &Sshd, change: impl FnOnce(&mut turnup::SshOptions, &mut turnup::Target)) -> SshCause {
    let (mut options, mut target) = (sshd.options(), sshd.target("n1"));
    change(&mut options, &mut target);
    match Session::open(&options, &target).await.err().expect("not reached") {
        Error::Ssh { host, cause, .. } if host == "n1" => cause,
        other => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn host_keys_are_verified() {
    let (host, other) = (TestHost::new(), TestHost::new());
    let (sshd, other) = (Sshd::start(&host), Sshd::start(&other));
    let folder = tempfile::TempDir::new().expect("a folder");
    let known = folder.path().join("known");
    let empty =
        |options: &mut turnup::SshOptions, _: &mut turnup::Target| options.known_hosts.clone_from(&known);
    assert_eq!(cause(&sshd, empty).await, SshCause::UnknownHostKey);
    assert!(
        !known.exists() || fs::read(&known).expect("a file").is_empty(),
        "it was kept without being asked for"
    );
    // Kept when that is asked for, and then it must stay the same.
    let options = turnup::SshOptions { accept_new: true, ..turnup::SshOptions::new(&known) };
    Session::open(&options, &sshd.target("n1")).await.unwrap_or_else(|error| panic!("{error}")).close().await;
    let strict = turnup::SshOptions::new(&known);
    Session::open(&strict, &sshd.target("n1")).await.unwrap_or_else(|error| panic!("{error}")).close().await;
    let own = sshd.known_line();
    let (place, _) = own.split_once(' ').expect("a line");
    let others = other.known_line();
    let (_, key) = others.split_once(' ').expect("a line");
    fs::write(&known, format!("{place} {key}")).expect("a file");
    assert_eq!(cause(&sshd, |options, _| *options = strict).await, SshCause::ChangedHostKey);
    assert_eq!(cause(&sshd, |o, _| *o = options).await, SshCause::ChangedHostKey, "not accepted either");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_let_in_is_told_so() {
    let (host, other) = (TestHost::new(), TestHost::new());
    let (sshd, other) = (Sshd::start(&host), Sshd::start(&other));
    let key = other.target("n1").ssh.key;
    assert_eq!(cause(&sshd, |_, target| target.ssh.key = key).await, SshCause::Denied);
    let nobody =
        std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    assert_eq!(cause(&sshd, |_, target| target.ssh.port = nobody.into()).await, SshCause::NotListening);
}

#[tokio::test(flavor = "multi_thread")]
async fn through_a_host_in_between() {
    let (host, jump) = (TestHost::new(), TestHost::new());
    let (sshd, jump) = (Sshd::start(&host), Sshd::start(&jump));
    let both = format!("{}{}", sshd.known_line(), jump.known_line());
    fs::write(sshd.known_hosts(), both).expect("a file");
    let authorized = |sshd: &Sshd| sshd.known_hosts().with_file_name("authorized");
    fs::copy(authorized(&sshd), authorized(&jump)).expect("a copy");
    let mut target = sshd.target("n1");
    target.ssh.bastion = Some(format!("root@127.0.0.1:{}", jump.target("j").ssh.port));
    let mut session = Session::open(&sshd.options(), &target).await.unwrap_or_else(|error| panic!("{error}"));
    let facts = Request::new("facts", ["127.0.0.1"]);
    let facts = session
        .ask(facts, std::time::Duration::from_secs(60))
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(facts.contains(&"os debian".to_owned()), "{facts:?}");
    // Its key is verified too.
    fs::write(sshd.known_hosts(), sshd.known_line()).expect("a file");
    assert_eq!(cause(&sshd, |_, t| *t = target).await, SshCause::UnknownHostKey);
}

/// What a login shell says comes before the script, and does not disturb it.
#[tokio::test(flavor = "multi_thread")]
async fn a_shell_may_greet() {
    let host = TestHost::new();
    let sshd = Sshd::start(&host);
    sshd.say_first(b"Welcome!\n\x1b[31m. ok\n");
    let session = Session::open(&sshd.options(), &sshd.target("n1")).await;
    session.unwrap_or_else(|error| panic!("{error}")).close().await;
}
