//! sample-apiserver, upstream's example of a federated API server.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::{Duration, Instant},
};

use pki::{KubeconfigUser, Leaf};

use super::{
    Core, Http, Network, Process, Program, Spawn, Unavailable, companion,
    core::{save, start_etcd, write_kubeconfig},
    free_port, program,
};
use crate::{Target, TempPki};

/// The group that it serves.
pub const WARDLE_GROUP: &str = "wardle.example.com";

/// Admission that needs a core to ask.
const CORE_ADMISSION: &str = "NamespaceLifecycle,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,\
                              MutatingAdmissionPolicy,ValidatingAdmissionPolicy";

/// A running sample-apiserver.
pub struct SampleServer {
    process: Process,
    etcd: Option<Process>,
    address: SocketAddr,
}

impl SampleServer {
    /// Starts it behind a core, with the roles of its own manifests: it asks the core who may do what.
    /// It runs as pod `pod` of `network`, and nothing registers it yet.
    ///
    /// # Errors
    /// When a program is not there.
    pub fn behind(core: &Core, network: &Network, pod: u8) -> Result<Self, Unavailable> {
        let program = program("sample-apiserver")?;
        let kubectl = Program::kubectl(&core.kubeconfig())?;
        for manifest in ["ns", "sa", "auth-delegator", "auth-reader", "rbac", "rbac-bind"] {
            let file = companion("sample-apiserver", &format!("artifacts/example/{manifest}.yaml"))?;
            kubectl.ok(&["apply", "-f", &file.to_string_lossy()]);
        }
        // What its roles of this version forget, and it waits for.
        let forgotten = "--resource=mutatingadmissionpolicies,mutatingadmissionpolicybindings";
        kubectl.run(&["create", "clusterrole", "wardle-admission", "--verb=get,list,watch", forgotten]);
        let account = "--serviceaccount=wardle:apiserver";
        kubectl.run(&[
            "create",
            "clusterrolebinding",
            "wardle-admission",
            "--clusterrole=wardle-admission",
            account,
        ]);
        // It waits for ever for what a core older than 1.36 does not serve.
        let admission = kubectl.ok(&["get", "--raw", "/apis/admissionregistration.k8s.io/v1"]);
        let policies = admission.contains("mutatingadmissionpolicies");
        let without = (!policies).then_some("--disable-admission-plugins=MutatingAdmissionPolicy".to_owned());
        let token = kubectl.ok(&["create", "token", "apiserver", "--namespace=wardle"]);
        let kubeconfig = core.kubeconfig_with_token("wardle", token.trim());
        let address = SocketAddr::new(network.pod(pod), 8443);
        let pki = core.pki();
        let process =
            Spawn::wrapped(&format!("sample-apiserver-{pod}"), &network.enter(), &program, pki.dir())
                .arguments(serving_flags(pki, address, core.etcd_url()))
                .arguments(without)
                .arguments(
                    ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"]
                        .map(|flag| format!("--{flag}={}", kubeconfig.display())),
                )
                .start();
        let mut server = Self { process, etcd: None, address };
        server.wait_ready(pki);
        Ok(server)
    }

    /// Starts it with nothing but files: it trusts the front proxy and the users of `pki`, and lets only
    /// `system:masters` in, for there is no core to ask about others.
    ///
    /// # Errors
    /// When a program is not there.
    pub fn alone(pki: &TempPki) -> Result<Self, Unavailable> {
        let host = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let (program, etcd) = (program("sample-apiserver")?, program("etcd")?);
        let (etcd, etcd_url) = start_etcd(&etcd, pki.dir(), host);
        let address = SocketAddr::new(host, free_port());
        let client_ca = pki.file("client-ca.crt", pki.client_ca.certificate_pem());
        let front_proxy_ca = pki.file("front-proxy-ca.crt", pki.front_proxy_ca.certificate_pem());
        // It insists on a kubeconfig; nobody is there.
        let nowhere = SocketAddr::new(host, 1);
        let nobody = write_kubeconfig(pki, nowhere, "nobody", KubeconfigUser::Token("none".to_owned()));
        let process = Spawn::new("sample-apiserver", &program, pki.dir())
            .arguments(serving_flags(pki, address, &etcd_url))
            .arguments(
                ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"]
                    .map(|flag| format!("--{flag}={}", nobody.display())),
            )
            .arguments([
                "--authentication-skip-lookup".to_owned(),
                format!("--client-ca-file={}", client_ca.display()),
                format!("--requestheader-client-ca-file={}", front_proxy_ca.display()),
                "--requestheader-username-headers=X-Remote-User".to_owned(),
                "--requestheader-group-headers=X-Remote-Group".to_owned(),
                "--requestheader-extra-headers-prefix=X-Remote-Extra-".to_owned(),
                "--enable-priority-and-fairness=false".to_owned(),
                format!("--disable-admission-plugins={CORE_ADMISSION}"),
            ])
            .start();
        let mut server = Self { process, etcd: Some(etcd), address };
        server.wait_ready(pki);
        Ok(server)
    }

    /// Registers it in the core as its own project does: its Service and its APIService, unchanged; the
    /// EndpointSlice, which no controller makes here, by hand.
    ///
    /// # Errors
    /// When kubectl is not there.
    ///
    /// # Panics
    /// When the core's aggregator does not take it within a minute.
    pub fn aggregate(&self, core: &Core) -> Result<(), Unavailable> {
        let kubectl = Program::kubectl(&core.kubeconfig())?;
        let file = |name: &str| companion("sample-apiserver", &format!("artifacts/example/{name}.yaml"));
        kubectl.ok(&["apply", "-f", &file("service")?.to_string_lossy()]);
        kubectl.apply(&endpoint_slice("api", "wardle", "", &[self.address]));
        kubectl.ok(&["apply", "-f", &file("apiservice")?.to_string_lossy()]);
        // The server's second version, which its manifests leave out.
        kubectl.apply(&api_service("v1beta1"));
        let started = Instant::now();
        for version in ["v1alpha1", "v1beta1"] {
            let name = format!("apiservice/{version}.{WARDLE_GROUP}");
            kubectl.ok(&["wait", "--for=condition=Available", "--timeout=60s", &name]);
        }
        // Available is about routing; the discovery document follows a moment later.
        let (http, admin) = (Http::new(), core.admin());
        while !http.is_ok(&admin, &format!("/apis/{WARDLE_GROUP}/v1beta1/flunders")) {
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "the aggregator does not route to {}",
                self.address
            );
        }
        Ok(())
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Its process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Its process, to send signals to.
    pub fn process_ref(&self) -> &Process {
        &self.process
    }

    /// Its own store, when it has one.
    pub fn etcd(&mut self) -> Option<&mut Process> {
        self.etcd.as_mut()
    }

    fn wait_ready(&mut self, pki: &TempPki) {
        let admin = Target::tls(self.address, pki.server_ca.certificate_pem())
            .identity(pki.user("admin", &["system:masters"]));
        let http = Http::new();
        self.process.wait_until("/readyz", || http.is_ok(&admin, "/readyz"));
    }
}

fn serving_flags(pki: &TempPki, address: SocketAddr, etcd_url: &str) -> Vec<String> {
    let serving = Leaf::server("sample-apiserver")
        .dns("localhost")
        .dns("api.wardle.svc")
        .ip(address.ip())
        .valid_for(Duration::from_secs(24 * 3600));
    let (cert, key): (PathBuf, PathBuf) =
        save(pki, "sample-apiserver", &pki.server_ca.issue(&serving).expect("a certificate"));
    vec![
        format!("--etcd-servers={etcd_url}"),
        format!("--bind-address={}", address.ip()),
        format!("--secure-port={}", address.port()),
        format!("--tls-cert-file={}", cert.display()),
        format!("--tls-private-key-file={}", key.display()),
    ]
}

/// An EndpointSlice for a Service, as the controller would make it.
pub fn endpoint_slice(service: &str, namespace: &str, port_name: &str, addresses: &[SocketAddr]) -> String {
    let endpoints: Vec<serde_json::Value> = addresses
        .iter()
        .map(|address| serde_json::json!({"addresses": [address.ip().to_string()], "conditions": {"ready": true}}))
        .collect();
    let port = addresses.first().map_or(443, SocketAddr::port);
    serde_json::json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": format!("{service}-1"),
            "namespace": namespace,
            "labels": {"kubernetes.io/service-name": service},
        },
        "addressType": "IPv4",
        "ports": [{"name": port_name, "protocol": "TCP", "port": port}],
        "endpoints": endpoints,
    })
    .to_string()
}

fn api_service(version: &str) -> String {
    serde_json::json!({
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": format!("{version}.{WARDLE_GROUP}")},
        "spec": {
            "insecureSkipTLSVerify": true,
            "group": WARDLE_GROUP,
            "groupPriorityMinimum": 1000,
            "versionPriority": 20,
            "service": {"name": "api", "namespace": "wardle"},
            "version": version,
        },
    })
    .to_string()
}
