//! The door's program, with a state folder that outlives it.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use base64::Engine as _;
use pki::Leaf;
use serde_json::{Value, json};
use testkit::{
    Client, FakeServer, Reply, Target, TempPki,
    real::{Process, Spawn},
};

pub(crate) const COLLECTION: &str = "/apis/federation.trellis.dev/v1alpha1/apiservers";

/// Longest that a test waits for what has to come, on a machine with other things to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// A running door, whose certificates come from a test's PKI.
pub(crate) struct Door {
    process: Process,
    address: SocketAddr,
    pki: Arc<TempPki>,
}

/// A door that has not started: what it is started with.
#[derive(Clone)]
pub(crate) struct Starting {
    pub(crate) pki: Arc<TempPki>,
    pub(crate) state: PathBuf,
    pub(crate) arguments: Vec<String>,
}

impl Starting {
    /// A door with a serving certificate, users, and a front-proxy pair of `pki`.
    pub(crate) fn new(pki: &Arc<TempPki>, state: &Path) -> Self {
        let save = |name: &str, pair: &pki::CertifiedKey| {
            (
                pki.file(&format!("{name}.crt"), pair.chain_pem()),
                pki.file(&format!("{name}.key"), pair.key_pem()),
            )
        };
        let serving = Leaf::server("door").dns("localhost").ip("127.0.0.1".parse().unwrap());
        let (cert, key) = save("door", &pki.server_ca.issue(&serving).unwrap());
        let (proxy_cert, proxy_key) = save("front-proxy", &pki.front_proxy("front-proxy-client"));
        let clients = pki.file("clients.crt", pki.client_ca.certificate_pem());
        let arguments = [
            ("tls-cert", cert),
            ("tls-key", key),
            ("client-ca", clients),
            ("proxy-client-cert", proxy_cert),
            ("proxy-client-key", proxy_key),
        ];
        let arguments = arguments.map(|(name, path)| format!("--{name}={}", path.display())).into();
        Self { pki: pki.clone(), state: state.to_owned(), arguments }
    }

    /// A door that makes its certificates itself.
    pub(crate) fn self_made(pki: &Arc<TempPki>, state: &Path) -> Self {
        Self { pki: pki.clone(), state: state.to_owned(), arguments: Vec::new() }
    }

    /// With another option.
    pub(crate) fn with(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.arguments.push(format!("--{name}={value}"));
        self
    }

    /// The program, started; whether it gets ready is another matter. With its log.
    pub(crate) fn spawn(&self) -> (Process, PathBuf) {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let name = format!("trellis-{}", STARTED.fetch_add(1, Ordering::Relaxed));
        let process = Spawn::new(&name, &binary(), self.pki.dir())
            .arguments(["serve", "--listen=127.0.0.1:0"])
            .arguments([format!("--state={}", self.state.display())])
            .arguments(&self.arguments)
            .start();
        (process, self.pki.dir().join(format!("{name}.log")))
    }

    /// A door that is ready.
    pub(crate) async fn start(&self) -> Door {
        let (mut process, log) = self.spawn();
        let waiting = tokio::task::spawn_blocking(move || {
            let mut address = None;
            process.wait_until("it was ready", || {
                address = listening(&fs_err::read_to_string(&log).unwrap_or_default());
                address.is_some()
            });
            (process, address)
        });
        let (process, address) = waiting.await.unwrap();
        Door { process, address: address.unwrap(), pki: self.pki.clone() }
    }
}

/// The address in the line that says that the door is ready.
fn listening(log: &str) -> Option<SocketAddr> {
    let line = log.lines().find_map(|line| line.strip_prefix("ready: https://"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// `trellis`, as built beside the tests, or as `TRELLIS_BIN` says.
pub(crate) fn binary() -> PathBuf {
    let beside = || std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("trellis");
    let binary = std::env::var_os("TRELLIS_BIN").map_or_else(beside, PathBuf::from);
    assert!(binary.is_file(), "{} is not there: cargo build -p trellis makes it", binary.display());
    binary
}

impl Door {
    pub(crate) fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Everything that it logged so far.
    pub(crate) fn log(&self) -> String {
        self.process.log()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A connection as nobody.
    pub(crate) fn anonymous(&self) -> Target {
        Target::tls(self.address, self.pki.server_ca.certificate_pem())
    }

    /// A connection as this user.
    pub(crate) fn user(&self, name: &str, groups: &[&str]) -> Target {
        self.anonymous().identity(self.pki.user(name, groups))
    }

    /// One who may do everything.
    pub(crate) async fn admin(&self) -> Client {
        Client::http2(&self.user("root", &["system:masters"])).await.expect("a connection to the door")
    }

    /// Somebody who may do nothing in particular.
    pub(crate) async fn alice(&self) -> Client {
        Client::http2(&self.user("alice", &["dev"])).await.expect("a connection to the door")
    }

    /// Registers a server and gives the answer.
    pub(crate) async fn register(&self, name: &str, spec: &Value) -> Reply {
        register(&mut self.admin().await, name, spec).await
    }

    /// Registers a test server with TLS and wants success.
    pub(crate) async fn register_server(&self, name: &str, server: &FakeServer) {
        let reply = self.register(name, &self.spec_of(server)).await;
        assert_eq!(reply.status, 201, "{name}: {}", reply.text());
    }

    /// What a registration of this server says.
    pub(crate) fn spec_of(&self, server: &FakeServer) -> Value {
        let ca = base64::engine::general_purpose::STANDARD.encode(self.pki.server_ca.certificate_pem());
        json!({ "url": server.url(), "caBundle": ca })
    }

    /// The conditions of a registration.
    pub(crate) async fn conditions(&self, name: &str) -> Vec<Value> {
        let reply = self.admin().await.get(&format!("{COLLECTION}/{name}"), &[]).await;
        assert_eq!(reply.status, 200, "{name}: {}", reply.text());
        reply.json()["status"]["conditions"].as_array().cloned().unwrap_or_default()
    }

    /// Waits until a condition has this status and reason; gives its message.
    pub(crate) async fn condition(&self, name: &str, kind: &str, status: &str, reason: &str) -> String {
        let started = Instant::now();
        loop {
            let conditions = self.conditions(name).await;
            let found = conditions.iter().find(|condition| condition["type"] == kind);
            if let Some(found) = found.filter(|c| c["status"] == status && c["reason"] == reason) {
                return found["message"].as_str().unwrap_or_default().to_owned();
            }
            assert!(started.elapsed() < PATIENCE, "{name}: {kind} is not {status} {reason}: {conditions:#?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// The most memory that it ever had, in MiB.
    pub(crate) fn high_water(&self) -> u64 {
        let status = fs_err::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM");
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
    }
}

/// Registers a server over this connection.
pub(crate) async fn register(client: &mut Client, name: &str, spec: &Value) -> Reply {
    let object = json!({
        "apiVersion": "federation.trellis.dev/v1alpha1", "kind": "APIServer",
        "metadata": { "name": name }, "spec": spec,
    });
    client.request("POST", COLLECTION, &[("content-type", "application/json")], object.to_string()).await
}

/// Asks until the answer has this status.
pub(crate) async fn get_until(client: &mut Client, path: &str, status: u16) -> Reply {
    let started = Instant::now();
    loop {
        let reply = client.get(path, &[]).await;
        if reply.status == status {
            return reply;
        }
        assert!(started.elapsed() < PATIENCE, "{path}: {} {}", reply.status, reply.text());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
