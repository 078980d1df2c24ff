use std::sync::Mutex;

use bytes::Bytes;
use catalog::{Cause, Failure};
use futures_util::future::BoxFuture;
use http::{HeaderName, HeaderValue};
use kube_wire::identity::UserInfo;
use serde_json::Value;

use super::*;

/// Header lines.
type Lines<'a> = &'a [(&'a str, &'a str)];

/// A core that allows what its list names as `user verb resource/name` or `user verb path`.
#[derive(Default)]
struct Core {
    allowed: Vec<&'static str>,
    asked: Mutex<Vec<String>>,
    down: bool,
}

impl CoreClient for Arc<Core> {
    fn post_json(&self, path: &'static str, body: Bytes) -> BoxFuture<'static, Result<Bytes, Failure>> {
        assert_eq!(path, "/apis/authorization.k8s.io/v1/subjectaccessreviews");
        let review: Value = serde_json::from_slice(&body).unwrap();
        let spec = &review["spec"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let what = match spec.get("resourceAttributes") {
            Some(of) => {
                let mut parts: Vec<_> = ["group", "namespace", "resource", "subresource", "name"]
                    .iter()
                    .map(|key| text(&of[*key]))
                    .collect();
                parts.retain(|part| !part.is_empty());
                format!("{} {} {}", text(&spec["user"]), text(&of["verb"]), parts.join("/"))
            }
            None => {
                let of = &spec["nonResourceAttributes"];
                format!("{} {} {}", text(&spec["user"]), text(&of["verb"]), text(&of["path"]))
            }
        };
        let allowed = self.allowed.contains(&what.as_str());
        self.asked.lock().unwrap().push(what);
        let down = self.down;
        Box::pin(async move {
            if down {
                return Err(Failure::new(Cause::ResponseTimeout, "10.0.0.1:6443"));
            }
            Ok(serde_json::json!({"status": {"allowed": allowed, "reason": "no RBAC policy matched"}})
                .to_string()
                .into())
        })
    }

    fn get(&self, _: &'static str) -> BoxFuture<'static, Result<Bytes, Failure>> {
        unreachable!("authorization gets nothing")
    }
}

fn caller(name: &str, groups: &[&str]) -> Arc<Identity> {
    Arc::new(Identity::authenticated(UserInfo::new(name, groups.iter().copied())).unwrap())
}

fn headers(lines: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers
            .append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
    }
    headers
}

fn rules(allowed: &[&'static str]) -> (Arc<Core>, Authorizer) {
    let core = Arc::new(Core { allowed: allowed.to_vec(), ..Core::default() });
    let authorizer = Authorizer::new(Some(Arc::new(core.clone())));
    (core, authorizer)
}

/// The request during which callers impersonate.
fn listing() -> RequestInfo<'static> {
    RequestInfo::parse("GET", "/apis/wardle.example.com/v1/namespaces/a/flunders", "").unwrap()
}

/// `name|groups|extra`, or code and message of the refusal.
async fn act(authorizer: &Authorizer, caller: &Arc<Identity>, lines: &[(&str, &str)]) -> String {
    let mut headers = headers(lines);
    match authorizer.impersonate(caller.clone(), &mut headers, &listing()).await {
        Ok(identity) => {
            assert!(headers.keys().all(|name| !name.as_str().starts_with("impersonate")), "{headers:?}");
            let UserInfo { name, uid, groups, extra } = &identity.user;
            format!("{name}|{uid}|{}|{extra:?}", groups.join(","))
        }
        Err(status) => format!("{} {}", status.code, status.message),
    }
}

#[tokio::test]
async fn masters_may_act_as_anybody() {
    let authorizer = Authorizer::new(None);
    let root = caller("root", &["system:masters"]);
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("accept", "*/*")], "root||system:masters,system:authenticated|{}"),
        (&[("impersonate-user", "ann")], "ann||system:authenticated|{}"),
        (&[("impersonate-user", "")], "root||system:masters,system:authenticated|{}"),
        (
            &[
                ("Impersonate-User", "ann"),
                ("Impersonate-Group", "dev"),
                ("Impersonate-Group", "ops"),
                ("Impersonate-Uid", "7"),
            ],
            "ann|7|dev,ops,system:authenticated|{}",
        ),
        (
            &[
                ("Impersonate-User", "ann"),
                ("Impersonate-Extra-Example.com%2fScopes", "a"),
                ("Impersonate-Extra-Example.com%2fScopes", "b"),
            ],
            "ann||system:authenticated|{\"example.com/scopes\": [\"a\", \"b\"]}",
        ),
        (
            &[("Impersonate-User", "system:serviceaccount:kube-system:bot")],
            "system:serviceaccount:kube-system:bot||system:serviceaccounts,system:serviceaccounts:kube-system,system:authenticated|{}",
        ),
        (&[("Impersonate-User", "system:anonymous")], "system:anonymous||system:unauthenticated|{}"),
        (
            &[("Impersonate-Group", "dev")],
            "400 requested impersonation of groups without impersonating a user name",
        ),
        (
            &[("Impersonate-Uid", "7")],
            "400 requested impersonation of a uid without impersonating a user name",
        ),
        (
            &[("Impersonate-Extra-A", "7")],
            "400 requested impersonation of extra attributes without impersonating a user name",
        ),
        (
            &[("Impersonate-User", "ann"), ("Impersonate-Foo", "x")],
            "400 unknown impersonation header \"impersonate-foo\"",
        ),
        (&[("Impersonate-Foo", "x")], "400 unknown impersonation header \"impersonate-foo\""),
        (&[("Impersonate_User", "ann")], "400 unknown impersonation header \"impersonate_user\""),
        (&[("Impersonate.User", "ann")], "400 unknown impersonation header \"impersonate.user\""),
    ];
    for (lines, expected) in cases {
        assert_eq!(act(&authorizer, &root, lines).await, *expected, "{lines:?}");
    }
}

#[tokio::test]
async fn others_may_what_the_core_allows_part_by_part() {
    let (core, authorizer) = rules(&[
        "bob impersonate users/ann",
        "bob impersonate groups/dev",
        "bob impersonate kube-system/serviceaccounts/bot",
        "bob impersonate authentication.k8s.io/userextras/scopes/a",
        "bob impersonate authentication.k8s.io/uids/7",
    ]);
    let bob = caller("bob", &["dev"]);
    let all = [
        ("impersonate-user", "ann"),
        ("impersonate-group", "dev"),
        ("impersonate-uid", "7"),
        ("impersonate-extra-scopes", "a"),
    ];
    assert_eq!(act(&authorizer, &bob, &all).await, "ann|7|dev,system:authenticated|{\"scopes\": [\"a\"]}");
    let asked = core.asked.lock().unwrap().clone();
    assert_eq!(
        asked,
        [
            "bob impersonate users/ann",
            "bob impersonate groups/dev",
            "bob impersonate authentication.k8s.io/userextras/scopes/a",
            "bob impersonate authentication.k8s.io/uids/7"
        ]
    );
    let again = act(&authorizer, &bob, &all).await;
    assert!(again.starts_with("ann|7|"));
    assert_eq!(core.asked.lock().unwrap().len(), 4, "remembered");
    assert!(
        act(&authorizer, &bob, &[("impersonate-user", "system:serviceaccount:kube-system:bot")])
            .await
            .starts_with("system:serviceaccount")
    );
    let refusals: &[(&[(&str, &str)], &str)] = &[
        (
            &[("impersonate-user", "root")],
            "403 users \"root\" is forbidden: User \"bob\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope: no RBAC policy matched",
        ),
        (
            &[("impersonate-user", "ann"), ("impersonate-group", "system:masters")],
            "403 groups \"system:masters\" is forbidden: User \"bob\" cannot impersonate resource \"groups\" in API group \"\" at the cluster scope: no RBAC policy matched",
        ),
        (
            &[("impersonate-user", "system:serviceaccount:prod:bot")],
            "403 serviceaccounts \"bot\" is forbidden: User \"bob\" cannot impersonate resource \"serviceaccounts\" in API group \"\" in the namespace \"prod\": no RBAC policy matched",
        ),
        (
            &[("impersonate-user", "ann"), ("impersonate-extra-scopes", "b")],
            "403 userextras.authentication.k8s.io \"b\" is forbidden: User \"bob\" cannot impersonate resource \"userextras/scopes\" in API group \"authentication.k8s.io\" at the cluster scope: no RBAC policy matched",
        ),
    ];
    for (lines, expected) in refusals {
        assert_eq!(act(&authorizer, &bob, lines).await, *expected, "{lines:?}");
    }
    // What one caller may, another may not.
    assert!(act(&authorizer, &caller("eve", &[]), &all).await.starts_with("403 "));
}

#[tokio::test]
async fn the_doors_own_paths_ask_the_core() {
    let (core, authorizer) = rules(&["mon get /metrics"]);
    let metrics = RequestInfo::parse("GET", "/metrics", "").unwrap();
    for _ in 0..2 {
        assert!(authorizer.authorize(&caller("mon", &[]), &metrics).await.is_ok());
        let refused = authorizer.authorize(&caller("eve", &[]), &metrics).await.unwrap_err();
        assert_eq!(refused.code, 403);
        assert_eq!(
            refused.message,
            "forbidden: User \"eve\" cannot get path \"/metrics\": no RBAC policy matched"
        );
    }
    assert!(authorizer.authorize(&caller("root", &["system:masters"]), &metrics).await.is_ok());
    assert_eq!(core.asked.lock().unwrap().len(), 2, "yes and no are remembered, masters are not asked about");
}

#[tokio::test]
async fn without_a_core_only_masters_may() {
    let authorizer = Authorizer::new(None);
    let info =
        RequestInfo::parse("DELETE", "/apis/federation.trellis.dev/v1alpha1/apiservers/a", "").unwrap();
    let refused = authorizer.authorize(&caller("eve", &[]), &info).await.unwrap_err();
    assert_eq!(refused.code, 403);
    assert!(
        refused
            .message
            .starts_with("apiservers.federation.trellis.dev \"a\" is forbidden: User \"eve\" cannot delete"),
        "{refused}"
    );
    assert!(
        act(&authorizer, &caller("eve", &[]), &[("impersonate-user", "ann")]).await.starts_with("403 users")
    );
}

#[tokio::test]
async fn a_core_that_does_not_answer_is_no_permission_and_no_refusal() {
    let core = Arc::new(Core { down: true, ..Core::default() });
    let authorizer = Authorizer::new(Some(Arc::new(core)));
    let answer = act(&authorizer, &caller("bob", &[]), &[("impersonate-user", "ann")]).await;
    assert!(answer.starts_with("503 ") && !answer.contains("10.0.0.1"), "{answer}");
}

#[tokio::test]
async fn impersonation_may_be_allowed_for_some_requests_only() {
    const ON: &str = "eve impersonate-on:user-info:list wardle.example.com/a/flunders";
    const ANN: &str = "eve impersonate:user-info authentication.k8s.io/users/ann";
    const DEV: &str = "eve impersonate:user-info authentication.k8s.io/groups/dev";
    const REFUSED: &str = "403 users \"ann\" is forbidden: User \"eve\" cannot impersonate resource \"users\" in API \
         group \"\" at the cluster scope: no RBAC policy matched";
    let ann: &[(&str, &str)] = &[("impersonate-user", "ann")];
    let dev: &[(&str, &str)] = &[("impersonate-user", "ann"), ("impersonate-group", "dev")];
    let root: &[(&str, &str)] = &[("impersonate-user", "ann"), ("impersonate-group", "system:masters")];
    let node: &[(&str, &str)] = &[("impersonate-user", "system:node:n1.example.com")];
    let robot: &[(&str, &str)] = &[("impersonate-user", "system:serviceaccount:b:robot")];
    let rows: [(&[&'static str], Lines<'_>, &str); 9] = [
        (&[ON, ANN], ann, "ann||system:authenticated|{}"),
        (&[ON], ann, REFUSED),
        (&[ANN], ann, REFUSED),
        (&["eve impersonate-on:user-info:get wardle.example.com/a/flunders", ANN], ann, REFUSED),
        (&[ON, ANN], dev, REFUSED),
        (&[ON, ANN, DEV], dev, "ann||dev,system:authenticated|{}"),
        (&[ON, ANN, "eve impersonate:user-info authentication.k8s.io/groups/system:masters"], root, REFUSED),
        (
            &[
                "eve impersonate-on:arbitrary-node:list wardle.example.com/a/flunders",
                "eve impersonate:arbitrary-node authentication.k8s.io/nodes/n1.example.com",
            ],
            node,
            "system:node:n1.example.com||system:nodes,system:authenticated|{}",
        ),
        (
            &[
                "eve impersonate-on:serviceaccount:list wardle.example.com/a/flunders",
                "eve impersonate:serviceaccount authentication.k8s.io/b/serviceaccounts/robot",
            ],
            robot,
            "system:serviceaccount:b:robot||system:serviceaccounts,system:serviceaccounts:b,system:authenticated|{}",
        ),
    ];
    for (allowed, lines, expected) in rows {
        let (_, authorizer) = rules(allowed);
        assert_eq!(act(&authorizer, &caller("eve", &[]), lines).await, expected, "{allowed:?}");
    }
}
