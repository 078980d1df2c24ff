//! What is absent: the promises that a glance at a manifest does not show.

use crate::repository::{built, linked_into, read};

fn check_absent(package: &str, banned: &[&str]) {
    let linked = linked_into(package);
    assert!(linked.contains(package), "the tree of {package} was not read");
    for name in banned {
        assert!(!linked.contains(*name), "{name} is linked into {package}");
    }
}

#[test]
fn pure_crates_do_no_input_or_output() {
    let io =
        ["tokio", "hyper", "hyper-util", "rustls", "kube", "mio", "socket2", "fs-err", "notify", "tempfile"];
    check_absent("kube-wire", &io);
    check_absent("catalog", &io);
    check_absent("cluster-spec", &io);
    check_absent("render", &io);
    check_absent("kube-wire", &["http", "http-body"]);
}

#[test]
fn gateway_works_with_every_kubernetes_version() {
    check_absent("gateway", &["kube", "kube-core", "kube-client", "k8s-openapi", "registry"]);
}

#[test]
fn registry_does_not_know_the_gateway() {
    check_absent("registry", &["gateway"]);
}

#[test]
fn development_tools_are_not_shipped() {
    check_absent("trellis", &["testkit", "bench", "xtask", "proptest", "expect-test"]);
}

#[test]
fn one_tls_provider() {
    let built = built();
    assert!(built.contains("aws-lc-rs"), "the tree was not read");
    for name in ["ring", "openssl", "openssl-sys", "native-tls", "serde_yaml"] {
        assert!(!built.contains(name), "{name} is built");
    }
}

#[test]
fn one_version_of_what_must_fit_together() {
    let lock = read("Cargo.lock");
    for name in ["hyper", "h2", "http", "http-body", "rustls", "tokio", "tokio-rustls"] {
        let versions = lock.matches(&format!("name = \"{name}\"\n")).count();
        assert_eq!(versions, 1, "versions of {name}");
    }
}

#[test]
fn everything_comes_from_the_public_registries() {
    let lock = read("Cargo.lock");
    for source in lock.lines().filter_map(|line| line.strip_prefix("source = ")) {
        assert_eq!(source, "\"registry+https://github.com/rust-lang/crates.io-index\"");
    }
}
