//! What every cluster may do from the start, what follows from more policy, and what becomes of attempts to
//! change it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::server::{Answer, Server, line};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const JSON: &str = "application/json";
const KINDS: [&str; 4] = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"];

/// The default roles and bindings, one line for each. The roles that gather others are empty: who fills them is
/// no part of kube-apiserver.
pub(super) fn defaults(server: &Server) -> String {
    let mut lines = String::new();
    for kind in KINDS {
        let path = format!("{RBAC}/{kind}?labelSelector=kubernetes.io%2Fbootstrapping%3Drbac-defaults");
        let list = server.send("GET", &path, JSON, &Value::Null).body;
        let mut objects: Vec<Value> = list["items"].as_array().unwrap().clone();
        objects.sort_by_key(|object| {
            let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default().to_owned();
            (text("namespace"), text("name"))
        });
        for mut object in objects {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.retain(|name, _| {
                    ["name", "namespace", "labels", "annotations"].contains(&name.as_str())
                });
            }
            lines.push_str(&line(&json!([kind, object])));
        }
    }
    lines
}

#[derive(Deserialize)]
struct Rows {
    namespaces: Vec<String>,
    objects: Vec<(String, Value)>,
    users: Vec<(String, Vec<String>)>,
    questions: Vec<BTreeMap<String, String>>,
    attempts: Vec<(String, Vec<String>, String, String, Value)>,
}

pub(super) fn record(server: &Server) -> String {
    let rows: Rows = serde_saphyr::from_str(
        &fs_err::read_to_string(super::folder().join("../../../core-server/tests/recordings/rbac.yaml"))
            .unwrap(),
    )
    .unwrap();
    let mut lines = String::new();
    for name in &rows.namespaces {
        created(&server.send("POST", "/api/v1/namespaces", JSON, &json!({"metadata": {"name": name}})));
    }
    for (path, object) in &rows.objects {
        created(&server.send("POST", &format!("{RBAC}/{path}"), JSON, object));
        lines.push_str(&line(&json!({"object": object, "path": path})));
    }
    // Policy counts a moment after it is made.
    std::thread::sleep(std::time::Duration::from_secs(2));
    for (user, groups) in &rows.users {
        for question in &rows.questions {
            let answer = ask(server, user, groups, question);
            lines.push_str(&line(
                &json!({"user": user, "groups": groups, "question": question, "answer": answer}),
            ));
        }
    }
    for (user, groups, method, path, object) in &rows.attempts {
        let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
        let answer = server.send_as_user((user, &groups), method, &format!("{RBAC}/{path}"), object);
        let mut kept = json!({
            "attempt": method, "user": user, "groups": groups, "path": path, "sent": object, "code": answer.code,
        });
        if answer.code >= 300 {
            kept["message"] = answer.body["message"].clone();
            kept["reason"] = answer.body["reason"].clone();
            kept["details"] = answer.body["details"].clone();
        }
        lines.push_str(&line(&kept));
    }
    lines
}

fn created(answer: &Answer) {
    assert_eq!(answer.code, 201, "{}", answer.body);
}

fn ask(server: &Server, user: &str, groups: &[String], question: &BTreeMap<String, String>) -> Value {
    let attributes = match question.contains_key("path") {
        true => "nonResourceAttributes",
        false => "resourceAttributes",
    };
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": user, "groups": groups, attributes: question},
    });
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let mut status = server.send("POST", path, JSON, &review).body["status"].take();
    // Several bindings allow these, and upstream names any of them.
    if ["/healthz", "/version"].contains(&question.get("path").map_or("", String::as_str)) {
        status["reason"] = Value::Null;
    }
    status
}
