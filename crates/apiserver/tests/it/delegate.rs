//! What is asked of a core, and for how long its answers are believed.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use apiserver::{
    authn::{Authenticator as _, PeerCertificates},
    delegate::{
        AccessReviews, Connection, Core, CoreError, CoreNamespaces, Credential, Lines, Published,
        TokenReviews,
    },
    hooks::{Authorizer as _, Decision, Later, NamespaceState, Namespaces as _},
    serving::Files,
};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{Request, request::Parts};
use kube_wire::{RequestInfo, UserInfo};
use serde_json::{Value, json};
use testkit::{Serving, TempPki};

/// Answers from a list, and remembers what it was asked.
#[derive(Default)]
struct Script {
    answers: Mutex<VecDeque<Result<Value, CoreError>>>,
    asked: Mutex<Vec<(String, Value)>>,
}

impl Script {
    fn new(answers: impl IntoIterator<Item = Result<Value, CoreError>>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into_iter().collect()), asked: Mutex::default() })
    }

    fn answer(&self, path: &str, body: Value) -> Result<Bytes, CoreError> {
        self.asked.lock().unwrap().push((path.to_owned(), body));
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or(Err(CoreError::Timeout));
        answer.map(|answer| answer.to_string().into())
    }

    fn asked(&self) -> Vec<(String, Value)> {
        self.asked.lock().unwrap().clone()
    }
}

impl Core for Script {
    fn get<'a>(&'a self, path: &'a str) -> Later<'a, Result<Bytes, CoreError>> {
        Box::pin(async move { self.answer(path, Value::Null) })
    }

    fn post<'a>(&'a self, path: &'a str, body: Bytes) -> Later<'a, Result<Bytes, CoreError>> {
        Box::pin(async move { self.answer(path, serde_json::from_slice(&body).unwrap()) })
    }

    fn watch<'a>(&'a self, path: &'a str) -> Later<'a, Result<Lines, CoreError>> {
        Box::pin(async move {
            let line = self.answer(path, Value::Null)?;
            Ok(Box::pin(stream::iter([Ok(line)]).chain(stream::pending())) as Lines)
        })
    }
}

fn with_token(value: &str) -> Parts {
    Request::builder().header("authorization", value).body(()).unwrap().into_parts().0
}

fn known(name: &str) -> Result<Value, CoreError> {
    Ok(json!({"status": {"authenticated": true, "user": {"username": name, "groups": ["g"], "extra": null}}}))
}

fn unknown() -> Result<Value, CoreError> {
    Ok(json!({"status": {"error": "invalid bearer token"}}))
}

#[tokio::test(start_paused = true)]
async fn a_token_is_reviewed_once_and_again_after_a_while() {
    let core = Script::new([known("a"), known("b"), unknown(), known("c"), known("d")]);
    let reviews = TokenReviews::new(core.clone());
    let ask = async |value: &str| reviews.authenticate(&with_token(value)).await;
    for _ in 0..3 {
        let user = ask("Bearer secret").await.unwrap().unwrap();
        assert_eq!(user, UserInfo::new("a", ["g", "system:authenticated"]));
    }
    assert_eq!(ask("bEARER  other more").await.unwrap().unwrap().name, "b");
    assert_eq!(ask("Bearer third").await.unwrap_err().code, 401);
    assert_eq!(ask("Bearer third").await.unwrap_err().code, 401);
    assert_eq!(ask("Basic x").await.unwrap(), None);
    assert_eq!(ask("Bearer").await.unwrap(), None);
    assert_eq!(ask(&format!("Bearer {}", "x".repeat(20_000))).await.unwrap_err().code, 401);
    let tokens: Vec<Value> = core.asked().iter().map(|(_, body)| body["spec"]["token"].clone()).collect();
    assert_eq!(tokens, ["secret", "other", "third"]);
    // A no is forgotten first.
    tokio::time::advance(Duration::from_secs(4)).await;
    assert_eq!(ask("Bearer secret").await.unwrap().unwrap().name, "a");
    assert_eq!(ask("Bearer third").await.unwrap().unwrap().name, "c");
    tokio::time::advance(Duration::from_secs(7)).await;
    assert_eq!(ask("Bearer secret").await.unwrap().unwrap().name, "d");
}

#[tokio::test]
async fn a_core_that_is_away_is_no_401_and_nobody_is_let_in() {
    let core = Script::new([]);
    let refused = TokenReviews::new(core.clone()).authenticate(&with_token("Bearer a")).await.unwrap_err();
    assert_eq!((refused.code, refused.details.unwrap().retry_after_seconds), (503, 1));
    let info = RequestInfo::parse("GET", "/api/v1/namespaces/n/things", "").unwrap();
    let access = AccessReviews::new(core.clone());
    assert!(access.authorize(&UserInfo::new("a", ["g"]), &info).await.is_err());
    // Whoever may do everything need not be asked about.
    let master = UserInfo::new("a", ["system:masters"]);
    assert_eq!(access.authorize(&master, &info).await, Ok(Decision::Allow));
    assert!(CoreNamespaces::new(core).state("n").await.is_err());
}

#[tokio::test]
async fn access_is_asked_for_as_upstreams_servers_ask() {
    let core = Script::new([
        Ok(json!({"status": {"allowed": true}})),
        Ok(json!({"status": {"allowed": false, "denied": true, "reason": "no"}})),
        Ok(json!({"status": {"allowed": false}})),
    ]);
    let access = AccessReviews::new(core.clone());
    let user = UserInfo { uid: "u".to_owned(), ..UserInfo::new("a", ["g"]) };
    let path = "/apis/x.example.com/v1/namespaces/n/things/one/status";
    let patch = RequestInfo::parse("PATCH", path, "").unwrap();
    let list = RequestInfo::parse("GET", "/apis/x.example.com/v1/things", "").unwrap();
    let version = RequestInfo::parse("GET", "/version", "").unwrap();
    for _ in 0..2 {
        assert_eq!(access.authorize(&user, &patch).await, Ok(Decision::Allow));
        assert_eq!(access.authorize(&user, &list).await, Ok(Decision::Deny("no".to_owned())));
        assert_eq!(access.authorize(&user, &version).await, Ok(Decision::Deny(String::new())));
    }
    let asked = core.asked();
    let of = |spec: Value| {
        let mut whole = json!({"user": "a", "uid": "u", "groups": ["g"], "extra": {}});
        whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        whole
    };
    let expected = [
        of(json!({"resourceAttributes": {
            "verb": "patch", "group": "x.example.com", "version": "v1", "resource": "things",
            "subresource": "status", "namespace": "n", "name": "one",
        }})),
        of(json!({"resourceAttributes": {
            "verb": "list", "group": "x.example.com", "version": "v1", "resource": "things",
        }})),
        of(json!({"nonResourceAttributes": {"verb": "get", "path": "/version"}})),
    ];
    assert_eq!(asked.iter().map(|(_, body)| body["spec"].clone()).collect::<Vec<_>>(), expected);
    assert!(asked.iter().all(|(path, _)| path == "/apis/authorization.k8s.io/v1/subjectaccessreviews"));
}

#[tokio::test]
async fn many_who_ask_at_once_are_one_question() {
    let core = Script::new([Ok(json!({"status": {"allowed": true}})), unknown()]);
    let access = AccessReviews::new(core.clone());
    let user = UserInfo::new("a", ["g"]);
    let info = RequestInfo::parse("GET", "/version", "").unwrap();
    let all = futures_util::future::join_all((0..50).map(|_| access.authorize(&user, &info))).await;
    assert!(all.iter().all(|decision| *decision == Ok(Decision::Allow)), "{all:?}");
    assert_eq!(core.asked().len(), 1);
}

#[tokio::test]
async fn namespaces_are_as_the_core_says() {
    let refused = |code| Err(CoreError::Refused { code, message: String::new() });
    let core = Script::new([
        Ok(json!({"metadata": {"name": "n"}, "status": {"phase": "Active"}})),
        Ok(json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})),
        refused(404),
        refused(403),
    ]);
    let namespaces = CoreNamespaces::new(core.clone());
    for _ in 0..2 {
        assert_eq!(namespaces.state("active").await, Ok(NamespaceState::Active));
    }
    assert_eq!(namespaces.state("going").await, Ok(NamespaceState::Terminating));
    assert_eq!(namespaces.state("gone").await, Ok(NamespaceState::Missing));
    assert!(namespaces.state("secret").await.unwrap_err().contains("403"));
    // Never a part of a path.
    assert_eq!(namespaces.state("../secrets").await, Ok(NamespaceState::Missing));
    let paths: Vec<String> = core.asked().into_iter().map(|(path, _)| path).collect();
    let names = ["active", "going", "gone", "secret"];
    assert_eq!(paths, names.map(|name| format!("/api/v1/namespaces/{name}")));
}

#[tokio::test]
async fn what_is_published_is_read_and_what_is_none_refused() {
    let map = json!({"metadata": {"resourceVersion": "7"}, "data": {
        "client-ca-file": "A", "requestheader-client-ca-file": "B",
        "requestheader-allowed-names": "[\"front-proxy-client\"]",
        "requestheader-username-headers": "[\"X-Remote-User\"]",
        "requestheader-group-headers": "[\"X-Remote-Group\"]",
        "requestheader-extra-headers-prefix": "[\"X-Remote-Extra-\"]",
    }});
    let core =
        Script::new([Ok(map), Ok(json!({"data": {"requestheader-allowed-names": "x"}})), Ok(json!({}))]);
    let published = Published::fetch(&*core).await.unwrap();
    assert_eq!(published.client_ca.as_deref(), Some(&b"A"[..]));
    assert_eq!(published.front_proxy_ca.as_deref(), Some(&b"B"[..]));
    assert_eq!(published.allowed_names, ["front-proxy-client"]);
    assert_eq!(published.names.user, ["X-Remote-User"]);
    let error = Published::fetch(&*core).await.unwrap_err().to_string();
    assert!(error.contains("requestheader-allowed-names"), "{error}");
    assert_eq!(Published::fetch(&*core).await.unwrap().client_ca, None);
}

fn published(client_ca: &[u8]) -> Value {
    json!({"metadata": {"resourceVersion": "7"}, "data": {"client-ca-file": String::from_utf8_lossy(client_ca)}})
}

#[tokio::test]
async fn what_is_published_anew_counts_at_once() {
    let (old, new) = (TempPki::new(), TempPki::new());
    let at_first = || Ok(published(old.client_ca.certificate_pem()));
    let event = |kind: &str, ca: &[u8]| Ok(json!({"type": kind, "object": published(ca)}));
    let core = Script::new([at_first(), at_first(), event("MODIFIED", new.client_ca.certificate_pem())]);
    let serving = old.serving(Serving::Good);
    let files = Files {
        certificate: old.dir().join("serving.crt"),
        key: old.dir().join("serving.key"),
        ..Files::default()
    };
    serving.save(&files.certificate, &files.key).unwrap();
    let serving = files.clone().load_beside(core).await.unwrap();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    let knows = async |pki: &TempPki| {
        let pair = pki.user("alice", &["g"]);
        let chain = pki::certificates(pair.chain_pem(), "alice").unwrap();
        let mut request = Request::builder().body(()).unwrap();
        request.extensions_mut().insert(Arc::new(PeerCertificates::new(&chain)));
        serving.certificates.authenticate(&request.into_parts().0).await.unwrap().is_some()
    };
    while !knows(&new).await {
        assert!(tokio::time::Instant::now() < deadline, "the new CA does not count");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!knows(&old).await);
    // Nothing at first is an error, and not a server that believes nobody.
    assert!(files.load_beside(Script::new([])).await.is_err());
}

#[test]
fn kubeconfigs_are_read_or_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    let text = |user: &str, cluster: &str| {
        format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
             clusters: [{{name: k, cluster: {{server: 'https://core:6443', {cluster}}}}}]\n\
             users: [{{name: u, user: {user}}}]\n"
        )
    };
    let read = |text: &str| {
        fs_err::write(&path, text).unwrap();
        Connection::from_kubeconfig(&path)
    };
    let good = read(&text("{token: abc}", "certificate-authority-data: QUJD")).unwrap();
    assert_eq!((&*good.server, good.ca.as_deref()), ("https://core:6443", Some(&b"ABC"[..])));
    assert!(matches!(&good.credential, Credential::Token(token) if token == "abc"));
    assert!(!format!("{good:?}").contains("abc"));
    let file = read(&text("{tokenFile: t, token: abc}", "")).unwrap();
    assert!(matches!(file.credential, Credential::TokenFile(path) if path == folder.path().join("t")));
    let bad = [
        (text("{}", ""), "neither a certificate nor a token"),
        (text("{token: a}", "insecure-skip-tls-verify: true"), "must be verified"),
        (text("{token: a}", "proxy-url: 'http://p'"), "proxies"),
        (text("{token: a}", "certificate-authority: absent"), "absent"),
        (text("{token: a}", "certificate-authority-data: '?'"), "kubeconfig"),
        (text("{token: a}", "").replace("user: u", "user: w"), "no user \"w\""),
        (text("{token: a}", "").replace("current-context: c", ""), "no context \"\""),
        ("a: [".to_owned(), "kubeconfig"),
    ];
    for (text, reason) in bad {
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}\n{text}");
    }
}
