//! A server with exec, attach, port-forward and log, put together from upstream's Go packages.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use pki::KubeconfigUser;

use super::{
    Http, Process, Spawn, Unavailable,
    core::{save, write_kubeconfig},
    free_port, program,
};
use crate::{Serving, Target, TempPki};

/// The running server: two pods, `shell` (which answers) and `forbidden` (which nobody enters).
pub struct UpgradeServer {
    process: Process,
    address: SocketAddr,
}

impl UpgradeServer {
    /// Starts it; it takes only what the front proxy of `pki` vouches for.
    ///
    /// # Errors
    /// When it is not there.
    pub fn start(pki: &TempPki) -> Result<Self, Unavailable> {
        let program = program("upgrade-server")?;
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), free_port());
        let (cert, key) = save(pki, "upgrade-server", &pki.serving(Serving::Good));
        let front_proxy_ca = pki.file("front-proxy-ca.crt", pki.front_proxy_ca.certificate_pem());
        let process = Spawn::new("upgrade-server", &program, pki.dir())
            .arguments([
                format!("--listen={address}"),
                format!("--tls-cert-file={}", cert.display()),
                format!("--tls-private-key-file={}", key.display()),
                format!("--requestheader-client-ca-file={}", front_proxy_ca.display()),
            ])
            .start();
        let mut server = Self { process, address };
        let (http, target) = (Http::new(), Target::tls(address, pki.server_ca.certificate_pem()));
        // Without a front proxy's certificate it answers 401: it is there.
        server.process.wait_until("an answer", || http.get(&target, "/readyz").is_ok());
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// A kubeconfig for it, with a front proxy's certificate: the only ones that it takes.
    pub fn kubeconfig(&self, pki: &TempPki) -> PathBuf {
        let front_proxy = pki.front_proxy("front-proxy-client");
        write_kubeconfig(pki, self.address, "front-proxy-client", KubeconfigUser::Certificate(front_proxy))
    }
}
