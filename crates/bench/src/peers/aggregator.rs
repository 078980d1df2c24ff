//! kube-apiserver's own aggregation layer, on etcd, with the backend as a pod in a network namespace.

use std::{net::SocketAddr, process::Command, time::Duration};

use anyhow::{Context, Result, anyhow};
use testkit::real::{Core, Network, Program, Unavailable, endpoint_slice};

use super::Lab;
use crate::{
    client::Target,
    process::{Process, Usage, usage},
};

const PORT: u16 = 8443;

/// A running kube-apiserver that passes the benchmark's group on.
pub struct Aggregator {
    _backend: Process,
    core: Core,
    apiserver: u32,
    _network: Network,
    /// Where it listens.
    pub target: Target,
}

impl Aggregator {
    /// Starts it and waits until `path` answers; a reason when this machine cannot.
    pub async fn start(lab: &Lab, path: &str) -> Result<Self> {
        let network = Network::create().map_err(unavailable)?;
        let pod = SocketAddr::new(network.pod(0), PORT);
        let backend = start_backend(lab, &network, pod)?;
        let host = network.host();
        let core = tokio::task::spawn_blocking(move || register(host, pod)).await??;
        let mut core = core;
        let apiserver = core.process().id();
        let admin = core.pki().user("admin", &["system:masters"]);
        let target = Target::new(core.address(), core.pki().server_ca.certificate_pem(), Some(&admin))?;
        target.wait(path, Duration::from_secs(60)).await?;
        Ok(Self { _backend: backend, core, apiserver, _network: network, target })
    }

    /// What kube-apiserver has used; its store not counted.
    pub fn usage(&self) -> Result<Usage> {
        usage(self.apiserver).with_context(|| format!("kube-apiserver at {}", self.core.address()))
    }
}

fn start_backend(lab: &Lab, network: &Network, pod: SocketAddr) -> Result<Process> {
    let [ip, words @ ..] = network.enter();
    let mut command = Command::new(ip);
    command.args(words).arg(std::env::current_exe().context("find this program")?);
    lab.backend_command(&mut command, pod, &[]);
    Process::start("pod", &mut command, &lab.path("pod.log"))
}

fn register(host: std::net::IpAddr, pod: SocketAddr) -> Result<Core> {
    let core = Core::start(host).map_err(unavailable)?;
    let kubectl = Program::kubectl(&core.kubeconfig()).map_err(unavailable)?;
    kubectl.apply(
        r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"bench","namespace":"default"},"spec":{"ports":[{"port":443,"targetPort":8443}]}}"#,
    );
    kubectl.apply(&endpoint_slice("bench", "default", "", &[pod]));
    kubectl.apply(
        r#"{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.g0.bench.example.com"},"spec":{"insecureSkipTLSVerify":true,"group":"g0.bench.example.com","version":"v1","groupPriorityMinimum":1000,"versionPriority":15,"service":{"name":"bench","namespace":"default"}}}"#,
    );
    Ok(core)
}

fn unavailable(reason: Unavailable) -> anyhow::Error {
    anyhow!("{reason}")
}
