//! How hosts are reached without a network.

use std::{fs, os::unix::fs::PermissionsExt as _, sync::OnceLock};

use tempfile::TempDir;
use testkit::TestHost;
use turnup::{SshOptions, Target};

/// What `ssh` is replaced by where the network does not matter: the command runs in the root folder given as address.
const WITHOUT_NETWORK: &str = r#"#!/bin/sh
while [ "$1" != -- ]; do shift; done
exec chroot "$2" /bin/sh -c "$3"
"#;

/// The host as a target.
pub fn target(host: &TestHost, name: &str) -> Target {
    let address = host.root().display().to_string();
    Target { host: name.to_owned(), address, ssh: cluster_spec::Ssh::default() }
}

/// Options that need no network.
pub fn options() -> SshOptions {
    static PROGRAM: OnceLock<TempDir> = OnceLock::new();
    let folder = PROGRAM.get_or_init(|| {
        let folder = TempDir::new().expect("a folder");
        fs::write(folder.path().join("ssh"), WITHOUT_NETWORK).expect("a file");
        fs::set_permissions(folder.path().join("ssh"), fs::Permissions::from_mode(0o755)).expect("a mode");
        folder
    });
    SshOptions { program: folder.path().join("ssh"), ..SshOptions::new("/nonexistent") }
}
