//! The door itself, as its own program.

use std::{
    env,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use pki::{KubeconfigUser, Leaf};
use tempfile::TempDir;

use super::{
    Core, Http, Process, Program, Spawn, Unavailable,
    core::{save, write_kubeconfig},
    free_port,
};
use crate::{Target, TempPki};

/// The door to be: `trellis serve` with these arguments.
pub struct DoorBuilder<'a> {
    pki: &'a TempPki,
    arguments: Vec<String>,
}

/// A running door. It serves with a certificate of `pki`'s server CA and takes users of its client CA.
pub struct Door {
    process: Process,
    address: SocketAddr,
    ca: Vec<u8>,
    state: TempDir,
}

impl<'a> DoorBuilder<'a> {
    /// A door whose certificates come from `pki`.
    pub fn new(pki: &'a TempPki) -> Self {
        Self { pki, arguments: Vec::new() }
    }

    /// With this core, whose front proxy it is.
    #[must_use]
    pub fn core(self, core: &Core) -> Self {
        let (cert, key) = core.front_proxy();
        self.argument("--core", core.kubeconfig().display())
            .argument("--proxy-client-cert", cert.display())
            .argument("--proxy-client-key", key.display())
    }

    /// With this core, towards which it impersonates.
    #[must_use]
    pub fn core_impersonating(self, core: &Core) -> Self {
        self.argument("--core", core.kubeconfig().display())
    }

    /// As the front proxy of `pki`, for servers without a core.
    #[must_use]
    pub fn front_proxy(self) -> Self {
        let (cert, key) = save(self.pki, "door-front-proxy", &self.pki.front_proxy("front-proxy-client"));
        self.argument("--proxy-client-cert", cert.display()).argument("--proxy-client-key", key.display())
    }

    /// Any further option.
    #[must_use]
    pub fn argument(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.arguments.push(format!("{name}={value}"));
        self
    }

    /// Starts it and waits until it is ready.
    ///
    /// # Errors
    /// When the program has not been built.
    ///
    /// # Panics
    /// When it does not become ready.
    pub fn start(self) -> Result<Door, Unavailable> {
        let program = binary()?;
        let state = TempDir::new().expect("a temporary folder");
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), free_port());
        let serving = Leaf::server("door").dns("localhost").ip(address.ip());
        let (cert, key) = save(self.pki, "door", &self.pki.server_ca.issue(&serving).expect("a certificate"));
        let client_ca = self.pki.file("door-client-ca.crt", self.pki.client_ca.certificate_pem());
        let process = Spawn::new("trellis", &program, self.pki.dir())
            .arguments(["serve".to_owned(), format!("--listen={address}")])
            .arguments([
                format!("--state={}", state.path().display()),
                format!("--tls-cert={}", cert.display()),
                format!("--tls-key={}", key.display()),
                format!("--client-ca={}", client_ca.display()),
            ])
            .arguments(&self.arguments)
            .start();
        let mut door = Door { process, address, ca: self.pki.server_ca.certificate_pem().to_vec(), state };
        let (http, anonymous) = (Http::new(), door.anonymous());
        door.process.wait_until("/readyz", || http.is_ok(&anonymous, "/readyz"));
        Ok(door)
    }
}

impl Door {
    /// Waits until the door has all that it shows of the sample server: discovery, then OpenAPI.
    ///
    /// # Panics
    /// When that takes too long.
    pub fn wait_for_sample(&mut self, pki: &TempPki) {
        let admin = self.user(pki, "admin", &["system:masters"]);
        let http = Http::new();
        let version = "apis/wardle.example.com/v1alpha1";
        let (index, document) = ("/openapi/v3", format!("/openapi/v3/{version}"));
        for (path, text) in [(&*format!("/{version}"), "flunders"), (index, version), (&document, "flunders")]
        {
            self.process.wait_until(path, || {
                http.get(&admin, path).is_ok_and(|reply| reply.status == 200 && reply.text().contains(text))
            });
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its state folder.
    pub fn state(&self) -> &Path {
        self.state.path()
    }

    /// A connection as nobody.
    pub fn anonymous(&self) -> Target {
        Target::tls(self.address, &self.ca)
    }

    /// A connection as this user of `pki`.
    pub fn user(&self, pki: &TempPki, name: &str, groups: &[&str]) -> Target {
        self.anonymous().identity(pki.user(name, groups))
    }

    /// A kubeconfig of this user of `pki`.
    pub fn kubeconfig_of(&self, pki: &TempPki, name: &str, groups: &[&str]) -> PathBuf {
        write_kubeconfig(pki, self.address, name, KubeconfigUser::Certificate(pki.user(name, groups)))
    }

    /// The administrator's kubeconfig, which the door wrote itself.
    pub fn admin_kubeconfig(&self) -> PathBuf {
        self.state.path().join("admin.kubeconfig")
    }

    /// The command line of the product, pointed at this door.
    ///
    /// # Errors
    /// When the program has not been built.
    pub fn trellis(&self, kubeconfig: &Path) -> Result<Program, Unavailable> {
        Ok(Program::new(binary()?, kubeconfig))
    }

    /// Its process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }
}

/// `trellis`, as built beside the tests, or as `TRELLIS_BIN` says.
fn binary() -> Result<PathBuf, Unavailable> {
    if let Some(binary) = env::var_os("TRELLIS_BIN") {
        return Ok(binary.into());
    }
    let test = env::current_exe().expect("the path of this test");
    let profile = test.ancestors().nth(2).unwrap_or(Path::new("/"));
    let binary = profile.join("trellis");
    let missing =
        || Unavailable(format!("{} is not there: cargo build -p trellis makes it", binary.display()));
    if binary.is_file() { Ok(binary.clone()) } else { Err(missing()) }
}
