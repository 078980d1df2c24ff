//! nginx from the distribution, with the committed configuration.

use std::{net::SocketAddr, process::Command, time::Duration};

use anyhow::Result;
use fs_err as fs;

use super::{Lab, free_ports};
use crate::{client::Target, process::Process};

const CONFIGURATION: &str = include_str!("../../../../bench/nginx.conf");

/// Whether nginx collects an answer before it passes it on.
#[derive(Clone, Copy)]
pub enum Buffering {
    /// nginx's default, the cheaper one for large answers.
    On,
    /// As watches need it.
    Off,
}

/// A running nginx.
pub struct Nginx {
    /// What to measure.
    pub process: Process,
    /// Where it listens.
    pub target: Target,
}

impl Nginx {
    /// Starts it in front of `backend` and waits until `path` answers.
    pub async fn start(lab: &Lab, backend: SocketAddr, buffering: Buffering, path: &str) -> Result<Self> {
        let address = free_ports(1)?;
        let dir = lab.path(&format!("nginx-{}", address.port()));
        // A port that was free again is given out a second time.
        fs::create_dir_all(&dir)?;
        let buffering = if matches!(buffering, Buffering::On) { "on" } else { "off" };
        let text = CONFIGURATION
            .replace("{dir}", &dir.to_string_lossy())
            .replace("{listen}", &address.to_string())
            .replace("{backend}", &backend.to_string())
            .replace("{buffering}", buffering)
            .replace("{cert}", &lab.path("server.crt").to_string_lossy())
            .replace("{key}", &lab.path("server.key").to_string_lossy())
            .replace("{ca}", &lab.path("ca.crt").to_string_lossy());
        fs::write(dir.join("nginx.conf"), text)?;
        let mut command = Command::new("nginx");
        command.arg("-c").arg(dir.join("nginx.conf")).arg("-p").arg(&dir);
        let process = Process::start("nginx", &mut command, &dir.join("log"))?;
        let target = lab.admin(address)?;
        target.wait(path, Duration::from_secs(10)).await?;
        Ok(Self { process, target })
    }
}
