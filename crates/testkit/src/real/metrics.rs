//! metrics-server, with its own manifests.

use std::net::SocketAddr;

use super::{
    Core, Http, Network, Process, Program, Spawn, Unavailable, companion, federated::endpoint_slice, program,
};
use crate::Target;

/// Where its Service leads.
const PORT: u16 = 10250;

/// A running metrics-server; there are no nodes, so it has no figures, but it serves its group.
pub struct MetricsServer {
    process: Process,
    address: SocketAddr,
}

impl MetricsServer {
    /// Applies its manifests to the core, unchanged, and starts it as pod `pod` of `network` with the
    /// arguments that its Deployment has.
    ///
    /// # Errors
    /// When a program is not there.
    pub fn behind(core: &Core, network: &Network, pod: u8) -> Result<Self, Unavailable> {
        let program = program("metrics-server")?;
        let kubectl = Program::kubectl(&core.kubeconfig())?;
        let manifests = companion("metrics-server", "manifests/base")?;
        kubectl.ok(&["apply", "-k", &manifests.to_string_lossy()]);
        let address = SocketAddr::new(network.pod(pod), PORT);
        kubectl.apply(&endpoint_slice("metrics-server", "kube-system", "https", &[address]));
        let token = kubectl.ok(&["create", "token", "metrics-server", "--namespace=kube-system"]);
        let kubeconfig = core.kubeconfig_with_token("metrics-server", token.trim());
        let dir = core.pki().dir();
        let process = Spawn::wrapped("metrics-server", &network.enter(), &program, dir)
            .arguments(
                ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"]
                    .map(|flag| format!("--{flag}={}", kubeconfig.display())),
            )
            .arguments([
                format!("--cert-dir={}", dir.join("metrics-server").display()),
                format!("--bind-address={}", address.ip()),
                format!("--secure-port={PORT}"),
                "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname".to_owned(),
                "--kubelet-use-node-status-port".to_owned(),
                "--metric-resolution=15s".to_owned(),
            ])
            .start();
        let mut server = Self { process, address };
        server.wait_live(core);
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// It makes its own certificate, which nobody can check: any TLS answer will do.
    fn wait_live(&mut self, core: &Core) {
        let (http, target) = (Http::new(), Target::tls(self.address, core.pki().server_ca.certificate_pem()));
        self.process.wait_until("a TLS answer", || {
            // Refused until it listens; then its certificate is one of an unknown authority.
            http.get(&target, "/livez")
                .err()
                .is_some_and(|error| error.to_lowercase().contains("certificate"))
        });
    }
}
