//! `trellis cluster` on hosts: root folders with a shell and coreutils, entered in the place of ssh.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use testkit::TestHost;

use crate::program::{Ended, run, trellis};

const OBJECT: &str = "name: demo\nhosts:\n- {name: cp1, address: 192.168.7.1}\nencryption: {secrets: secretbox}\n\
    preflight: {accept: [kernel-feature, disk-space, disk-latency]}\n";

/// Runs the command in the root folder that stands for the address.
const SSH: &str =
    "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nexec chroot \"$TEST_HOSTS/$2\" /bin/sh -c \"$3\"\n";

struct World {
    folder: tempfile::TempDir,
    host: TestHost,
}

impl World {
    /// A host on which all is well, and an object for it.
    fn new() -> Self {
        let (folder, host) = (tempfile::tempdir().expect("a folder"), TestHost::new());
        for program in ["kubelet", "containerd"] {
            host.program(&format!("/usr/local/bin/{program}"), "#!/bin/sh\n");
        }
        fs::create_dir_all(host.path("/run/systemd/system")).expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["bin", "hosts"] {
            fs::create_dir(at(name)).expect("a folder");
        }
        fs::write(at("bin/ssh"), SSH).expect("a file");
        fs::set_permissions(at("bin/ssh"), fs::Permissions::from_mode(0o755)).expect("a mode");
        std::os::unix::fs::symlink(host.root(), at("hosts/192.168.7.1")).expect("a link");
        fs::write(at("cluster.yaml"), OBJECT).expect("a file");
        Self { folder, host }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = trellis();
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap_or_default());
        command.env("PATH", path).env("TEST_HOSTS", self.path("hosts"));
        command.current_dir(self.folder.path()).arg("cluster").args(arguments);
        command
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command; whatever it says has no key in it.
    fn run(&self, arguments: &[&str]) -> Ended {
        let ended = run(&mut self.command(arguments));
        for key in self.keys() {
            let told = ended.stdout.contains(&key) || ended.stderr.contains(&key);
            assert!(!told, "{arguments:?} tells a key");
        }
        ended
    }

    fn check(&self, arguments: &[&str], code: i32, said: &str) -> Ended {
        let ended = self.run(arguments);
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code, code, "{arguments:?}: {all}");
        assert!(all.contains(said), "{arguments:?}: {all}");
        ended
    }

    /// A line of each private key.
    fn keys(&self) -> Vec<String> {
        let mut files = Vec::new();
        walk(&self.path("cluster.state"), &mut files);
        let keys = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "key"));
        let texts = keys.filter_map(|path| fs::read_to_string(path).ok());
        texts
            .filter_map(|text| text.lines().find(|line| !line.starts_with("-----")).map(str::to_owned))
            .collect()
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => walk(&path, files),
            path => files.push(path),
        }
    }
}

#[test]
fn from_nothing_to_a_host_and_back() {
    let world = World::new();
    let before = world.host.everything();
    world.check(&["plan", "cluster.yaml"], 2, "+ /etc/kubernetes/pki/ca.key 0600, not shown");
    assert_eq!(world.host.everything(), before, "a plan changes nothing");
    let json: Value =
        serde_json::from_str(&world.run(&["plan", "cluster.yaml", "-o", "json"]).stdout).expect("JSON");
    assert!(json["hosts"][0]["changes"].as_array().is_some_and(|changes| changes.len() > 50), "{json}");
    assert_eq!(json["findings"][0]["id"], "kernel-feature", "accepted, and shown");

    world.check(&["apply", "cluster.yaml"], 0, "cp1: 1/");
    world.check(&["plan", "cluster.yaml"], 0, "no change on 1 hosts");
    world.check(&["apply", "cluster.yaml"], 0, "no change on 1 hosts");
    assert!(world.keys().len() > 10);

    world.host.write("/etc/containerd/config.toml", "version = 2\n");
    world.check(&["plan", "cluster.yaml"], 2, "was changed on the host");
    world.check(&["apply", "cluster.yaml", "--yes"], 0, "put 1 files");
    world.check(&["plan", "cluster.yaml"], 0, "no change");

    let asked = world.check(&["down", "cluster.yaml"], 2, "give --yes");
    assert!(asked.stdout.contains("- unit kubelet.service: stop, disable"), "{}", asked.stdout);
    world.check(&["down", "cluster.yaml", "--yes"], 0, "forget");
    let after = world.host.everything();
    assert_eq!(after, before);
    world.check(&["down", "cluster.yaml", "--yes"], 0, "no change");
}

#[test]
fn what_stands_in_the_way_changes_nothing() {
    let world = World::new();
    world.host.write("/etc/containerd/config.toml", "version = 2\n");
    let before = world.host.everything();
    world.check(&["plan", "cluster.yaml"], 4, "this file is of somebody else");
    world.check(&["apply", "cluster.yaml"], 4, "nothing was changed");
    assert_eq!(world.host.everything(), before);
    world.check(&["plan", "cluster.yaml", "--overwrite", "etc/x"], 3, "not absolute");
    world.check(&["apply", "cluster.yaml", "--overwrite", "/etc/containerd/config.toml"], 0, "keep aside");

    let other = World::new();
    fs::remove_file(other.host.path("/usr/local/bin/kubelet")).expect("a file");
    other.check(&["apply", "cluster.yaml"], 4, "cp1: binary-missing: /usr/local/bin/kubelet is not there");
    fs::remove_file(other.path("hosts/192.168.7.1")).expect("a link");
    other.check(&["plan", "cluster.yaml"], 4, "cp1: connect: the connection ended");
    fs::write(other.path("cluster.yaml"), "name: demo\n").expect("a file");
    other.check(&["plan", "cluster.yaml"], 3, "hosts");
}

#[test]
fn a_lost_state_folder_comes_back() {
    let world = World::new();
    world.check(&["adopt", "cluster.yaml"], 3, "no cluster is recorded there");
    world.check(&["apply", "cluster.yaml"], 0, "");
    world.check(&["adopt", "cluster.yaml"], 9, "has keys already");
    let kept = fs::read(world.path("cluster.state/pki/etcd/ca.key")).expect("a key");
    fs::remove_dir_all(world.path("cluster.state")).expect("a folder");
    world.check(&["plan", "cluster.yaml"], 4, "keys-lost");
    fs::remove_dir_all(world.path("cluster.state")).expect("a folder");
    world.check(&["adopt", "cluster.yaml"], 0, "next: trellis cluster plan");
    assert_eq!(fs::read(world.path("cluster.state/pki/etcd/ca.key")).expect("a key"), kept);
    world.check(&["plan", "cluster.yaml"], 0, "no change on 1 hosts");
}

#[test]
fn locks_have_an_owner_and_an_age() {
    let world = World::new();
    world.check(&["unlock", "cluster.yaml"], 0, "no host is locked");
    world.host.write("/var/lib/trellis/lock/owner", "fedcba9876543210 other@there\n");
    world.check(&["apply", "cluster.yaml"], 5, "locked fedcba9876543210 other@there");
    world.check(&["unlock", "cluster.yaml"], 2, "cp1: locked by other@there for");
    world.check(&["unlock", "cluster.yaml", "--yes"], 0, "other@there");
    world.check(&["apply", "cluster.yaml"], 0, "");
}

#[test]
fn keys_and_access() {
    let world = World::new();
    world.check(&["certs", "cluster.yaml", "--local"], 5, "has no keys of a cluster");
    world.check(&["apply", "cluster.yaml"], 0, "");
    let table = world.check(&["certs", "cluster.yaml"], 0, "etcd/server.crt").stdout;
    assert!(table.contains("kube-apiserver") && table.contains("192.168.7.1"), "{table}");

    world.check(&["keys", "export", "cluster.yaml", "--output", "keys.tar"], 0, "tar -xf keys.tar");
    let mode = fs::metadata(world.path("keys.tar")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::create_dir(world.path("again")).expect("a folder");
    let unpacked = Command::new("tar")
        .args(["-xf", "keys.tar", "-C", "again"])
        .current_dir(world.folder.path())
        .status();
    assert!(unpacked.expect("tar").success());
    world.check(&["plan", "cluster.yaml", "--state", "again"], 0, "no change on 1 hosts");

    fs::write(world.path("config"), "clusters: [{name: other}]\ncurrent-context: other\n").expect("a file");
    world.check(&["kubeconfig", "cluster.yaml", "--output", "config"], 0, "has the context demo");
    let merged = fs::read_to_string(world.path("config")).expect("a file");
    assert!(merged.contains("name: other") && merged.contains("current-context: demo"), "{merged}");
    world.check(&["token", "cluster.yaml", "--host", "nobody"], 3, "give one of cp1");
}
