//! What is found out on a host.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cluster_spec::{CgroupDriver, HostFacts};
use serde::Serialize;

/// Where pods may look for the resolvers that the local one asks.
const BEHIND_LOCAL: &str = "/run/systemd/resolve/resolv.conf";
/// The resolver configuration of a host.
const ORDINARY: &str = "/etc/resolv.conf";

/// What a host is like. What could not be found out is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// `ID` of os-release.
    pub os: String,
    /// `VERSION_ID` of os-release.
    pub os_version: String,
    /// As `uname -m` says.
    pub arch: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Name of the host itself.
    pub hostname: String,
    /// systemd's id of the installation.
    pub machine_id: String,
    /// Id of the machine from its firmware.
    pub product_uuid: String,
    /// Id of this boot.
    pub boot_id: String,
    /// The user that requests run as.
    pub uid: Option<u32>,
    /// Processors.
    pub cpus: Option<u32>,
    /// Memory in KiB.
    pub memory_kib: Option<u64>,
    /// Whether systemd runs.
    pub systemd: bool,
    /// 1 or 2, when there are cgroups.
    pub cgroup: Option<u8>,
    /// Whether packets are forwarded.
    pub ip_forward: Option<bool>,
    /// Effective capabilities, as a set of bits.
    pub capabilities: Option<u64>,
    /// Swap that is on, each with its size in KiB.
    pub swap: Vec<(String, u64)>,
    /// Files of resolvers that are there.
    pub resolv_confs: Vec<String>,
    /// Resolvers: file and address.
    pub nameservers: Vec<(String, String)>,
    /// Modules of the kernel that are there, of those that are needed.
    pub modules: Vec<String>,
    /// The containerd that is there.
    pub containerd: Option<String>,
    /// The link that has the address of the host.
    pub link: Option<Link>,
    /// Folder, free KiB, mount point.
    pub disks: Vec<(String, u64, String)>,
    /// Folders that another installation left.
    pub leftovers: Vec<String>,
    /// Units of another installation that run.
    pub running: Vec<String>,
    /// Who listens on ports that are needed.
    pub listeners: Vec<Listener>,
    /// By how much its clock is ahead of ours, in seconds; negative when behind.
    pub clock_ahead: Option<i64>,
}

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// Name.
    pub name: String,
    /// Largest packet in bytes.
    pub mtu: u32,
}

/// A process that listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listener {
    /// Port.
    pub port: u16,
    /// Its id, 0 when it cannot be seen.
    pub pid: u32,
    /// Its name.
    pub name: String,
}

impl Facts {
    /// Reads what the script says; lines that are not understood are left out: a fact less, which the checks name.
    pub fn parse(lines: &[String], now: SystemTime) -> Self {
        let mut facts = Self::default();
        for line in lines {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            facts.take(key, value.trim(), now);
        }
        facts
    }

    fn take(&mut self, key: &str, value: &str, now: SystemTime) {
        let words: Vec<&str> = value.split_whitespace().collect();
        let text = || value.to_owned();
        match (key, words.as_slice()) {
            ("os", _) => self.os = text(),
            ("os-version", _) => self.os_version = text(),
            ("arch", _) => self.arch = text(),
            ("kernel", _) => self.kernel = text(),
            ("hostname", _) => self.hostname = text(),
            ("machine-id", _) => self.machine_id = text(),
            ("product-uuid", _) => self.product_uuid = text(),
            ("boot-id", _) => self.boot_id = text(),
            ("uid", _) => self.uid = value.parse().ok(),
            ("cpus", _) => self.cpus = value.parse().ok(),
            ("memory-kib", _) => self.memory_kib = value.parse().ok(),
            ("systemd", _) => self.systemd = value == "yes",
            ("cgroup", _) => self.cgroup = value.trim_start_matches('v').parse().ok(),
            ("ip-forward", _) => self.ip_forward = Some(value == "1"),
            ("capabilities", _) => self.capabilities = u64::from_str_radix(value, 16).ok(),
            ("swap", [name, size]) => {
                self.swap.extend(size.parse().ok().map(|size| ((*name).to_owned(), size)))
            }
            ("resolv-conf", _) => self.resolv_confs.push(text()),
            ("nameserver", [file, address]) => {
                self.nameservers.push(((*file).to_owned(), (*address).to_owned()));
            }
            ("module", _) => self.modules.push(text()),
            ("containerd", _) => self.containerd = Some(text()),
            ("link", [name, mtu]) => {
                self.link = mtu.parse().ok().map(|mtu| Link { name: (*name).to_owned(), mtu });
            }
            ("disk", [folder, free, on]) => {
                let disk = |free| ((*folder).to_owned(), free, (*on).to_owned());
                self.disks.extend(free.parse().ok().map(disk));
            }
            ("leftover", _) => self.leftovers.push(text()),
            ("running", _) => self.running.push(text()),
            ("listener", [port, pid, name @ ..]) => {
                if let (Ok(port), Ok(pid)) = (port.parse(), pid.parse()) {
                    self.listeners.push(Listener { port, pid, name: name.join(" ") });
                }
            }
            ("time", _) => self.clock_ahead = value.parse().ok().and_then(|there: i64| ahead(there, now)),
            _ => {}
        }
    }

    /// What has to be known before the files of the host can be made.
    pub fn for_files(&self) -> HostFacts {
        let ordinary = HostFacts::default();
        // systemd's own driver needs systemd and one hierarchy; the kubelet cannot use it otherwise.
        let cgroup_driver = match (self.systemd, self.cgroup) {
            (true, Some(2)) | (_, None) => CgroupDriver::Systemd,
            _ => CgroupDriver::Cgroupfs,
        };
        let local = self.resolvers(ORDINARY).any(is_loopback);
        let behind = self.resolv_confs.iter().any(|file| file == BEHIND_LOCAL);
        let resolv_conf = if local && behind { BEHIND_LOCAL } else { ORDINARY };
        HostFacts {
            cgroup_driver,
            resolv_conf: resolv_conf.to_owned(),
            containerd: self.containerd.clone().filter(|path| is_path(path)).unwrap_or(ordinary.containerd),
            mtu: self.link.as_ref().map_or(ordinary.mtu, |link| link.mtu),
        }
    }

    /// The resolvers of a file.
    pub fn resolvers<'a>(&'a self, file: &'a str) -> impl Iterator<Item = &'a str> {
        self.nameservers.iter().filter(move |(of, _)| of == file).map(|(_, address)| address.as_str())
    }
}

/// A host says where its containerd is; the path stands in a unit.
fn is_path(path: &str) -> bool {
    crate::HostPath::new(path).is_ok()
}

/// Whether a resolver is reached only from the host itself.
pub(crate) fn is_loopback(address: &str) -> bool {
    address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn ahead(there: i64, now: SystemTime) -> Option<i64> {
    let here = now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    there.checked_sub(i64::try_from(here).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Facts {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        Facts::parse(&lines, UNIX_EPOCH + Duration::from_secs(1000))
    }

    #[test]
    fn every_line_has_its_place() {
        let found = facts(
            "os debian\ncgroup v2\nsystemd yes\nlink eth0 1450\ntime 1007\nswap /dev/x 77\nlistener 6443 12 a b",
        );
        assert_eq!((found.os.as_str(), found.cgroup, found.clock_ahead), ("debian", Some(2), Some(7)));
        assert_eq!(found.for_files().mtu, 1450);
        assert_eq!(found.swap, [("/dev/x".to_owned(), 77)]);
        assert_eq!(found.listeners, [Listener { port: 6443, pid: 12, name: "a b".to_owned() }]);
    }

    #[test]
    fn nonsense_is_a_fact_less() {
        let found = facts(
            "cgroup x\ntime -9223372036854775808\nlink eth0 -1\nlistener 99999 1 a\ndisk /a b\nwhat\n\n",
        );
        assert_eq!(
            (found.cgroup, found.link.as_ref(), found.listeners.len(), found.disks.len()),
            (None, None, 0, 0)
        );
        assert_eq!(found.clock_ahead, None);
        let evil = facts("containerd /bin/a\u{0}; rm");
        assert_eq!(evil.for_files().containerd, HostFacts::default().containerd);
    }

    #[test]
    fn pods_inherit_no_local_resolver() {
        let local = "resolv-conf /etc/resolv.conf\nnameserver /etc/resolv.conf 127.0.0.53\n";
        assert_eq!(facts(local).for_files().resolv_conf, ORDINARY);
        let both = format!("{local}resolv-conf /run/systemd/resolve/resolv.conf\n");
        assert_eq!(facts(&both).for_files().resolv_conf, BEHIND_LOCAL);
    }
}
