//! The door: `trellis serve` without a core.

use std::{
    net::SocketAddr,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use base64::Engine;
use fs_err as fs;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::json;

use super::{Lab, free_ports};
use crate::{
    client::{Connection, Http, Target},
    process::Process,
};

const REGISTRATIONS: &str = "/apis/federation.trellis.dev/v1alpha1/apiservers";

/// A running door.
pub struct Door {
    /// What to measure.
    pub process: Process,
    /// Where it listens.
    pub target: Target,
    /// From start to the first 200 of `/readyz`.
    pub ready_after: Duration,
}

impl Door {
    /// Starts it on the state folder `state` of the lab and waits until it is ready.
    pub async fn start(lab: &Lab, binary: &Path, state: &str) -> Result<Self> {
        let address = free_ports(1)?;
        let state = lab.path(state);
        fs::create_dir_all(&state)?;
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", &address.to_string(), "--state"]).arg(&state);
        command.arg("--client-ca").arg(lab.path("ca.crt"));
        command.arg("--tls-cert").arg(lab.path("server.crt")).arg("--tls-key").arg(lab.path("server.key"));
        let start = Instant::now();
        let process = Process::start("trellis", &mut command, &state.join("log"))?;
        let target = lab.admin(address)?;
        if let Err(error) = target.wait("/readyz", Duration::from_secs(20)).await {
            bail!("{error:#}: {}", fs::read_to_string(state.join("log")).unwrap_or_default());
        }
        Ok(Self { process, target, ready_after: start.elapsed() })
    }

    /// Registers a server.
    pub async fn register(&self, lab: &Lab, name: &str, endpoints: &[SocketAddr]) -> Result<()> {
        let mut connection = self.target.connect(Http::Two).await?;
        self.register_over(&mut connection, lab, name, endpoints).await
    }

    /// Registers a server over a connection that stands, as a client does that registers many.
    pub async fn register_over(
        &self,
        connection: &mut Connection,
        lab: &Lab,
        name: &str,
        endpoints: &[SocketAddr],
    ) -> Result<()> {
        let addresses: Vec<_> = endpoints.iter().map(|address| format!("https://{address}")).collect();
        let ca = base64::engine::general_purpose::STANDARD.encode(lab.ca_pem());
        let mut spec = json!({"caBundle": ca});
        if let [only] = addresses.as_slice() {
            spec["url"] = json!(only);
        } else {
            spec["endpoints"] = json!(addresses);
        }
        let object = json!({
            "apiVersion": "federation.trellis.dev/v1alpha1",
            "kind": "APIServer",
            "metadata": {"name": name},
            "spec": spec,
        });
        let response = connection.send(Method::POST, REGISTRATIONS, Some(object.to_string())).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        if status != StatusCode::CREATED {
            bail!("register {name}: {status} {}", String::from_utf8_lossy(&body));
        }
        Ok(())
    }
}
