//! kube-apiserver on etcd: a core with RBAC, its own PKI and its aggregator.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use pki::{CertifiedKey, Kubeconfig, KubeconfigUser, Leaf};

use super::{Http, Process, Spawn, Unavailable, free_port, program, program_version};
use crate::{Target, TempPki};

/// Common name of the core's own front proxy.
const FRONT_PROXY: &str = "front-proxy-client";

/// A running core. Its files, PKI included, are gone with it.
pub struct Core {
    // Dropped in this order: the server before its store.
    apiserver: Process,
    etcd: Process,
    pki: TempPki,
    address: SocketAddr,
    etcd_url: String,
}

impl Core {
    /// Starts the version that tests take when they name none, on `host`.
    ///
    /// # Errors
    /// When etcd or kube-apiserver is not there.
    pub fn start(host: IpAddr) -> Result<Self, Unavailable> {
        Self::start_program(&program("kube-apiserver")?, host)
    }

    /// Starts another version.
    ///
    /// # Errors
    /// When etcd or this version of kube-apiserver is not there.
    pub fn start_version(version: &str, host: IpAddr) -> Result<Self, Unavailable> {
        Self::start_program(&program_version("kube-apiserver", version)?, host)
    }

    fn start_program(apiserver: &Path, host: IpAddr) -> Result<Self, Unavailable> {
        let etcd = program("etcd")?;
        let pki = TempPki::new();
        let (etcd, etcd_url) = start_etcd(&etcd, pki.dir(), host);
        let address = SocketAddr::new(host, free_port());
        let process = Spawn::new("kube-apiserver", apiserver, pki.dir())
            .arguments(flags(&pki, address, &etcd_url))
            .start();
        let mut core = Self { apiserver: process, etcd, pki, address, etcd_url };
        let (http, target) = (Http::new(), core.admin());
        core.apiserver.wait_until("/readyz", || http.is_ok(&target, "/readyz"));
        Ok(core)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its certificates.
    pub fn pki(&self) -> &TempPki {
        &self.pki
    }

    /// Its store, for servers that bring their own prefix.
    pub fn etcd_url(&self) -> &str {
        &self.etcd_url
    }

    /// A connection as a member of `system:masters`.
    pub fn admin(&self) -> Target {
        self.user("admin", &["system:masters"])
    }

    /// A connection as this user.
    pub fn user(&self, name: &str, groups: &[&str]) -> Target {
        self.anonymous().identity(self.pki.user(name, groups))
    }

    /// A connection as nobody.
    pub fn anonymous(&self) -> Target {
        Target::tls(self.address, self.pki.server_ca.certificate_pem())
    }

    /// A kubeconfig of a member of `system:masters`.
    pub fn kubeconfig(&self) -> PathBuf {
        self.kubeconfig_of("admin", &["system:masters"])
    }

    /// A kubeconfig of this user.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn kubeconfig_of(&self, name: &str, groups: &[&str]) -> PathBuf {
        write_kubeconfig(
            &self.pki,
            self.address,
            name,
            KubeconfigUser::Certificate(self.pki.user(name, groups)),
        )
    }

    /// A kubeconfig with a bearer token.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn kubeconfig_with_token(&self, name: &str, token: &str) -> PathBuf {
        write_kubeconfig(&self.pki, self.address, name, KubeconfigUser::Token(token.to_owned()))
    }

    /// Certificate and key of the core's own front proxy, which the servers behind it trust.
    pub fn front_proxy(&self) -> (PathBuf, PathBuf) {
        (self.pki.dir().join("front-proxy.crt"), self.pki.dir().join("front-proxy.key"))
    }

    /// The API server's process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.apiserver
    }

    /// The store's process.
    pub fn etcd(&mut self) -> &mut Process {
        &mut self.etcd
    }
}

/// etcd in clear text on `host`.
pub(super) fn start_etcd(program: &Path, dir: &Path, host: IpAddr) -> (Process, String) {
    let (client, peer) = (free_port(), free_port());
    let url = format!("http://{host}:{client}");
    let data = dir.join("etcd");
    let mut process = Spawn::new("etcd", program, dir)
        .arguments(["--data-dir".as_ref(), data.as_os_str()])
        .arguments(["--listen-client-urls", &url, "--advertise-client-urls", &url])
        .arguments(["--listen-peer-urls", &format!("http://127.0.0.1:{peer}")])
        // A test's data may be lost.
        .arguments(["--unsafe-no-fsync", "--log-level=warn"])
        .start();
    let (http, target) = (Http::new(), Target::clear(SocketAddr::new(host, client)));
    process.wait_until("/health", || http.is_ok(&target, "/health"));
    (process, url)
}

/// Writes a kubeconfig into the PKI's folder.
pub(super) fn write_kubeconfig(
    pki: &TempPki,
    address: SocketAddr,
    name: &str,
    user: KubeconfigUser,
) -> PathBuf {
    let file = name.replace([':', '/'], "-");
    let path = pki.dir().join(format!("{file}-{}.kubeconfig", address.port()));
    let kubeconfig = Kubeconfig {
        server: format!("https://{address}"),
        ca_pem: pki.server_ca.certificate_pem().to_vec(),
        user,
        context: "test".to_owned(),
    };
    kubeconfig.write(&path).expect("a kubeconfig");
    path
}

/// Saves a pair as `NAME.crt` and `NAME.key`.
pub(super) fn save(pki: &TempPki, name: &str, pair: &CertifiedKey) -> (PathBuf, PathBuf) {
    let (chain, key) = (pki.dir().join(format!("{name}.crt")), pki.dir().join(format!("{name}.key")));
    pair.save(&chain, &key).expect("a certificate and its key");
    (chain, key)
}

fn flags(pki: &TempPki, address: SocketAddr, etcd_url: &str) -> Vec<String> {
    let host = address.ip();
    let serving = Leaf::server("kube-apiserver")
        .dns("localhost")
        .dns("kubernetes.default.svc")
        .ip(host)
        .ip(IpAddr::V4(Ipv4Addr::LOCALHOST))
        .valid_for(Duration::from_secs(24 * 3600));
    let (cert, key) = save(pki, "kube-apiserver", &pki.server_ca.issue(&serving).expect("a certificate"));
    let (proxy_cert, proxy_key) = save(pki, "front-proxy", &pki.front_proxy(FRONT_PROXY));
    // Any P-256 pair signs service account tokens; the public half is read out of the certificate.
    let (account_cert, account_key) = save(pki, "service-accounts", &pki.front_proxy("service-accounts"));
    let client_ca = pki.file("client-ca.crt", pki.client_ca.certificate_pem());
    let front_proxy_ca = pki.file("front-proxy-ca.crt", pki.front_proxy_ca.certificate_pem());
    let pairs = [
        ("etcd-servers", etcd_url.to_owned()),
        ("bind-address", host.to_string()),
        ("advertise-address", host.to_string()),
        ("secure-port", address.port().to_string()),
        ("tls-cert-file", path(&cert)),
        ("tls-private-key-file", path(&key)),
        ("client-ca-file", path(&client_ca)),
        ("authorization-mode", "RBAC".to_owned()),
        ("service-account-issuer", "https://kubernetes.default.svc".to_owned()),
        ("service-account-key-file", path(&account_cert)),
        ("service-account-signing-key-file", path(&account_key)),
        ("service-cluster-ip-range", "10.214.0.0/16".to_owned()),
        ("requestheader-client-ca-file", path(&front_proxy_ca)),
        ("requestheader-allowed-names", FRONT_PROXY.to_owned()),
        ("requestheader-username-headers", "X-Remote-User".to_owned()),
        ("requestheader-uid-headers", "X-Remote-Uid".to_owned()),
        ("requestheader-group-headers", "X-Remote-Group".to_owned()),
        ("requestheader-extra-headers-prefix", "X-Remote-Extra-".to_owned()),
        ("proxy-client-cert-file", path(&proxy_cert)),
        ("proxy-client-key-file", path(&proxy_key)),
        // To the endpoints themselves: nothing here carries a cluster IP.
        ("enable-aggregator-routing", "true".to_owned()),
        // Nobody lists the API servers of this cluster; the loopback would be refused.
        ("endpoint-reconciler-type", "none".to_owned()),
        ("watch-cache", "true".to_owned()),
    ];
    pairs.into_iter().map(|(name, value)| format!("--{name}={value}")).collect()
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
