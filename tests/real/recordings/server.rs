//! The server that is asked, and its answers without what is different every time.

use std::{
    net::Ipv4Addr,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use kube_wire::object::time;
use serde_json::{Value, json};
use testkit::{
    Target,
    real::{Core, Http, Protocol},
};

/// A core with the custom resources that the rows use.
pub(super) struct Server {
    core: Core,
    admin: Target,
    http: Http,
}

/// Where the objects of a resource are.
pub(super) struct Resource {
    pub(super) api_version: String,
    pub(super) kind: &'static str,
    plural: &'static str,
}

/// An answer.
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) body: Value,
}

const RESOURCES: [(&str, &str, &str); 7] = [
    ("configmaps", "v1", "ConfigMap"),
    ("secrets", "v1", "Secret"),
    ("services", "v1", "Service"),
    ("deployments", "apps/v1", "Deployment"),
    ("roles", "rbac.authorization.k8s.io/v1", "Role"),
    ("widgets", "test.example.com/v1", "Widget"),
    ("blobs", "test.example.com/v1", "Blob"),
];

impl Resource {
    /// The resource of this name, in another version if need be.
    pub(super) fn new(name: &str, version: Option<&str>) -> Self {
        let (plural, api_version, kind) = RESOURCES.into_iter().find(|(plural, ..)| *plural == name).unwrap();
        let api_version = match (version, api_version.split_once('/')) {
            (Some(version), Some((group, _))) => format!("{group}/{version}"),
            _ => api_version.to_owned(),
        };
        Self { api_version, kind, plural }
    }

    /// The path of all of them in the namespace `default`.
    pub(super) fn path(&self) -> String {
        let root = if self.api_version.contains('/') { "/apis" } else { "/api" };
        format!("{root}/{}/namespaces/default/{}", self.api_version, self.plural)
    }
}

impl Server {
    pub(super) fn start() -> Self {
        let core = Core::start(Ipv4Addr::LOCALHOST.into()).unwrap_or_else(|reason| panic!("{reason}"));
        let server = Self { admin: core.admin(), core, http: Http::new() };
        let definitions: Vec<Value> = super::rows("resources.yaml");
        for definition in &definitions {
            server.define(definition);
        }
        for definition in &definitions {
            server.wait_for(definition);
        }
        server
    }

    /// Creates a CustomResourceDefinition.
    pub(super) fn define(&self, definition: &Value) -> Answer {
        const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        self.send("POST", PATH, "application/json", definition)
    }

    /// Waits until every version of a custom resource is served.
    pub(super) fn wait_for(&self, definition: &Value) {
        let spec = &definition["spec"];
        for version in spec["versions"].as_array().unwrap() {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let (group, version) = (text(&spec["group"]), text(&version["name"]));
            let path = format!("/apis/{group}/{version}/{}", text(&spec["names"]["plural"]));
            let deadline = Instant::now() + Duration::from_secs(60);
            while self.send("GET", &path, "", &Value::Null).code != 200 {
                assert!(Instant::now() < deadline, "{path} is not served");
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }

    pub(super) fn send(&self, method: &str, path: &str, media_type: &str, body: &Value) -> Answer {
        self.send_as("recorder/1.0 (test)", method, path, media_type, body)
    }

    /// As a user with a certificate, and these groups.
    pub(super) fn send_as_user(
        &self,
        (user, groups): (&str, &[&str]),
        method: &str,
        path: &str,
        body: &Value,
    ) -> Answer {
        let headers = [("content-type".to_owned(), "application/json".to_owned())];
        let (target, limit) = (self.core.user(user, groups), Duration::from_secs(30));
        let reply =
            self.http.send(&target, Protocol::Http1, (method, path), &headers, body.to_string(), limit);
        let reply = reply.unwrap_or_else(|reason| panic!("{method} {path}: {reason}"));
        Answer { code: reply.status.as_u16(), body: reply.json() }
    }

    pub(super) fn send_as(
        &self,
        agent: &str,
        method: &str,
        path: &str,
        media_type: &str,
        body: &Value,
    ) -> Answer {
        let headers = [("content-type", media_type), ("user-agent", agent)];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let limit = Duration::from_secs(30);
        let reply = self.http.send(&self.admin, Protocol::Http1, (method, path), &headers, body, limit);
        let reply = reply.unwrap_or_else(|reason| panic!("{method} {path}: {reason}"));
        Answer { code: reply.status.as_u16(), body: reply.json() }
    }
}

/// Seconds since the Unix epoch.
pub(super) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap()
}

/// Waits for the next second.
pub(super) fn next_second() {
    let second = now();
    while now() == second {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The second that stands for everything that happened in a step.
fn in_step(step: usize) -> String {
    time::format(946_684_800 + 60 * i64::try_from(step).unwrap())
}

/// The answer with the same UID and resource version in every run, and with times that count the steps;
/// `started` says when each began.
pub(super) fn normalized(body: &Value, uid: Option<&str>, started: &[i64]) -> Value {
    let mut text = body.to_string();
    if let Some(uid) = uid {
        text = text.replace(uid, "00000000-0000-4000-8000-000000000000");
    }
    // A Service's address is drawn by lot.
    if let Some(address) = body["spec"]["clusterIP"].as_str().filter(|address| address.contains('.')) {
        text = text.replace(address, "10.214.0.99");
    }
    for quote in ["\"", "\\\"", "\\\\\\\""] {
        let key = format!("{quote}resourceVersion{quote}:{quote}");
        let parts: Vec<&str> = text.split(&key).collect();
        let parts = parts.iter().enumerate().map(|(number, part)| {
            let digits = part.trim_start_matches(|c: char| c.is_ascii_digit());
            if number == 0 { (*part).to_owned() } else { format!("{key}1{digits}") }
        });
        text = parts.collect();
    }
    let mut out = String::new();
    let mut rest = &*text;
    while let Some(at) = rest.find("T").filter(|_| !rest.is_empty()) {
        let begins = at.checked_sub(10).filter(|begins| rest.is_char_boundary(*begins));
        let stamp = begins.and_then(|begins| rest.get(begins..begins + 20));
        match stamp.filter(|stamp| stamp.ends_with('Z')).and_then(time::parse) {
            Some(seconds) => {
                let step = started.iter().rposition(|start| *start <= seconds).unwrap_or(0);
                out.push_str(&rest[..at - 10]);
                out.push_str(&in_step(step));
                rest = &rest[at + 10..];
            }
            None => {
                out.push_str(&rest[..=at]);
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    serde_json::from_str(&out).unwrap()
}

/// One line of a record.
pub(super) fn line(value: &Value) -> String {
    format!("{}\n", json!(value))
}
