//! From a base system to a host that answers SSH.

use std::{
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use fs_err as fs;

use super::{cgroups, lab::Lab};
use crate::command::{Step, tail, which};

/// A host that does not answer for so long is broken.
const PATIENCE: Duration = Duration::from_secs(90);
/// Folders with file systems of their own: containers have overlays, which cannot lie on an overlay.
const REAL: [&str; 3] = ["containerd", "kubelet", "etcd"];

/// The bridge that connects the hosts and this machine.
pub(super) fn network(lab: &Lab) -> Result<()> {
    let bridge = lab.bridge();
    ip(&["link", "add", &bridge, "type", "bridge"])?;
    ip(&["address", "add", &format!("{}/24", lab.gateway()), "dev", &bridge])?;
    ip(&["link", "set", &bridge, "up"])
}

fn ip(arguments: &[&str]) -> Result<()> {
    let program = which("ip").context("ip is not installed")?;
    Step::new(format!("ip {}", arguments.join(" ")), program).arguments(arguments).output().map(drop)
}

/// The key that opens the hosts.
pub(super) fn keys(lab: &Lab) -> Result<()> {
    key(&lab.key(), "test hosts")
}

fn key(file: &Path, comment: &str) -> Result<()> {
    Step::new("ssh-keygen", which("ssh-keygen").context("ssh-keygen is not installed")?)
        .arguments(["-q", "-t", "ed25519", "-N", "", "-C", comment, "-f"])
        .arguments([file])
        .output()
        .map(drop)
}

/// Begins to boot a host.
pub(super) fn start(lab: &Lab, base: &Path, host: u8) -> Result<()> {
    let folder = lab.host_folder(host);
    let (upper, root) = (folder.join("upper"), folder.join("root"));
    for path in [&upper, &root, &folder.join("work")] {
        fs::create_dir_all(path)?;
    }
    settings(lab, host, &upper)?;
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        base.display(),
        upper.display(),
        folder.join("work").display()
    );
    Step::new("mount an overlay", "mount")
        .arguments(["-t", "overlay", "overlay", "-o", &options])
        .arguments([&root])
        .output()?;
    let machine = lab.machine(host);
    let cgroups = cgroups::make(&format!("{}{}", lab.cgroup_prefix(), Lab::host(host)))?;

    // Whoever starts it is in its cgroups: systemd-nspawn makes the namespace there.
    let mut script = String::from("for cgroup in");
    for cgroup in &cgroups {
        script.push_str(&format!(" '{}'", cgroup.display()));
    }
    script.push_str("; do echo $$ > \"$cgroup/cgroup.procs\" || exit 1; done; exec \"$@\"");
    let log = fs::File::create(folder.join("console.log"))?.into_parts().0;
    let mut command = Command::new("/bin/sh");
    command.args([
        "-c",
        &script,
        "sh",
        "systemd-nspawn",
        "--quiet",
        "--register=no",
        "--keep-unit",
        "--boot",
    ]);
    command.args(["-M", &machine, "--hostname", &Lab::host(host), "-D"]).arg(&root);
    command.arg(format!("--network-bridge={}", lab.bridge()));
    command.args(["--capability=all", "--console=read-only", "--link-journal=no", "--resolv-conf=off"]);
    command.args(["--bind=/dev/kmsg", "--system-call-filter=bpf keyctl add_key perf_event_open"]);
    for name in REAL {
        let real = folder.join("real").join(name);
        fs::create_dir_all(&real)?;
        command.arg(format!("--bind={}:/var/lib/{name}", real.display()));
    }
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    use std::os::unix::process::CommandExt as _;
    command
        .process_group(0)
        .spawn()
        .with_context(|| format!("{machine}: systemd-nspawn cannot be started"))?;
    Ok(())
}

/// What makes a host itself: name, identity, address, keys.
fn settings(lab: &Lab, host: u8, upper: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let name = Lab::host(host);
    let etc = upper.join("etc");
    for folder in [etc.join("ssh"), etc.join("systemd/network"), upper.join("root/.ssh")] {
        fs::create_dir_all(folder)?;
    }
    fs::write(etc.join("hostname"), format!("{name}\n"))?;
    fs::write(
        etc.join("hosts"),
        format!("127.0.0.1 localhost\n::1 localhost\n{} {name}\n", lab.address(host)),
    )?;
    let fresh = fs::read_to_string("/proc/sys/kernel/random/uuid")?;
    fs::write(etc.join("machine-id"), format!("{}\n", fresh.trim().replace('-', "")))?;
    let network = format!(
        "[Match]\nName=host0\n\n[Network]\nAddress={}/24\nGateway={}\nLinkLocalAddressing=ipv6\n",
        lab.address(host),
        lab.gateway()
    );
    fs::write(etc.join("systemd/network/10-host0.network"), network)?;
    let host_key = etc.join("ssh/ssh_host_ed25519_key");
    key(&host_key, &name)?;
    let public = fs::read_to_string(host_key.with_extension("pub"))?;
    let known = format!("{} {}", lab.address(host), public);
    let mut all = fs::read_to_string(lab.known_hosts()).unwrap_or_default();
    all.push_str(&known);
    fs::write(lab.known_hosts(), all)?;
    let authorized = upper.join("root/.ssh/authorized_keys");
    fs::copy(lab.key().with_extension("pub"), &authorized)?;
    for (path, mode) in [(upper.join("root"), 0o700), (upper.join("root/.ssh"), 0o700), (authorized, 0o600)] {
        fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Waits until the host answers.
pub(super) fn wait(lab: &Lab, host: u8) -> Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        let answered = Step::new("ssh", which("ssh").context("ssh is not installed")?)
            .arguments(["-o", "BatchMode=yes", "-o", "ConnectTimeout=2", "-i"])
            .arguments([lab.key()])
            .arguments(["-o", &format!("UserKnownHostsFile={}", lab.known_hosts().display())])
            .arguments([&format!("root@{}", lab.address(host)), "true"])
            .output();
        match answered {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > until => {
                let console = lab.host_folder(host).join("console.log");
                bail!(
                    "{} does not answer: {error:#}; its console ends with\n{}",
                    Lab::host(host),
                    tail(&console)
                );
            }
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}
