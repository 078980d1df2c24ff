//! Names and places of everything in a lab: all follow from its number.

use std::{
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;
use fs_err as fs;
use serde_json::json;

use crate::workspace::Workspace;

/// A lab of test hosts.
pub(super) struct Lab {
    /// From 1 to 250.
    pub(super) number: u8,
    /// Everything on disk.
    pub(super) folder: PathBuf,
}

impl Lab {
    pub(super) fn new(workspace: &Workspace, number: u8) -> Self {
        Self { number, folder: workspace.cache().join("hosts").join(format!("lab-{number}")) }
    }

    /// Whether it was made to stay, and stands.
    pub(super) fn is_finished(&self) -> bool {
        self.record().is_file()
    }

    /// Records that it was made to stay.
    pub(super) fn finish(&self, told: &str) -> Result<()> {
        Ok(fs::write(self.record(), told)?)
    }

    /// A lock that whoever makes it or reaps it holds until it is dropped; none when somebody else has it for
    /// longer than `patience`.
    ///
    /// # Errors
    /// When its file cannot be written.
    pub(super) fn lock(&self, patience: Duration) -> Result<Option<std::fs::File>> {
        let file = fs::File::create(self.folder.with_extension("lock"))?.into_parts().0;
        let until = Instant::now() + patience;
        while file.try_lock().is_err() {
            if Instant::now() >= until {
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(100));
        }
        Ok(Some(file))
    }

    /// How the hosts are reached.
    pub(super) fn record(&self) -> PathBuf {
        self.folder.join("hosts.json")
    }

    /// Name of the bridge between the hosts, short enough for an interface.
    pub(super) fn bridge(&self) -> String {
        format!("trellis{}", self.number)
    }

    /// This machine in the network of the hosts.
    pub(super) fn gateway(&self) -> String {
        format!("10.213.{}.1", self.number)
    }

    /// What cgroups of its hosts begin with.
    pub(super) fn cgroup_prefix(&self) -> String {
        format!("trellis-lab{}-", self.number)
    }

    /// Name of a host, from 1: `h1`.
    pub(super) fn host(host: u8) -> String {
        format!("h{host}")
    }

    /// Name of its container, which also names its interface on this machine.
    pub(super) fn machine(&self, host: u8) -> String {
        format!("t{}h{host}", self.number)
    }

    pub(super) fn address(&self, host: u8) -> String {
        format!("10.213.{}.{}", self.number, u16::from(host) + 10)
    }

    /// The folder of one host.
    pub(super) fn host_folder(&self, host: u8) -> PathBuf {
        self.folder.join(Self::host(host))
    }

    /// The key that opens all hosts.
    pub(super) fn key(&self) -> PathBuf {
        self.folder.join("key")
    }

    pub(super) fn known_hosts(&self) -> PathBuf {
        self.folder.join("known_hosts")
    }

    /// How the hosts are reached, as JSON.
    pub(super) fn describe(&self, hosts: u8) -> Result<String> {
        let host = |host| json!({"name": Self::host(host), "address": self.address(host), "root": self.host_folder(host).join("root")});
        let told = json!({
            "lab": self.number,
            "user": "root",
            "key": self.key(),
            "knownHosts": self.known_hosts(),
            "hosts": (1..=hosts).map(host).collect::<Vec<_>>(),
        });
        Ok(serde_json::to_string_pretty(&told)?)
    }
}
