//! What many servers cost the registry: time to register them, memory, CPU at rest, time to start again.
//!
//! `cargo run --release -p registry --example many_servers [COUNT]` starts COUNT servers (200) with 64 kB of
//! OpenAPI each in a process of their own and prints the figures.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use base64::Engine as _;
use catalog::{Catalog, Cause, ServerName};
use registry::{Config, Registry, object::Resource};
use serde_json::json;
use testkit::{FakeServer, Group, Serving, TempPki};

const OPENAPI: usize = 64 << 10;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let count = arguments.last().and_then(|count| count.parse().ok()).unwrap_or(200);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if arguments.get(1).is_some_and(|word| word == "serve") {
        runtime.block_on(serve(count));
    } else {
        runtime.block_on(measure(count));
    }
}

/// Starts the servers, prints their CA and URLs, and waits for the end of standard input.
async fn serve(count: usize) {
    let pki = TempPki::new();
    println!("{}", base64::engine::general_purpose::STANDARD.encode(pki.server_ca.certificate_pem()));
    let mut servers = Vec::new();
    for number in 0..count {
        let group = Group::new(
            &format!("group-{number}.example.com"),
            "v1",
            [testkit::Resource::namespaced("flunders", "Flunder")],
        );
        let server = FakeServer::builder()
            .tls(&pki, Serving::Good)
            .group(group)
            .openapi_padding(OPENAPI)
            .start()
            .await;
        println!("{}", server.url());
        servers.push(server);
    }
    std::io::stdout().flush().unwrap();
    tokio::task::spawn_blocking(|| std::io::stdin().lines().next()).await.unwrap();
}

async fn measure(count: usize) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["serve", &count.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let ca = lines.next().unwrap();
    let urls: Vec<String> = lines.take(count).collect();

    let folder = tempfile::tempdir().unwrap();
    let config = || Config::new(folder.path());
    let registry = Registry::start(config()).unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let memory = resident();
    let begun = Instant::now();
    for (number, url) in urls.iter().enumerate() {
        register(&registry, number, url, &ca);
    }
    println!("stored          {:>8.1} ms", milliseconds(begun));
    until(&registry, |catalog| (0..count).all(|number| routed(catalog, number))).await;
    println!("visible         {:>8.1} ms", milliseconds(begun));
    until(&registry, |catalog| (0..count).all(|number| catalog.openapi_v3(&path(number)).is_some())).await;
    println!("with OpenAPI    {:>8.1} ms", milliseconds(begun));
    tokio::time::sleep(Duration::from_secs(5)).await;
    println!("memory          {:>8.1} MiB more", (resident() - memory) / 1024.0);
    let (cpu, begun) = (cpu_seconds(), Instant::now());
    tokio::time::sleep(Duration::from_secs(20)).await;
    println!("CPU at rest     {:>8.2} %", (cpu_seconds() - cpu) / begun.elapsed().as_secs_f64() * 100.0);
    let begun = Instant::now();
    registry.store().create(Resource::ApiServer, object(count, &urls[0], &ca), false).unwrap();
    let name = ServerName::new(&format!("server-{count}"));
    until(&registry, |catalog| catalog.server(&name).is_some()).await;
    println!("one more        {:>8.1} ms", milliseconds(begun));
    registry.shutdown().await;
    drop(registry);
    drop(child.stdin.take());
    child.wait().unwrap();
    let begun = Instant::now();
    let registry = Registry::start(config()).unwrap();
    println!("start, all dead {:>8.1} ms", milliseconds(begun));
    let whole = (0..count).all(|number| routed(&registry.catalog().borrow(), number));
    assert!(whole, "everything is there although all servers are dead");
    registry.observer().observe(
        &name,
        catalog::Observation::Failed {
            endpoint: String::new(),
            failure: catalog::Failure::new(Cause::ConnectionRefused, "example"),
        },
    );
    registry.shutdown().await;
}

fn object(number: usize, url: &str, ca: &str) -> serde_json::Value {
    json!({
        "apiVersion": "federation.trellis.dev/v1alpha1", "kind": "APIServer",
        "metadata": { "name": format!("server-{number}") }, "spec": { "url": url, "caBundle": ca },
    })
}

fn register(registry: &Registry, number: usize, url: &str, ca: &str) {
    registry.store().create(Resource::ApiServer, object(number, url, ca), false).unwrap();
}

fn path(number: usize) -> String {
    format!("apis/group-{number}.example.com/v1")
}

fn routed(catalog: &Catalog, number: usize) -> bool {
    catalog.route(&format!("group-{number}.example.com"), "v1").server().is_some()
}

async fn until(registry: &Registry, wanted: impl Fn(&Catalog) -> bool) {
    registry.catalog().wait_for(|catalog| wanted(catalog)).await.unwrap();
}

fn milliseconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1000.0
}

/// Kilobytes in memory.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// User and system time of this process.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    let ticks: Vec<f64> =
        after_name.split_whitespace().skip(11).take(2).map(|t| t.parse().unwrap()).collect();
    ticks.iter().sum::<f64>() / 100.0
}
