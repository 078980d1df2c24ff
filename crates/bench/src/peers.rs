//! The processes that are compared, and the folder that they share.

mod aggregator;
mod door;
mod nginx;

use std::{
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU16, Ordering},
};

use anyhow::{Context, Result};
use pki::{Authority, CertifiedKey, Leaf};

pub use aggregator::Aggregator;
pub use door::Door;
pub use nginx::{Buffering, Nginx};

use crate::{client::Target, process::Process};

/// Certificates, logs and state of one run; removed at its end.
pub struct Lab {
    dir: tempfile::TempDir,
    ca: Authority,
    admin: CertifiedKey,
}

impl Lab {
    /// A new folder with one authority that signs everything.
    pub fn new() -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let validity = std::time::Duration::from_secs(86_400);
        let ca = Authority::make("bench-ca", validity)?;
        ca.save(&dir.path().join("ca.crt"), &dir.path().join("ca.key"))?;
        let serving = Leaf::server("bench").name("127.0.0.1").name("bench.example.com");
        ca.issue(&serving)?.save(&dir.path().join("server.crt"), &dir.path().join("server.key"))?;
        let admin = ca.issue(&Leaf::client("admin").organization("system:masters"))?;
        Ok(Self { dir, ca, admin })
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The authority's certificate, PEM.
    pub fn ca_pem(&self) -> &[u8] {
        self.ca.certificate_pem()
    }

    /// The administrator's view of a peer.
    pub fn admin(&self, address: SocketAddr) -> Result<Target> {
        Target::new(address, self.ca_pem(), Some(&self.admin))
    }

    /// Starts a process of backends; see [`crate::backend::Args`].
    pub fn backend(&self, name: &str, listen: SocketAddr, extra: &[&str]) -> Result<Process> {
        let mut command = Command::new(std::env::current_exe().context("find this program")?);
        self.backend_command(&mut command, listen, extra);
        Process::start(name, &mut command, &self.path(&format!("{name}.log")))
    }

    /// Adds the arguments of a process of backends.
    fn backend_command(&self, command: &mut Command, listen: SocketAddr, extra: &[&str]) {
        command.args(["backend", "--listen", &listen.to_string()]);
        command.arg("--cert").arg(self.path("server.crt")).arg("--key").arg(self.path("server.key"));
        command.args(extra);
    }
}

/// `count` consecutive ports of the loopback that nobody listens on, the first one returned. None is given
/// out twice: whoever has been given one may not listen yet.
pub fn free_ports(count: u16) -> Result<SocketAddr> {
    static GIVEN: AtomicU16 = AtomicU16::new(0);
    // Below the range from which the system chooses; runs beside each other begin at different places.
    let place = u16::try_from(std::process::id() % 50)? * 200;
    loop {
        let offset = GIVEN.fetch_add(count, Ordering::Relaxed);
        anyhow::ensure!(offset < 10_000, "no {count} free ports in a row");
        let first = 20_000 + (place + offset) % 10_000;
        let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if (first..first + count).all(is_free) {
            return Ok(SocketAddr::from(([127, 0, 0, 1], first)));
        }
    }
}
