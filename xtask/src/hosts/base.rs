//! The Debian that all test hosts have below them: made once, never written to by a host.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use fs_err as fs;
use sha2::{Digest as _, Sha256};

use crate::{
    command::{Step, which},
    workspace::Workspace,
};

const RELEASE: &str = "bookworm";
const PACKAGES: &str = "systemd,systemd-sysv,dbus,openssh-server,iproute2,iptables,nftables,conntrack,\
                        ca-certificates,procps,kmod,python3-minimal,ethtool,mount,util-linux,socat";

/// systemd-nspawn mounts these read-only, and `/` as a slave: a kubelet changes and shares them. The rest of `/sys`
/// stays read-only, from which systemd-networkd concludes that no udev will tell it of interfaces.
const UNIT: &str = "\
[Unit]
Description=Mounts as on a machine of its own
DefaultDependencies=no
Before=sysinit.target systemd-sysctl.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/own-mounts

[Install]
WantedBy=sysinit.target
";
const SCRIPT: &str = "\
#!/bin/sh
for at in $(awk '$3 ~ /^cgroup2?$/ || $2 == \"/sys/fs/cgroup\" {print $2}' /proc/mounts) /proc/sys; do
    mount -o remount,rw,bind \"$at\" || mount -o remount,rw \"$at\"
done
mount --make-rshared /
";

/// The folder of the base, made when it is not there.
///
/// # Errors
/// When debootstrap fails: its log is in the message.
pub(super) fn prepare(workspace: &Workspace) -> Result<PathBuf> {
    let hosts = workspace.cache().join("hosts");
    fs::create_dir_all(&hosts)?;
    let inputs = [RELEASE, PACKAGES, UNIT, SCRIPT].join("\n");
    let hash: String = Sha256::digest(inputs).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let base = hosts.join(format!("base-{hash}"));
    if base.is_dir() {
        return Ok(base);
    }
    let lock = fs::File::create(hosts.join(".lock"))?.into_parts().0;
    lock.lock()?;
    if base.is_dir() {
        return Ok(base);
    }
    eprintln!("hosts: making the base system, which takes a minute or two");
    let unfinished = hosts.join(".base");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    Step::new("debootstrap", which("debootstrap").context("debootstrap is not installed")?)
        .arguments(["--variant=minbase", &format!("--include={PACKAGES}"), RELEASE])
        .arguments([unfinished.as_os_str()])
        .logged(&workspace.logs().join("debootstrap.log"))?;
    configure(&unfinished)?;
    fs::rename(&unfinished, &base)?;
    Ok(base)
}

fn configure(base: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(base.join("etc/systemd/system/own-mounts.service"), UNIT)?;
    let script = base.join("usr/local/sbin/own-mounts");
    fs::write(&script, SCRIPT)?;
    fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))?;
    Step::new("systemctl enable", "chroot")
        .arguments([base.as_os_str()])
        .arguments(["systemctl", "enable", "own-mounts.service", "systemd-networkd.service", "ssh.service"])
        .output()?;
    // Each host gets keys of its own.
    for entry in fs::read_dir(base.join("etc/ssh"))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("ssh_host_") {
            fs::remove_file(entry.path())?;
        }
    }
    // Nobody outside is asked for names.
    let resolver = base.join("etc/resolv.conf");
    if fs::symlink_metadata(&resolver).is_ok() {
        fs::remove_file(&resolver)?;
    }
    fs::write(resolver, "")?;
    Ok(())
}
