//! The proper answers: discovery, OpenAPI, health, version, objects.

use http::{HeaderValue, StatusCode, header};
use http_body::Frame;
use serde_json::{Value, json};

use super::{
    Recorded, Resource, SharedRef,
    answer::wants_aggregated,
    api_status,
    body::{self, Answer},
    discovery, openapi, store,
};

pub(crate) fn serve(shared: &SharedRef, request: &Recorded) -> Answer {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let Some(path) = path.strip_prefix(shared.script().prefix.as_str()) else { return not_found() };
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let script = shared.script().clone();
    match segments.as_slice() {
        ["healthz" | "livez" | "readyz"] => body::full(StatusCode::OK, "text/plain; charset=utf-8", "ok"),
        ["version"] => body::json(StatusCode::OK, &version()),
        ["api"] => found(request, Some(json!({"kind": "APIVersions", "versions": []}))),
        ["apis"] if wants_aggregated(request) && !script.legacy_only => {
            conditional(request, discovery::AGGREGATED, &discovery::aggregated(&script))
        }
        ["apis"] => found(request, Some(discovery::group_list(&script))),
        ["apis", group] => found(request, discovery::group(&script, group).map(with_kind)),
        ["apis", group, version] => found(request, discovery::resource_list(&script, group, version)),
        ["openapi", "v2"] => conditional(request, "application/json", &openapi::v2(&script)),
        ["openapi", "v3"] if script.openapi_v3 => found(request, Some(openapi::v3_index(&script))),
        ["openapi", "v3", "apis", group, version] if script.openapi_v3 => {
            let offered = script.groups.iter().find(|g| g.name == *group && g.version == *version);
            found(request, offered.map(|group| openapi::v3(&script, group)))
        }
        ["apis", group, version, rest @ ..] => {
            let offered = script.groups.iter().find(|g| g.name == *group && g.version == *version);
            let resources = offered.map_or(&[][..], |group| &group.resources[..]);
            match Place::of(path, &format!("/apis/{group}/{version}"), rest, resources) {
                Some(place) => objects(shared, request, &place, query),
                None => not_found(),
            }
        }
        _ => not_found(),
    }
}

fn not_found() -> Answer {
    body::full(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "404 page not found\n")
}

fn version() -> Value {
    json!({
        "major": "1", "minor": "37", "gitVersion": "v1.37.0-fake", "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "linux/amd64",
    })
}

fn with_kind(mut group: Value) -> Value {
    group["kind"] = json!("APIGroup");
    group["apiVersion"] = json!("v1");
    group
}

fn found(request: &Recorded, document: Option<Value>) -> Answer {
    match document {
        Some(document) => conditional(request, "application/json", &document),
        None => not_found(),
    }
}

/// A document with its ETag; 304 when the client has it.
fn conditional(request: &Recorded, content_type: &'static str, document: &Value) -> Answer {
    let document = document.to_string();
    let etag = format!("\"{}\"", openapi::hash(document.as_bytes()));
    let mut answer = match request.header("if-none-match") == etag {
        true => body::full(StatusCode::NOT_MODIFIED, content_type, ""),
        false => body::full(StatusCode::OK, content_type, document),
    };
    answer.headers_mut().insert(header::ETAG, HeaderValue::from_str(&etag).expect("hexadecimal"));
    answer
}

/// Where in the store a path points.
struct Place<'a> {
    /// `/apis/GROUP/VERSION`.
    base: String,
    resource: &'a Resource,
    namespace: Option<&'a str>,
    name: Option<&'a str>,
    path: &'a str,
}

impl<'a> Place<'a> {
    fn of(path: &'a str, base: &str, rest: &[&'a str], resources: &'a [Resource]) -> Option<Self> {
        let (namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..] => (Some(*namespace), rest),
            rest => (None, rest),
        };
        let (resource, name) = match rest {
            [resource] => (*resource, None),
            [resource, name] | [resource, name, "status"] => (*resource, Some(*name)),
            _ => return None,
        };
        let resource = resources.iter().find(|known| known.name == resource)?;
        let path = path.trim_end_matches('/').trim_end_matches("/status");
        Some(Self { base: base.to_owned(), resource, namespace, name, path })
    }

    /// Whether an object belongs to this collection, also to the one over all namespaces.
    fn holds(&self, path: &str) -> bool {
        let Some(rest) = path.strip_prefix(self.base.as_str()) else { return false };
        let parts: Vec<&str> = rest.trim_start_matches('/').split('/').collect();
        match parts.as_slice() {
            ["namespaces", namespace, resource, _] => {
                *resource == self.resource.name && self.namespace.is_none_or(|wanted| wanted == *namespace)
            }
            [resource, _] => *resource == self.resource.name,
            _ => false,
        }
    }
}

fn objects(shared: &SharedRef, request: &Recorded, place: &Place<'_>, query: &str) -> Answer {
    let watching = query.split('&').any(|pair| pair == "watch=true" || pair == "watch=1");
    match (request.method.as_str(), place.name) {
        ("GET", None) if watching => watch(shared, place),
        ("GET", None) => list(shared, place),
        ("GET", Some(_)) => one(shared.store.get(place.path)),
        ("POST", None) => create(shared, request, place),
        ("PUT", Some(_)) => match object(request) {
            Some(object) => one(Some(shared.store.put(place.path, object))),
            None => api_status(400, "the body is not JSON"),
        },
        ("PATCH", Some(_)) => patch(shared, request, place),
        ("DELETE", Some(_)) => one(shared.store.remove(place.path)),
        _ => api_status(405, "the server does not allow this method on the requested resource"),
    }
}

fn object(request: &Recorded) -> Option<Value> {
    serde_json::from_slice(&request.body).ok()
}

fn one(object: Option<Value>) -> Answer {
    match object {
        Some(object) => body::json(StatusCode::OK, &object),
        None => api_status(404, "not found"),
    }
}

fn list(shared: &SharedRef, place: &Place<'_>) -> Answer {
    let (items, version) = shared.store.list(|path| place.holds(path));
    let api_version = place.base.trim_start_matches("/apis/");
    let list = json!({
        "kind": format!("{}List", place.resource.kind), "apiVersion": api_version,
        "metadata": {"resourceVersion": version}, "items": items,
    });
    body::json(StatusCode::OK, &list)
}

fn create(shared: &SharedRef, request: &Recorded, place: &Place<'_>) -> Answer {
    let Some(mut object) = object(request) else { return api_status(400, "the body is not JSON") };
    let Some(name) = object["metadata"]["name"].as_str().map(str::to_owned) else {
        return api_status(422, "metadata.name: Required value");
    };
    let path = format!("{}/{name}", place.path);
    if shared.store.get(&path).is_some() {
        return api_status(409, &format!("{} {name:?} already exists", place.resource.name));
    }
    object["metadata"]["uid"] = json!(openapi::hash(path.as_bytes())[..32].to_lowercase());
    if let Some(namespace) = place.namespace {
        object["metadata"]["namespace"] = json!(namespace);
    }
    body::json(StatusCode::CREATED, &shared.store.put(&path, object))
}

fn patch(shared: &SharedRef, request: &Recorded, place: &Place<'_>) -> Answer {
    let Some(patch) = object(request) else { return api_status(400, "the body is not JSON") };
    let Some(mut object) = shared.store.get(place.path) else { return api_status(404, "not found") };
    store::merge(&mut object, &patch);
    one(Some(shared.store.put(place.path, object)))
}

/// What is there, then every change, one JSON line each.
fn watch(shared: &SharedRef, place: &Place<'_>) -> Answer {
    let mut changes = shared.store.watch();
    let (items, _) = shared.store.list(|path| place.holds(path));
    let held = holder(place);
    let (tx, body) = body::sent();
    tokio::spawn(async move {
        for object in items {
            if tx.send(line("ADDED", &object)).await.is_err() {
                return;
            }
        }
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                () = tx.closed() => return,
            };
            let Ok(change) = change else { return };
            if held(&change.path) && tx.send(line(change.kind, &change.object)).await.is_err() {
                return;
            }
        }
    });
    body::with_body(StatusCode::OK, "application/json", body)
}

/// [`Place::holds`] on its own, for a task that outlives the request.
fn holder(place: &Place<'_>) -> impl Fn(&str) -> bool + Send + 'static {
    let (base, resource) = (place.base.clone(), place.resource.clone());
    let namespace = place.namespace.map(str::to_owned);
    move |path| {
        let place = Place {
            base: base.clone(),
            resource: &resource,
            namespace: namespace.as_deref(),
            name: None,
            path: "",
        };
        place.holds(path)
    }
}

fn line(kind: &str, object: &Value) -> Frame<bytes::Bytes> {
    Frame::data(format!("{}\n", json!({"type": kind, "object": object})).into())
}
