//! Bad input: a sentence with what, where and what next, and the documented exit code; never a panic.

use std::{net::TcpListener, path::Path};

use crate::program::{run, trellis};

/// Arguments with `DIR` for a folder that holds `garbage`, `good.kubeconfig` and `not.pem`; the code; what
/// standard error says.
const CASES: &[(&[&str], i32, &[&str])] = &[
    (&["frobnicate"], 2, &["frobnicate"]),
    (&["serve", "--liste", "x"], 2, &["--listen"]),
    (&["serve"], 2, &["--state is missing", "next: "]),
    (&["serve", "--state", "DIR/s", "--tls-cert", "DIR/not.pem"], 2, &["--tls-cert needs --tls-key"]),
    (&["serve", "--state", "DIR/s", "--max-connections", "0"], 2, &["at least 1"]),
    (&["serve", "--state", "DIR/s", "--request-timeout", "1 fortnight"], 2, &["no length of time"]),
    (&["serve", "--state", "DIR/s", "--install-crds"], 2, &["--install-crds needs --core"]),
    (
        &["serve", "--state", "DIR/s", "--listen", "nowhere"],
        3,
        &["`nowhere`", "next: write an address and a port"],
    ),
    (&["serve", "--state", "DIR/s", "--log", "a=b=c"], 3, &["log filter `a=b=c`", "next: "]),
    (&["serve", "--state", "DIR/s", "--config", "DIR/none.yaml"], 3, &["DIR/none.yaml", "next: "]),
    (
        &["serve", "--state", "DIR/s", "--listen", "127.0.0.1:0", "--client-ca", "DIR/none.crt"],
        3,
        &["DIR/none.crt"],
    ),
    (
        &["serve", "--state", "DIR/s", "--listen", "127.0.0.1:0", "--client-ca", "DIR/not.pem"],
        3,
        &["DIR/not.pem"],
    ),
    (
        &["serve", "--state", "DIR/s", "--listen", "127.0.0.1:0", "--token-file", "DIR/garbage"],
        3,
        &["DIR/garbage", "line 1"],
    ),
    (
        &["serve", "--state", "DIR/s", "--listen", "127.0.0.1:0", "--registrations", "DIR/none"],
        3,
        &["DIR/none", "--registrations"],
    ),
    (&["serve", "--state", "DIR/s", "--listen", "127.0.0.1:0", "--core", "DIR/garbage"], 3, &["DIR/garbage"]),
    (&["serve", "--state", "DIR/garbage/s", "--listen", "127.0.0.1:0"], 5, &["DIR/garbage/s", "next: "]),
    (&["up", "--data", "DIR/garbage/s", "--listen", "127.0.0.1:0"], 5, &["DIR/garbage/s", "next: "]),
    (&["up", "--data", "DIR/s", "--ephemeral"], 2, &["--ephemeral"]),
    (&["servers"], 3, &["cannot find the door", "next: start one with `trellis up`"]),
    (&["servers", "--kubeconfig", "DIR/none"], 3, &["DIR/none", "next: "]),
    (&["servers", "--kubeconfig", "DIR/garbage"], 3, &["DIR/garbage", "next: "]),
    (&["servers", "--kubeconfig", "DIR/good.kubeconfig", "--context", "absent"], 3, &["absent", "next: "]),
    (
        &["servers", "--kubeconfig", "DIR/good.kubeconfig"],
        6,
        &["https://127.0.0.1:1", "Connection refused", "next: "],
    ),
    (&["register", "ftp://host", "--name", "n"], 3, &["spec.url", "use https"]),
    (&["register", "https://host", "--name", "core"], 3, &["metadata.name", "reserved"]),
    (&["register", "http://10.0.0.1"], 3, &["use https://10.0.0.1"]),
    (&["register", "https://user:secret@host"], 3, &["user or password"]),
    (&["register", "https://host", "--ca", "DIR/not.pem"], 3, &["DIR/not.pem", "next: "]),
    (&["register", "https://host", "--ca", "DIR/none"], 3, &["DIR/none", "next: "]),
    (&["register", "https://host", "--identity", "requestheader"], 2, &["requestHeader"]),
    (&["register"], 2, &["URL"]),
    (&["explain", "route", "GET", "apis"], 2, &["does not begin with a slash"]),
    (&["config", "check", "DIR/none.yaml"], 3, &["DIR/none.yaml", "next: "]),
];

const KUBECONFIG: &str = "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n\
                          users: [{name: u, user: {token: t}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n\
                          current-context: x\n";

#[test]
fn bad_input_is_told_in_a_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().to_str().expect("text");
    for (name, content) in
        [("garbage", "{]\n"), ("not.pem", "no certificate\n"), ("good.kubeconfig", KUBECONFIG)]
    {
        std::fs::write(folder.path().join(name), content).expect("written");
    }
    for (args, code, wanted) in CASES {
        check(args, *code, wanted, dir);
    }
}

fn check(args: &[&str], code: i32, wanted: &[&str], dir: &str) {
    let real = |text: &str| text.replace("DIR", dir);
    let ended = run(trellis().args(args.iter().map(|arg| real(arg))));
    let shown = format!("{args:?} said:\n{}", ended.stderr);
    assert_eq!(ended.code, code, "{shown}");
    assert!(!ended.stderr.contains("panicked"), "{shown}");
    assert!(!ended.stderr.contains("secret"), "{shown}");
    for part in wanted {
        assert!(ended.stderr.contains(&real(part)), "{part:?} is missing; {shown}");
    }
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let state: &Path = folder.path();
    for command in ["serve", "up"] {
        let flag = if command == "serve" { "--state" } else { "--data" };
        let ended = run(trellis().args([command, "--listen", &address, flag]).arg(state));
        assert_eq!(ended.code, 4, "{}", ended.stderr);
        assert!(ended.stderr.contains(&address) && ended.stderr.contains("next: "), "{}", ended.stderr);
    }
}

#[test]
fn help_is_no_failure() {
    for args in [&["--help"][..], &["help", "serve"], &["register", "--help"], &["--version"]] {
        let ended = run(trellis().args(args));
        assert_eq!((ended.code, &*ended.stderr), (0, ""), "{args:?}");
        assert!(!ended.stdout.is_empty());
    }
}
