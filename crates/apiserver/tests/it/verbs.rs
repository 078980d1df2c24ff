//! What takes more than one request to see: pages, watches, versions, concurrency, limits, stopping.

use std::{sync::Arc, time::Duration};

use apiserver::{
    engine::Hooks,
    hooks::{AllowAll, Authorizer, Decision, Later},
    resource::{Definition, Resource},
    service::{Incoming, Limits, Service},
    storage::{Embedded, Options, Revision, Store},
};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use kube_wire::{RequestInfo, UserInfo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kinds;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// Longest that something may take which comes by itself.
const PATIENCE: Duration = Duration::from_secs(30);

fn store() -> Arc<dyn Store> {
    Arc::new(Embedded::in_memory(Options::default()).expect("a store"))
}

fn service_on(store: Arc<dyn Store>, limits: Limits) -> Service {
    let builder = Service::builder().hooks(Hooks::authorized_by(AllowAll)).limits(limits);
    let builder = kinds::definitions().into_iter().fold(builder, |builder, one| builder.resource(one));
    builder.build(store).expect("definitions")
}

fn service() -> Service {
    service_on(store(), Limits::default())
}

async fn open(
    service: &Service,
    method: &str,
    path: &str,
    body: impl ToString,
) -> Response<apiserver::service::Body> {
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let body = Incoming::new(Full::new(body.to_string().into()).map_err(|never| match never {}));
    let request = Request::builder().method(method).uri(path).header("content-type", kind);
    service.handle(request.body(body).expect("a request")).await
}

async fn ask(service: &Service, method: &str, path: &str, body: impl ToString) -> (StatusCode, Value) {
    let response = open(service, method, path, body).await;
    let status = response.status();
    let bytes = response.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

async fn create(service: &Service, name: &str, labels: Value) -> Value {
    let object = json!({ "metadata": { "name": name, "labels": labels } });
    let (status, made) = ask(service, "POST", MAPS, object).await;
    assert_eq!(status, 201, "{made}");
    made
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item["metadata"]["name"].as_str()).collect()
}

/// Lines of a watch, one after the other.
struct Lines {
    body: apiserver::service::Body,
    rest: String,
}

impl Lines {
    async fn open(service: &Service, query: &str) -> Self {
        let response = open(service, "GET", &format!("{MAPS}?watch=true&{query}"), "").await;
        assert_eq!(response.status(), 200);
        Self { body: response.into_body(), rest: String::new() }
    }

    /// The next event; none at the end.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((line, rest)) = self.rest.split_once('\n') {
                let event = serde_json::from_str(line).expect("an event");
                self.rest = rest.to_owned();
                return Some(event);
            }
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await.expect("a frame in time")?;
            let data = frame.expect("a frame").into_data().expect("data");
            self.rest.push_str(std::str::from_utf8(&data).expect("text"));
        }
    }

    async fn told(&mut self) -> (String, String) {
        let event = self.next().await.expect("an event");
        let name = event["object"]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        (event["type"].as_str().unwrap_or_default().to_owned(), name)
    }
}

fn told(kind: &str, name: &str) -> (String, String) {
    (kind.to_owned(), name.to_owned())
}

#[tokio::test]
async fn pages_are_of_one_moment() {
    let service = service();
    for name in ["a", "b", "c", "d", "e"] {
        create(&service, name, json!({})).await;
    }
    let (_, first) = ask(&service, "GET", &format!("{MAPS}?limit=2"), "").await;
    assert_eq!((names(&first), &first["metadata"]["remainingItemCount"]), (vec!["a", "b"], &json!(3)));
    create(&service, "bb", json!({})).await;
    ask(&service, "DELETE", &format!("{MAPS}/c"), "").await;
    let token = first["metadata"]["continue"].as_str().expect("a token");
    let (_, second) = ask(&service, "GET", &format!("{MAPS}?limit=2&continue={token}"), "").await;
    assert_eq!(names(&second), ["c", "d"], "as it was when the first page was made");
    let token = second["metadata"]["continue"].as_str().expect("a token");
    let (_, third) = ask(&service, "GET", &format!("{MAPS}?limit=2&continue={token}"), "").await;
    assert_eq!((names(&third), third["metadata"].get("continue")), (vec!["e"], None));
    let at = &first["metadata"]["resourceVersion"].as_str().expect("a version");
    let exact = format!("{MAPS}?resourceVersion={at}&resourceVersionMatch=Exact");
    assert_eq!(names(&ask(&service, "GET", &exact, "").await.1), ["a", "b", "c", "d", "e"]);
}

#[tokio::test]
async fn what_is_forgotten_is_410() {
    let store = store();
    let service = service_on(Arc::clone(&store), Limits::default());
    for name in ["a", "b", "c"] {
        create(&service, name, json!({})).await;
    }
    let (_, first) = ask(&service, "GET", &format!("{MAPS}?limit=1"), "").await;
    let token = first["metadata"]["continue"].as_str().expect("a token");
    create(&service, "d", json!({})).await;
    store.compact(Revision(4)).await.expect("a compaction");
    let (status, body) = ask(&service, "GET", &format!("{MAPS}?limit=1&continue={token}"), "").await;
    assert_eq!((status.as_u16(), &body["reason"]), (410, &json!("Expired")), "{body}");
    let mut watch = Lines::open(&service, "resourceVersion=1").await;
    let event = watch.next().await.expect("an event");
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)), "{event}");
    assert!(watch.next().await.is_none());
}

#[tokio::test]
async fn a_watch_shows_what_its_selector_means() {
    let service = service();
    let made = create(&service, "a", json!({ "on": "yes" })).await;
    create(&service, "b", json!({})).await;
    let from = made["metadata"]["resourceVersion"].as_str().expect("a version");
    let mut watch = Lines::open(&service, &format!("labelSelector=on&resourceVersion={from}")).await;
    for (name, labels) in
        [("b", json!({ "on": "1" })), ("b", json!({ "on": "2" })), ("b", json!({ "on": null }))]
    {
        let patch = json!({ "metadata": { "labels": labels } });
        assert_eq!(ask(&service, "PATCH", &format!("{MAPS}/{name}"), patch).await.0, 200);
    }
    ask(&service, "DELETE", &format!("{MAPS}/a"), "").await;
    for expected in [told("ADDED", "b"), told("MODIFIED", "b"), told("DELETED", "b"), told("DELETED", "a")] {
        assert_eq!(watch.told().await, expected);
    }
    service.stop();
    assert!(watch.next().await.is_none(), "a server that stops ends its watches");
}

#[tokio::test]
async fn bookmarks_say_how_far_a_watch_is() {
    let limits = Limits { bookmark_interval: Duration::from_millis(50), ..Limits::default() };
    let service = service_on(store(), limits);
    create(&service, "a", json!({})).await;
    let query = "allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let mut watch = Lines::open(&service, query).await;
    assert_eq!(watch.told().await, told("ADDED", "a"));
    let end = watch.next().await.expect("a bookmark");
    assert_eq!(end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    let (_, other) = ask(
        &service,
        "POST",
        "/apis/library.example.com/v1/namespaces/default/widgets",
        json!({ "metadata": { "name": "w" } }),
    )
    .await;
    let wanted = other["metadata"]["resourceVersion"].clone();
    loop {
        let event = watch.next().await.expect("a bookmark");
        assert_eq!(event["type"], "BOOKMARK");
        if event["object"]["metadata"]["resourceVersion"] == wanted {
            break;
        }
    }
}

#[tokio::test]
async fn names_are_made() {
    let service = service();
    let object = json!({ "metadata": { "generateName": "made-" } });
    let mut made = Vec::new();
    for _ in 0..20 {
        let (status, object) = ask(&service, "POST", MAPS, &object).await;
        assert_eq!(status, 201);
        made.push(object["metadata"]["name"].as_str().expect("a name").to_owned());
    }
    assert!(made.iter().all(|name| name.starts_with("made-") && name.len() == 10), "{made:?}");
    made.sort();
    made.dedup();
    assert_eq!(made.len(), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_update_is_lost() {
    let service = Arc::new(service());
    create(&service, "counter", json!({})).await;
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let service = Arc::clone(&service);
            tokio::spawn(async move {
                for step in 0..10 {
                    let patch = json!({ "data": { format!("{writer}-{step}"): "x" } });
                    let (status, body) = ask(&service, "PATCH", &format!("{MAPS}/counter"), patch).await;
                    assert_eq!(status, 200, "{body}");
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.expect("a writer");
    }
    let (_, counter) = ask(&service, "GET", &format!("{MAPS}/counter"), "").await;
    assert_eq!(counter["data"].as_object().map(serde_json::Map::len), Some(80));
}

#[tokio::test]
async fn bodies_have_limits() {
    let service = service_on(store(), Limits { max_body: 1000, ..Limits::default() });
    let object = json!({ "metadata": { "name": "large" }, "data": { "x": "y".repeat(1000) } });
    let (status, body) = ask(&service, "POST", MAPS, object).await;
    assert_eq!(status, 413, "{body}");
    let service = self::service();
    let deep =
        format!("{{\"metadata\":{{\"name\":\"deep\"}},\"x\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    let (status, body) = ask(&service, "POST", MAPS, deep).await;
    assert_eq!(status, 400, "{body}");
}

#[tokio::test]
async fn watches_have_places() {
    let service = service_on(store(), Limits { max_watches: 1, ..Limits::default() });
    let first = Lines::open(&service, "").await;
    let (status, _) = ask(&service, "GET", &format!("{MAPS}?watch=true"), "").await;
    assert_eq!(status, 429);
    drop(first);
    Lines::open(&service, "").await;
}

/// May do everything but this.
struct AllBut(&'static str);

impl Authorizer for AllBut {
    fn authorize<'a>(
        &'a self,
        _: &'a UserInfo,
        request: &'a RequestInfo<'a>,
    ) -> Later<'a, Result<Decision, String>> {
        let decision = match request.verb == self.0 {
            true => Decision::Deny("no".to_owned()),
            false => Decision::Allow,
        };
        Box::pin(async move { Ok(decision) })
    }
}

#[tokio::test]
async fn what_an_update_would_create_must_be_allowed() {
    let mut definition = Definition::of::<kinds::ConfigMap>();
    definition.create_on_update = true;
    let hooks = Hooks::authorized_by(AllBut("create"));
    let service = Service::builder().hooks(hooks).resource(definition).build(store()).expect("a definition");
    let object = json!({ "metadata": { "name": "a" } });
    let (status, body) = ask(&service, "PUT", &format!("{MAPS}/a"), object).await;
    assert_eq!((status.as_u16(), &body["reason"]), (403, &json!("Forbidden")), "{body}");
}

/// Every verb, every subresource, every path but health: a test that asks for one more thing need not know
/// that it is refused.
#[tokio::test]
async fn without_an_authorizer_nobody_may_do_anything() {
    let builder =
        kinds::definitions().into_iter().fold(Service::builder(), |builder, one| builder.resource(one));
    let service = builder.build(store()).expect("definitions");
    let one = format!("{MAPS}/a");
    let asked = [
        ("GET", MAPS),
        ("POST", MAPS),
        ("DELETE", MAPS),
        ("GET", &*one),
        ("PUT", &*one),
        ("PATCH", &*one),
        ("DELETE", &*one),
        ("GET", "/api/v1/configmaps?watch=true"),
        ("GET", "/apis"),
        ("GET", "/openapi/v3"),
        ("GET", "/metrics"),
        ("GET", "/version"),
        ("GET", "/unknown"),
    ];
    for (method, path) in asked {
        let (status, body) = ask(&service, method, path, "{}").await;
        assert_eq!((status.as_u16(), &body["reason"]), (403, &json!("Forbidden")), "{method} {path}: {body}");
    }
    for path in ["/healthz", "/livez", "/readyz"] {
        assert_eq!(open(&service, "GET", path, "").await.status(), 200, "{path}");
    }
}

/// A span in seconds.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Seconds {
    /// How many.
    #[serde(default)]
    seconds: u32,
}

/// The same in minutes, as it is stored.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Minutes {
    /// How many.
    #[serde(default)]
    minutes: u32,
}

impl Resource for Minutes {
    const GROUP: &'static str = "spans.example.com";
    const VERSION: &'static str = "v2";
    const KIND: &'static str = "Span";
    const PLURAL: &'static str = "spans";
}

impl Resource for Seconds {
    const GROUP: &'static str = "spans.example.com";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Span";
    const PLURAL: &'static str = "spans";
}

#[tokio::test]
async fn versions_are_converted() {
    let definition = Definition::of::<Minutes>().with_version::<Seconds, Minutes>(
        |own| Minutes { minutes: own.seconds / 60 },
        |stored| Seconds { seconds: stored.minutes * 60 },
    );
    let hooks = Hooks::authorized_by(AllowAll);
    let service = Service::builder().hooks(hooks).resource(definition).build(store()).expect("a definition");
    let spans = |version: &str| format!("/apis/spans.example.com/{version}/namespaces/default/spans");
    let object = json!({ "metadata": { "name": "a" }, "seconds": 180 });
    let (status, made) = ask(&service, "POST", &spans("v1"), object).await;
    assert_eq!(
        (status.as_u16(), &made["seconds"], &made["apiVersion"]),
        (201, &json!(180), &json!("spans.example.com/v1"))
    );
    let (_, stored) = ask(&service, "GET", &format!("{}/a", spans("v2")), "").await;
    assert_eq!((&stored["minutes"], stored.get("seconds")), (&json!(3), None), "{stored}");
    let patch = json!({ "seconds": 240 });
    let (status, patched) = ask(&service, "PATCH", &format!("{}/a", spans("v1")), patch).await;
    assert_eq!((status.as_u16(), &patched["seconds"]), (200, &json!(240)), "{patched}");
    let (_, list) = ask(&service, "GET", &spans("v2"), "").await;
    assert_eq!(list["items"][0]["minutes"], 4, "{list}");
    let (_, group) = ask(&service, "GET", "/apis/spans.example.com", "").await;
    assert_eq!(group["preferredVersion"]["version"], "v2");
}
