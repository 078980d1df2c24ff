//! A real core: its groups, its registrations, its absence. Left out, with a word of why, where
//! `cargo xtask upstream` has not been run.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    time::Duration,
};

use catalog::ServerName;
use serde_json::{Value, json};
use testkit::{
    FakeServer, Group, Resource,
    real::{Core, Program, Unavailable},
};

use crate::support::{Door, routed};

const THINGS: &str = "things.example.com";
const ADOPTED: &str = "adopted.example.com";

/// An address of this machine that the core lets EndpointSlices have.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_loopback())
}

fn server(name: &str, url: &str) -> String {
    crate::support::object(name, json!({ "url": url })).to_string()
}

/// A definition of cluster-scoped `widgets` in a group.
fn definition(group: &str) -> String {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("widgets.{group}") },
        "spec": {
            "group": group, "scope": "Cluster", "names": { "kind": "Widget", "plural": "widgets" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": { "type": "object" } } }],
        },
    })
    .to_string()
}

fn aggregated(address: SocketAddr) -> String {
    let (ip, port) = (address.ip(), address.port());
    json!({ "apiVersion": "v1", "kind": "List", "items": [
        { "apiVersion": "v1", "kind": "Service", "metadata": { "name": "api", "namespace": "default" },
            "spec": { "ports": [{ "name": "https", "port": 443, "targetPort": port }] } },
        { "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": { "name": "api-1", "namespace": "default", "labels": { "kubernetes.io/service-name": "api" } },
            "ports": [{ "name": "https", "port": port }], "endpoints": [{ "addresses": [ip] }] },
        { "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": { "name": format!("v1.{ADOPTED}") },
            "spec": { "group": ADOPTED, "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 15,
                "insecureSkipTLSVerify": true, "service": { "namespace": "default", "name": "api" } } },
    ] })
    .to_string()
}

/// kubectl, off the threads that the registry runs on.
async fn kubectl(program: &std::sync::Arc<Program>, arguments: &'static [&'static str]) -> String {
    let program = std::sync::Arc::clone(program);
    tokio::task::spawn_blocking(move || program.ok(arguments)).await.unwrap()
}

async fn apply(program: &std::sync::Arc<Program>, manifest: String) {
    let program = std::sync::Arc::clone(program);
    tokio::task::spawn_blocking(move || program.apply(&manifest)).await.unwrap();
}

async fn object_until(
    program: &std::sync::Arc<Program>,
    arguments: &'static [&'static str],
    wanted: impl Fn(&Value) -> bool,
) -> Value {
    for _ in 0..300 {
        let value: Value = serde_json::from_str(&kubectl(program, arguments).await).unwrap();
        if wanted(&value) {
            return value;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("never so: {}", kubectl(program, arguments).await);
}

fn core() -> Result<(Core, Program, IpAddr), Unavailable> {
    let core = Core::start(Ipv4Addr::LOCALHOST.into())?;
    let program = Program::kubectl(&core.kubeconfig())?;
    Ok((core, program, own_address().unwrap_or(Ipv4Addr::LOCALHOST.into())))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_core_is_one_more_backend() {
    let started = tokio::task::spawn_blocking(core).await.unwrap();
    let (mut core, program, own) = match started {
        Ok(started) => started,
        Err(why) => {
            eprintln!("left out: {why}");
            return;
        }
    };
    let program = std::sync::Arc::new(program);
    let kubeconfig = core.kubeconfig();
    let configure = move |config: &mut registry::Config| {
        config.polling = registry::Polling::default();
        config.core = Some(registry::CoreConfig {
            kubeconfig: kubeconfig.clone(),
            context: None,
            proxy_client: None,
            adopt_api_services: true,
            install_crds: true,
        });
    };
    let door = Door::in_folder(tempfile::tempdir().unwrap(), configure.clone());

    // Its own groups, at once and whatever anybody registers.
    door.catalog_until(|c| routed(c, "apps", "v1", "core") && routed(c, "", "v1", "core")).await;
    door.condition_until("core", "Available", "Passed").await;
    door.condition_until("core", "IdentityRejected", "Accepted").await;
    let thief = FakeServer::builder()
        .group(Group::new("apps", "v1", [Resource::namespaced("deployments", "Deployment")]))
        .start()
        .await;
    let things = FakeServer::builder()
        .group(Group::new(THINGS, "v1", [Resource::cluster("widgets", "Widget")]))
        .start()
        .await;

    // Registrations are objects of the core.
    kubectl(
        &program,
        &["wait", "--for=condition=Established", "--timeout=60s", "crd/apiservers.federation.trellis.dev"],
    )
    .await;
    apply(&program, server("thief", &thief.url())).await;
    apply(&program, server("things", &things.url())).await;
    door.catalog_until(|c| routed(c, THINGS, "v1", "things")).await;
    door.condition_until("thief", "Conflict", "GroupClaimedTwice").await;
    assert!(routed(&door.catalog(), "apps", "v1", "core"));
    let written =
        object_until(&program, &["get", "apiserver.federation.trellis.dev", "things", "-o", "json"], |o| {
            o["status"]["groups"] == json!([format!("{THINGS}/v1")])
        })
        .await;
    assert_eq!(written["status"]["conditions"][0]["reason"], "Passed", "{written}");
    apply(&program, server("wrong", "ftp://nowhere")).await;
    let refused =
        object_until(&program, &["get", "apiserver.federation.trellis.dev", "wrong", "-o", "json"], |o| {
            o["status"]["conditions"][0]["reason"] == "InvalidSpec"
        })
        .await;
    assert!(
        refused["status"]["conditions"][0]["message"].as_str().unwrap().contains("spec.url"),
        "{refused}"
    );

    // A definition for a group that a server owns is a conflict, told on both; one for a free group is served.
    apply(&program, definition(THINGS)).await;
    apply(&program, definition("free.example.com")).await;
    door.catalog_until(|c| routed(c, "free.example.com", "v1", "core")).await;
    door.condition_until("core", "Conflict", "GroupClaimedTwice").await;
    door.condition_until("things", "Conflict", "GroupClaimedTwice").await;
    assert!(routed(&door.catalog(), THINGS, "v1", "things"));
    kubectl(&program, &["delete", "crd", "widgets.things.example.com", "widgets.free.example.com"]).await;
    door.catalog_until(|c| c.discovery("/apis/free.example.com", catalog::Form::Legacy).is_none()).await;

    // An APIService is followed to the endpoints of its Service.
    if !own.is_loopback() {
        let pki = testkit::TempPki::new();
        let adopted = FakeServer::builder()
            .tls(&pki, testkit::Serving::Good)
            .group(Group::new(ADOPTED, "v1", [Resource::cluster("widgets", "Widget")]))
            .listen(SocketAddr::new(own, 0))
            .start()
            .await;
        apply(&program, aggregated(adopted.address())).await;
        door.catalog_until(|c| routed(c, ADOPTED, "v1", "api.default.svc")).await;
        kubectl(&program, &["delete", "endpointslice", "api-1"]).await;
        door.condition_until("api.default.svc", "Available", "EndpointsNotFound").await;
        kubectl(&program, &["delete", "service", "api"]).await;
        door.condition_until("api.default.svc", "Available", "ServiceNotFound").await;
        kubectl(&program, &["delete", "apiservice", "v1.adopted.example.com"]).await;
        door.catalog_until(|c| c.server(&ServerName::new("api.default.svc")).is_none()).await;
    }

    door.condition_until("core", "Degraded", "AsExpected").await;
    door.catalog_until(|c| c.openapi_v3("apis/apps/v1").is_some()).await;
    // Without the core everything stays, also after a start.
    core.process().kill();
    door.condition_until("core", "Available", "ConnectionRefused").await;
    door.registry.shutdown().await;
    let Door { registry, folder } = door;
    drop(registry);
    let door = Door::in_folder(folder, configure);
    let catalog = door.catalog();
    assert!(routed(&catalog, "apps", "v1", "core"));
    assert!(routed(&catalog, THINGS, "v1", "things"));
    assert!(catalog.openapi_v3("apis/apps/v1").is_some());
    door.condition_until("things", "Available", "Passed").await;
}
