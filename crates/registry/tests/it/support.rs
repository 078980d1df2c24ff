//! A registry in a temporary folder, and ways to talk to it.

use std::{
    path::Path,
    sync::{Arc, Once},
    time::Duration,
};

use bytes::Bytes;
use catalog::{Body, BodyError, Catalog, Endpoint, Form, Route, ServerHealth};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use registry::{Config, Registry, registration};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Far more than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub const COLLECTION: &str = "/apis/federation.trellis.dev/v1alpha1/apiservers";
pub const API_SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";

/// A running registry.
pub struct Door {
    pub registry: Registry,
    pub folder: TempDir,
}

impl Door {
    /// With an empty state folder.
    pub fn start() -> Self {
        Self::with(|_| {})
    }

    /// With an empty state folder and a changed configuration.
    pub fn with(change: impl FnOnce(&mut Config)) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), change)
    }

    /// With the state of another one.
    pub fn in_folder(folder: TempDir, change: impl FnOnce(&mut Config)) -> Self {
        quiet_logs();
        let mut config = Config::new(folder.path().join("state"));
        config.polling.discovery = Duration::from_millis(200);
        config.polling.openapi = Duration::from_millis(300);
        config.polling.longest_pause = Duration::from_millis(300);
        config.polling.head_timeout = Duration::from_millis(500);
        config.polling.discovery_timeout = Duration::from_secs(2);
        config.polling.openapi_timeout = Duration::from_secs(2);
        change(&mut config);
        Self { registry: Registry::start(config).unwrap(), folder }
    }

    /// Stops it and starts it anew in the same folder.
    pub async fn restart(self) -> Self {
        self.registry.shutdown().await;
        let Self { registry, folder } = self;
        drop(registry);
        Self::in_folder(folder, |_| {})
    }

    pub fn state(&self) -> std::path::PathBuf {
        self.folder.path().join("state")
    }

    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.registry.catalog().borrow())
    }

    /// Registers a server by its URL and waits for nothing.
    pub async fn register(&self, name: &str, url: &str) -> Value {
        self.register_with(name, json!({ "url": url })).await
    }

    pub async fn register_with(&self, name: &str, spec: Value) -> Value {
        let (status, value) = self.send("POST", COLLECTION, &object(name, spec)).await;
        assert_eq!(status, StatusCode::CREATED, "{value}");
        value
    }

    pub async fn unregister(&self, name: &str) {
        let (status, value) = self.send("DELETE", &format!("{COLLECTION}/{name}"), &Value::Null).await;
        assert_eq!(status, StatusCode::OK, "{value}");
    }

    pub async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.send("GET", path, &Value::Null).await
    }

    pub async fn send(&self, method: &str, path: &str, body: &Value) -> (StatusCode, Value) {
        let content_type =
            if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        self.call(request(method, path, &[("content-type", content_type)], body)).await
    }

    pub async fn call(&self, request: Request<Body>) -> (StatusCode, Value) {
        let response = self.open(request).await;
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or_else(|_| String::from_utf8_lossy(&body).into()))
    }

    /// The response as it comes, from the registration API.
    pub async fn open(&self, request: Request<Body>) -> Response<Body> {
        let catalog = self.catalog();
        let server = match catalog.route(registration::GROUP, registration::VERSION) {
            Route::Server(server) => Arc::clone(server),
            other => panic!("no registration API: {other:?}"),
        };
        let Some(Endpoint::InProcess(service)) = server.endpoints.first() else { panic!("not in process") };
        service.call(request).await
    }

    /// Waits until the catalog satisfies `wanted`.
    pub async fn catalog_until(&self, wanted: impl Fn(&Catalog) -> bool) -> Arc<Catalog> {
        let mut catalogs = self.registry.catalog();
        let waiting = catalogs.wait_for(|catalog| wanted(catalog));
        Arc::clone(
            &tokio::time::timeout(PATIENCE, waiting).await.expect("the catalog never became so").unwrap(),
        )
    }

    /// Waits until the health of a server satisfies `wanted`.
    pub async fn health_until(
        &self,
        name: &str,
        wanted: impl Fn(&ServerHealth) -> bool,
    ) -> Arc<ServerHealth> {
        let mut reports = self.registry.health();
        let of = |report: &catalog::HealthReport| {
            report.servers.iter().find(|server| server.name.as_str() == name).cloned()
        };
        let waiting = reports.wait_for(|report| of(report).is_some_and(|server| wanted(&server)));
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(report) => of(&report.unwrap()).unwrap(),
            Err(_) => panic!("{name} never became so: {:#?}", of(&self.registry.health().borrow())),
        }
    }

    /// Waits until a condition has this reason.
    pub async fn condition_until(&self, name: &str, kind: &str, reason: &str) -> catalog::Condition {
        let found = |server: &ServerHealth| {
            server.conditions.iter().find(|c| c.kind == kind && c.reason == reason).cloned()
        };
        let health = self.health_until(name, |server| found(server).is_some()).await;
        found(&health).unwrap()
    }

    /// Waits until the status of an object whose server is dead says so for its current generation.
    pub async fn settled(&self, name: &str) {
        for _ in 0..3000 {
            let (_, object) = self.get(&format!("{COLLECTION}/{name}")).await;
            let refused = object["status"]["conditions"][0]["reason"] == "ConnectionRefused";
            let url = object["spec"]["url"].as_str().unwrap_or_default();
            let address = object["status"]["endpoints"][0]["address"].as_str().unwrap_or("?");
            if refused
                && url.ends_with(address)
                && object["status"]["observedGeneration"] == object["metadata"]["generation"]
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{name} never settled");
    }
}

/// Whether `group/version` is routed to `name`.
pub fn routed(catalog: &Catalog, group: &str, version: &str, name: &str) -> bool {
    catalog.route(group, version).server().is_some_and(|server| server.name.as_str() == name)
}

/// A discovery document as JSON.
pub fn discovery(catalog: &Catalog, path: &str, form: Form) -> Value {
    let document = catalog.discovery(path, form).unwrap_or_else(|| panic!("no {path}"));
    serde_json::from_slice(&document.body).unwrap()
}

pub fn object(name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "federation.trellis.dev/v1alpha1", "kind": "APIServer",
        "metadata": { "name": name }, "spec": spec,
    })
}

/// A request of an administrator.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Request<Body> {
    request_as("admin", &["system:masters", "system:authenticated"], method, path, headers, body)
}

pub fn request_as(
    user: &str,
    groups: &[&str],
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Request<Body> {
    let bytes = if body.is_null() { Vec::new() } else { serde_json::to_vec(body).unwrap() };
    let mut request = Request::builder().method(method).uri(path);
    if !user.is_empty() {
        request = request.header("x-remote-user", user);
    }
    for group in groups {
        request = request.header("x-remote-group", *group);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::new(Full::new(Bytes::from(bytes)).map_err(BodyError::from))).unwrap()
}

/// Writes a file as an editor does that knows what it does.
pub fn write(path: &Path, text: &str) {
    let new = path.with_extension("new");
    std::fs::write(&new, text).unwrap();
    std::fs::rename(&new, path).unwrap();
}

fn quiet_logs() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("REGISTRY_LOG").is_some() {
            tracing::subscriber::set_global_default(Print).unwrap();
        }
    });
}

/// Prints every event; for looking into a failing test.
struct Print;

impl tracing::Subscriber for Print {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        if !event.metadata().target().starts_with("registry") {
            return;
        }
        struct Fields(String);
        impl tracing::field::Visit for Fields {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.push_str(&format!(" {field}={value:?}"));
            }
        }
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        eprintln!("{}{}", event.metadata().level(), fields.0);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}
