//! Requests from files, and what the library answers, in files beside them. The same requests are put to
//! kube-apiserver in the package `tests`; what is only seen here is that nothing changes unnoticed.

use std::{collections::BTreeMap, fmt::Write as _, path::PathBuf, sync::Arc};

use apiserver::{
    engine::Hooks,
    hooks::{AllowAll, Later, NamespaceState, Namespaces},
    service::{Incoming, Service},
    storage::{Embedded, Options},
};
use http::Request;
use http_body_util::{BodyExt as _, Full};
use serde::Deserialize;
use serde_json::Value;

use crate::kinds;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    requests: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Row {
    name: String,
    #[serde(default = "get")]
    method: String,
    path: Option<String>,
    #[serde(default)]
    paths: Vec<String>,
    accept: Option<String>,
    #[serde(default)]
    accepts: Vec<String>,
    content_type: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: String,
}

fn get() -> String {
    "GET".to_owned()
}

/// All but `absent`.
struct AllButAbsent;

impl Namespaces for AllButAbsent {
    fn state<'a>(&'a self, namespace: &'a str) -> Later<'a, Result<NamespaceState, String>> {
        let state = if namespace == "absent" { NamespaceState::Missing } else { NamespaceState::Active };
        Box::pin(async move { Ok(state) })
    }
}

fn service() -> Service {
    let store = Embedded::in_memory(Options::default()).expect("a store");
    let hooks = Hooks { namespaces: Arc::new(AllButAbsent), ..Hooks::authorized_by(AllowAll) };
    let mut builder = Service::builder().hooks(hooks);
    for definition in kinds::definitions() {
        builder = builder.resource(definition);
    }
    builder.build(Arc::new(store)).expect("definitions")
}

async fn ask(service: &Service, row: &Row, path: &str, accept: Option<&str>) -> String {
    let mut request = Request::builder().method(&*row.method).uri(path);
    for (name, value) in &row.headers {
        request = request.header(name, value);
    }
    if let Some(accept) = accept {
        request = request.header("accept", accept);
    }
    if let Some(kind) = &row.content_type {
        request = request.header("content-type", kind);
    }
    let body = Incoming::new(Full::new(row.body.clone().into()).map_err(|never| match never {}));
    let response = service.handle(request.body(body).expect("a request")).await;
    let (head, body) = response.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    let mut out = format!("{}\n", head.status.as_u16());
    for (name, value) in &head.headers {
        if name != "audit-id" {
            let _ = writeln!(out, "{name}: {}", value.to_str().unwrap_or("?"));
        }
    }
    out.push_str(&shown(&String::from_utf8_lossy(&body)));
    out
}

/// The body without what no two runs share.
fn shown(body: &str) -> String {
    match serde_json::from_str::<Value>(body) {
        Ok(mut value) => {
            steady(&mut value);
            format!("{}\n", serde_json::to_string_pretty(&value).expect("JSON"))
        }
        Err(_) => {
            let mut lines = String::new();
            for line in body.lines() {
                match serde_json::from_str::<Value>(line) {
                    Ok(mut value) => {
                        steady(&mut value);
                        let _ = writeln!(lines, "{value}");
                    }
                    Err(_) => {
                        let volatile = ["uid:", "creationTimestamp:", "deletionTimestamp:", "time:"];
                        let name = volatile.iter().find(|name| line.trim_start().starts_with(**name));
                        match name {
                            Some(name) => {
                                let _ =
                                    writeln!(lines, "{}{name} (some)", &line[..line.find(name).unwrap_or(0)]);
                            }
                            None => {
                                let _ = writeln!(lines, "{line}");
                            }
                        }
                    }
                }
            }
            lines
        }
    }
}

fn steady(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match name.as_str() {
                    "uid" | "creationTimestamp" | "deletionTimestamp" | "time" if value.is_string() => {
                        *value = "(some)".into();
                    }
                    "message" => *value = without_times(&without_uid(value)),
                    // They stand in the order of their times, which a second may divide or not.
                    "managedFields" => {
                        steady(value);
                        if let Some(entries) = value.as_array_mut() {
                            entries.sort_by_key(|entry| {
                                format!("{} {}", entry["manager"], entry["subresource"])
                            });
                        }
                    }
                    _ => steady(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(steady),
        _ => {}
    }
}

fn without_uid(value: &Value) -> Value {
    let text = value.as_str().unwrap_or_default();
    let is_uid =
        |word: &&str| word.len() == 36 && word.matches('-').count() == 4 && !word.starts_with("0000");
    let uid = text.split(|c: char| !c.is_ascii_hexdigit() && c != '-').find(is_uid);
    uid.map_or_else(|| value.clone(), |uid| text.replace(uid, "(uid)").into())
}

/// A refused object stands in the message, and when it was made stands in the object.
fn without_times(value: &Value) -> Value {
    const LENGTH: usize = "2006-01-02T15:04:05Z".len();
    let is_time = |text: &[u8]| {
        text.iter().zip(b"dddd-dd-ddTdd:dd:ddZ").all(|(found, wanted)| match wanted {
            b'd' => found.is_ascii_digit(),
            _ => found == wanted,
        })
    };
    let mut text = value.as_str().unwrap_or_default().to_owned();
    while let Some(at) = text.as_bytes().windows(LENGTH).position(is_time) {
        text.replace_range(at..at + LENGTH, "(time)");
    }
    text.into()
}

async fn check(name: &str) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests");
    let text = fs_err::read_to_string(root.join("requests").join(format!("{name}.yaml"))).expect("a file");
    let value: Value = serde_saphyr::from_str(&text).expect("YAML");
    let file: File = serde_json::from_value(value).expect("requests");
    let service = service();
    let mut all = String::new();
    for row in &file.requests {
        let paths: Vec<&String> = row.path.iter().chain(&row.paths).collect();
        let mut accepts: Vec<Option<&str>> =
            row.accept.iter().chain(&row.accepts).map(|accept| Some(accept.as_str())).collect();
        if accepts.is_empty() {
            accepts.push(None);
        }
        for path in paths {
            for accept in &accepts {
                let accepted = accept.map(|accept| format!(" [{accept}]")).unwrap_or_default();
                let answer = ask(&service, row, path, *accept).await;
                let _ = writeln!(all, "=== {}\n{} {path}{accepted}\n{answer}", row.name, row.method);
            }
        }
    }
    testkit::golden(root.join("golden").join(format!("{name}.txt")), &all);
}

#[tokio::test]
async fn configmaps() {
    check("configmaps").await;
}

#[tokio::test]
async fn discovery() {
    check("discovery").await;
}

#[tokio::test]
async fn widgets() {
    check("widgets").await;
}
