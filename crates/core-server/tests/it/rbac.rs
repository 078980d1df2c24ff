//! Policy: who may do what, and who may change that.

use std::{fmt::Write as _, sync::Arc};

use apiserver::{
    authn::TrustedHeaders,
    engine::Hooks,
    resource::Definition,
    service::{Incoming, Service},
    storage::{Embedded, Options, Store},
};
use core_server::rbac::{Aggregator, Rbac, Rule, definitions, ensure_policy};
use http::Request;
use http_body_util::{BodyExt as _, Full};
use kube_wire::{RequestInfo, UserInfo};
use serde_json::{Value, json};

const ROOT: (&str, &[&str]) = ("root", &["system:masters"]);

struct Core {
    service: Service,
    rbac: Rbac,
}

impl Core {
    fn new() -> Self {
        let store: Arc<dyn Store> = Arc::new(Embedded::in_memory(Options::default()).unwrap());
        let rbac = Rbac::new(Arc::clone(&store));
        let mut hooks = Hooks::authorized_by(rbac.clone());
        hooks.admission.push(Arc::new(rbac.clone()));
        let builder = Service::builder().hooks(hooks).authenticator(TrustedHeaders::default());
        let builder = definitions().into_iter().fold(builder, |builder, one| builder.resource(one));
        let things = Definition::new("things.example.com", "v1", "Thing", "things");
        Self { service: builder.resource(things).build(store).unwrap(), rbac }
    }

    async fn with_policy() -> Self {
        let core = Self::new();
        ensure_policy(core.service.engine()).await.unwrap();
        core
    }

    async fn ask(
        &self,
        (user, groups): (&str, &[&str]),
        method: &str,
        path: &str,
        body: &Value,
    ) -> (u16, Value) {
        let path = match path.starts_with('/') {
            true => path.to_owned(),
            false => format!("/apis/rbac.authorization.k8s.io/v1/{path}"),
        };
        let mut request = Request::builder().method(method).uri(path).header("x-remote-user", user);
        for group in groups {
            request = request.header("x-remote-group", *group);
        }
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let body = Incoming::new(Full::new(body.to_string().into()).map_err(|never| match never {}));
        let response = self.service.handle(request.header("content-type", kind).body(body).unwrap()).await;
        let code = response.status().as_u16();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (code, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    async fn may(&self, user: &UserInfo, method: &str, path: &str) -> bool {
        let info = RequestInfo::parse(method, path, "").unwrap();
        self.rbac.decide(user, &info).await.unwrap().allowed
    }
}

fn rows() -> Vec<Value> {
    let text = include_str!("../recordings/rbac.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Every question and every attempt ends as at kube-apiserver, with the same words.
#[tokio::test]
async fn as_recorded() {
    let (core, rows) = (Core::with_policy().await, rows());
    assert!(rows.len() > 600, "{} rows", rows.len());
    let mut wrong = String::new();
    for row in &rows {
        if let Some(object) = row.get("object") {
            let (code, answer) = core.ask(ROOT, "POST", row["path"].as_str().unwrap(), object).await;
            assert_eq!(code, 201, "{answer}");
        } else if row.get("question").is_some() {
            let (ours, theirs) = (question(&core, row).await, &row["answer"]);
            let allowed_by_several = theirs["reason"].is_null() && ours["allowed"] == theirs["allowed"];
            if ours != *theirs && !allowed_by_several {
                let _ = writeln!(
                    wrong,
                    "{} {}\n  ours   {ours}\n  theirs {theirs}",
                    row["user"], row["question"]
                );
            }
        } else {
            attempt(&core, row, &mut wrong).await;
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

async fn question(core: &Core, row: &Value) -> Value {
    let user = UserInfo::new(row["user"].as_str().unwrap(), texts(&row["groups"]));
    let text = |name: &str| row["question"][name].as_str().unwrap_or_default();
    let info = RequestInfo {
        is_resource: text("path").is_empty(),
        verb: text("verb").into(),
        group: text("group").into(),
        namespace: text("namespace").into(),
        resource: text("resource").into(),
        subresource: text("subresource").into(),
        name: text("name").into(),
        path: text("path").into(),
        ..RequestInfo::default()
    };
    let verdict = core.rbac.decide(&user, &info).await.unwrap();
    let mut status = json!({"allowed": verdict.allowed});
    if !verdict.reason.is_empty() {
        status["reason"] = verdict.reason.into();
    }
    status
}

async fn attempt(core: &Core, row: &Value, wrong: &mut String) {
    let (user, method, path) =
        (&row["user"], row["attempt"].as_str().unwrap(), row["path"].as_str().unwrap());
    let groups = texts(&row["groups"]);
    let (code, answer) = core.ask((user.as_str().unwrap(), &groups), method, path, &row["sent"]).await;
    let same = |name: &str| answer[name] == row[name];
    if row["code"] != code || (code >= 300 && !(same("message") && same("reason") && same("details"))) {
        let _ = writeln!(wrong, "{user} {method} {path} {}\n  ours   {code} {answer}", row["sent"]);
        let _ = writeln!(wrong, "  theirs {} {} {}", row["code"], row["message"], row["details"]);
    }
}

/// The default policy is complete, is put back, and leaves alone what it must.
#[tokio::test]
async fn the_default_policy_is_there_and_comes_back() {
    let core = Core::new();
    let made = ensure_policy(core.service.engine()).await.unwrap();
    assert!(made > 100, "{made}");
    assert_eq!(ensure_policy(core.service.engine()).await.unwrap(), 0);
    let path = "clusterroles/system:discovery";
    let (_, own) = core.ask(ROOT, "GET", path, &Value::Null).await;
    core.ask(ROOT, "PATCH", path, &json!({"rules": [{"verbs": ["get"], "nonResourceURLs": ["/own"]}]})).await;
    core.ask(ROOT, "DELETE", "clusterroles/view", &Value::Null).await;
    let frozen = json!({"metadata": {"annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"}}, "rules": []});
    core.ask(ROOT, "PATCH", "clusterroles/system:basic-user", &frozen).await;
    let other = json!({"subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "x"}]});
    core.ask(ROOT, "PATCH", "clusterrolebindings/cluster-admin", &other).await;
    assert_eq!(ensure_policy(core.service.engine()).await.unwrap(), 3);
    let (_, found) = core.ask(ROOT, "GET", path, &Value::Null).await;
    let rules = found["rules"].as_array().unwrap();
    assert_eq!((&rules[0]["nonResourceURLs"], &rules[1]), (&json!(["/own"]), &own["rules"][0]), "{found}");
    let (_, found) = core.ask(ROOT, "GET", "clusterroles/system:basic-user", &Value::Null).await;
    assert_eq!(found["rules"], json!([]));
    let (_, found) = core.ask(ROOT, "GET", "clusterrolebindings/cluster-admin", &Value::Null).await;
    let names: Vec<&Value> =
        found["subjects"].as_array().unwrap().iter().map(|subject| &subject["name"]).collect();
    assert_eq!(names, ["x", "system:masters"]);
}

#[tokio::test]
async fn what_is_written_counts_at_once() {
    let core = Core::new();
    let (alice, path) =
        (UserInfo::new("alice", ["devs"]), "/apis/things.example.com/v1/namespaces/default/things");
    assert!(!core.may(&alice, "GET", path).await);
    let role = json!({"metadata": {"name": "r"}, "rules": [{"verbs": ["list"], "apiGroups": ["*"], "resources": ["things"]}]});
    core.ask(ROOT, "POST", "clusterroles", &role).await;
    let subjects = [json!({"kind": "Group", "name": "devs"})];
    let binding = json!({"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": subjects});
    for _ in 0..20 {
        assert_eq!(core.ask(ROOT, "POST", "namespaces/default/rolebindings", &binding).await.0, 201);
        assert!(core.may(&alice, "GET", path).await);
        assert!(!core.may(&alice, "GET", &path.replace("default", "other")).await);
        let (code, _) = core.ask(("alice", &["devs"]), "GET", path, &Value::Null).await;
        assert_eq!(code, 200);
        core.ask(ROOT, "DELETE", "namespaces/default/rolebindings/b", &Value::Null).await;
        assert!(!core.may(&alice, "GET", path).await);
        // What has nothing to do with policy is no reason to find it anew.
        let before = core.rbac.policy().await.unwrap();
        core.ask(ROOT, "POST", path, &json!({"metadata": {"generateName": "x-"}})).await;
        assert!(Arc::ptr_eq(&before, &core.rbac.policy().await.unwrap()));
    }
    // Also when the events are forgotten that were not read yet.
    core.ask(ROOT, "POST", "namespaces/default/rolebindings", &binding).await;
    let store = core.service.engine().store();
    store.compact(store.revision().await.unwrap()).await.unwrap();
    assert!(core.may(&alice, "GET", path).await);
}

#[tokio::test]
async fn roles_gather_others() {
    let core = Core::with_policy().await;
    let aggregator = Aggregator::new(core.rbac.clone());
    let engine = core.service.engine();
    assert!(aggregator.run(engine).await.unwrap() >= 3);
    assert_eq!(aggregator.run(engine).await.unwrap(), 0);
    let rules = async |name: &str| {
        let (_, role) = core.ask(ROOT, "GET", &format!("clusterroles/{name}"), &Value::Null).await;
        serde_json::from_value::<Vec<Rule>>(role["rules"].clone()).unwrap()
    };
    let (view, edit, admin) = (rules("view").await, rules("edit").await, rules("admin").await);
    assert!(!view.is_empty() && view.len() < edit.len() && edit.len() < admin.len());
    // A role that says that it belongs there is gathered, and goes again.
    let labels = json!({"rbac.authorization.k8s.io/aggregate-to-view": "true"});
    let rule = json!({"verbs": ["get"], "apiGroups": ["things.example.com"], "resources": ["things"]});
    let more = json!({"metadata": {"name": "more", "labels": labels}, "rules": [rule]});
    core.ask(ROOT, "POST", "clusterroles", &more).await;
    aggregator.run(engine).await.unwrap();
    for name in ["view", "edit", "admin"] {
        assert!(rules(name).await.iter().any(|rule| rule.resources == ["things"]), "{name}");
    }
    core.ask(ROOT, "DELETE", "clusterroles/more", &Value::Null).await;
    aggregator.run(engine).await.unwrap();
    assert_eq!((rules("view").await, rules("admin").await), (view, admin));
}

/// Only the garbage collector's fields may change without the permissions that a role gives.
#[tokio::test]
async fn what_collects_garbage_is_not_in_its_way() {
    let core = Core::new();
    let writer = json!({"metadata": {"name": "w"}, "rules": [{"verbs": ["update", "patch"], "apiGroups": ["*"], "resources": ["clusterroles"]}]});
    core.ask(ROOT, "POST", "clusterroles", &writer).await;
    let binding = json!({"metadata": {"name": "w"}, "roleRef": {"kind": "ClusterRole", "name": "w"}, "subjects": [{"kind": "User", "name": "gc"}]});
    core.ask(ROOT, "POST", "clusterrolebindings", &binding).await;
    let rich = json!({"metadata": {"name": "rich"}, "rules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]});
    let (_, mut live) = core.ask(ROOT, "POST", "clusterroles", &rich).await;
    let gc: (&str, &[&str]) = ("gc", &[]);
    live["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let (code, updated) = core.ask(gc, "PUT", "clusterroles/rich", &live).await;
    assert_eq!(code, 200, "{updated}");
    let mut relabelled = updated.clone();
    relabelled["metadata"]["labels"] = json!({"a": "b"});
    assert_eq!(core.ask(gc, "PUT", "clusterroles/rich", &relabelled).await.0, 403);
    let patch = json!({"metadata": {"finalizers": null}});
    assert_eq!(core.ask(gc, "PATCH", "clusterroles/rich", &patch).await.0, 200);
}
