use std::{
    sync::{Mutex, atomic::AtomicUsize},
    time::Duration,
};

use catalog::{Cause, Failure};
use http::{HeaderName, HeaderValue};
use pki::{Authority, CertifiedKey, Leaf};

use super::*;

/// Header lines.
type Lines<'a> = &'a [(&'a str, &'a str)];

const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// A core that knows the token `good-…` as the user behind the dash, and counts what it is asked.
#[derive(Default)]
struct Core {
    asked: AtomicUsize,
    down: Mutex<bool>,
}

impl CoreClient for Arc<Core> {
    fn post_json(&self, path: &'static str, body: Bytes) -> BoxFuture<'static, Result<Bytes, Failure>> {
        assert_eq!(path, "/apis/authentication.k8s.io/v1/tokenreviews");
        self.asked.fetch_add(1, Ordering::SeqCst);
        let down = *self.down.lock().unwrap();
        Box::pin(async move {
            tokio::task::yield_now().await;
            if down {
                return Err(Failure::new(Cause::ConnectionRefused, "10.0.0.1:6443 refused"));
            }
            let review: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(
                (&review["kind"], &review["apiVersion"]),
                (&"TokenReview".into(), &"authentication.k8s.io/v1".into())
            );
            let status = match review["spec"]["token"].as_str().unwrap().strip_prefix("good-") {
                Some(name) => serde_json::json!({"authenticated": true, "user": {
                    "username": name, "uid": "u", "groups": ["sa"], "extra": {"k": ["v"]}}}),
                None => serde_json::json!({"error": "unknown token"}),
            };
            Ok(serde_json::json!({"status": status}).to_string().into())
        })
    }

    fn get(&self, _: &'static str) -> BoxFuture<'static, Result<Bytes, Failure>> {
        unreachable!("authentication gets nothing")
    }
}

fn authority(name: &str) -> Authority {
    Authority::make(name, YEAR).unwrap()
}

fn chain(key: &CertifiedKey) -> Vec<CertificateDer<'static>> {
    pki::certificates(key.chain_pem(), "a test's certificate").unwrap()
}

fn client(authority: &Authority, name: &str, groups: &[&str]) -> Vec<CertificateDer<'static>> {
    let leaf = groups.iter().fold(Leaf::client(name), |leaf, group| leaf.organization(*group));
    chain(&authority.issue(&leaf).unwrap())
}

fn trust(clients: &Authority, proxies: &Authority, names: &[&str]) -> ClientTrust {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let front_proxy = FrontProxy { ca: proxies.certificate_pem(), allowed_names: &names };
    ClientTrust::new(Some(clients.certificate_pem()), Some(front_proxy)).unwrap()
}

fn secrets(trust: ClientTrust) -> Secrets {
    let tokens = TokenFile::parse(b"static-token,tom,u7,\"a,b\"").unwrap();
    Secrets { trust, tokens }
}

fn headers(lines: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

/// `name|uid|groups`, or the code of the refusal.
async fn who(authenticator: &Authenticator, chain: &[CertificateDer<'_>], lines: &[(&str, &str)]) -> String {
    let connection = authenticator.connection(chain, "10.0.0.9:1".parse().unwrap());
    ask(authenticator, &connection, lines).await
}

async fn ask(
    authenticator: &Authenticator,
    connection: &ConnectionIdentity,
    lines: &[(&str, &str)],
) -> String {
    match authenticator.authenticate(connection, &mut headers(lines)).await {
        Ok(identity) => {
            let user = &identity.user;
            format!("{}|{}|{}", user.name, user.uid, user.groups.join(","))
        }
        Err(status) => status.code.to_string(),
    }
}

const ROOT: (&str, &str) = ("x-remote-user", "root");
const MASTERS: (&str, &str) = ("x-remote-group", "system:masters");

#[tokio::test]
async fn who_is_who() {
    let (clients, proxies, strangers) = (authority("clients"), authority("proxies"), authority("strangers"));
    let authenticator = Authenticator::new(secrets(trust(&clients, &proxies, &["front"])), None);
    let ann = client(&clients, "ann", &["dev", "ops"]);
    let front = client(&proxies, "front", &[]);
    let other = client(&proxies, "other", &[]);
    let stranger = client(&strangers, "ann", &["system:masters"]);
    let serving = chain(&clients.issue(&Leaf::server("srv").dns("srv")).unwrap());
    let token = ("authorization", "Bearer static-token");
    let known = "ann||dev,ops,system:authenticated";
    let tom = "tom|u7|a,b,system:authenticated";
    let by_proxy = "root||system:masters,system:authenticated";
    let none: &[CertificateDer<'_>] = &[];
    let cases: &[(&str, &[CertificateDer<'_>], Lines, &str)] = &[
        ("nothing", none, &[], "401"),
        ("certificate", &ann, &[], known),
        ("certificate before token", &ann, &[token], known),
        ("certificate of a stranger", &stranger, &[], "401"),
        ("token beside the certificate of a stranger", &stranger, &[token], tom),
        ("certificate of a server", &serving, &[], "401"),
        ("token", none, &[token], tom),
        ("token of nobody", none, &[("authorization", "Bearer static-toke")], "401"),
        ("basic", none, &[("authorization", "Basic c3RhdGljLXRva2Vu")], "401"),
        ("front proxy", &front, &[ROOT, MASTERS], by_proxy),
        ("front proxy that names nobody", &front, &[], "401"),
        ("front proxy that names nobody, with a token", &front, &[MASTERS, token], tom),
        ("front proxy with an empty name", &front, &[("x-remote-user", ""), MASTERS], "401"),
        ("front proxy that may not", &other, &[ROOT, MASTERS], "401"),
        ("client who says he is root", &ann, &[ROOT, MASTERS], known),
        ("nobody who says he is root", none, &[ROOT, MASTERS], "401"),
        ("stranger who says he is root", &stranger, &[ROOT, MASTERS], "401"),
    ];
    for (what, chain, lines, expected) in cases {
        assert_eq!(who(&authenticator, chain, lines).await, *expected, "{what}");
    }
}

#[tokio::test]
async fn a_name_that_is_no_text_is_nobody() {
    let proxies = authority("proxies");
    let authenticator = Authenticator::new(secrets(trust(&authority("clients"), &proxies, &[])), None);
    let connection = authenticator.connection(&client(&proxies, "front", &[]), "10.0.0.9:1".parse().unwrap());
    let mut headers = headers(&[ROOT]);
    headers.append("x-remote-group", HeaderValue::from_bytes(b"\xff").unwrap());
    assert_eq!(authenticator.authenticate(&connection, &mut headers).await.unwrap_err().code, 401);
}

#[tokio::test]
async fn one_authority_for_clients_and_proxies_needs_names() {
    let both = authority("both");
    let pem = both.certificate_pem();
    let refused = ClientTrust::new(Some(pem), Some(FrontProxy { ca: pem, allowed_names: &[] }));
    assert!(
        matches!(refused, Err(TrustError::SharedAuthority { ref subject }) if subject.contains("both")),
        "{refused:?}"
    );
    let authenticator = Authenticator::new(secrets(trust(&both, &both, &["front"])), None);
    let ann = client(&both, "ann", &[]);
    assert_eq!(who(&authenticator, &ann, &[ROOT, MASTERS]).await, "ann||system:authenticated");
    let front = client(&both, "front", &[]);
    assert_eq!(who(&authenticator, &front, &[ROOT]).await, "root||system:authenticated");
    assert_eq!(who(&authenticator, &front, &[]).await, "front||system:authenticated");
    // A bundle among whose certificates is one of the other's counts as well.
    let bundle = [authority("third").certificate_pem(), pem].concat();
    let refused = ClientTrust::new(Some(pem), Some(FrontProxy { ca: &bundle, allowed_names: &[] }));
    assert!(matches!(refused, Err(TrustError::SharedAuthority { .. })));
}

#[tokio::test]
async fn certificates_count_while_they_are_valid() {
    let clients = authority("clients");
    let authenticator = Authenticator::new(secrets(trust(&clients, &authority("proxies"), &[])), None);
    let now = std::time::SystemTime::now();
    let minute = Duration::from_secs(60);
    for (from, until, expected) in [
        (now - 2 * minute, now + minute, "ann||system:authenticated"),
        (now - 2 * minute, now - minute, "401"),
        (now + minute, now + 2 * minute, "401"),
    ] {
        let leaf = Leaf::client("ann").valid_between(from, until);
        let chain = chain(&clients.issue(&leaf).unwrap());
        assert_eq!(who(&authenticator, &chain, &[]).await, expected, "{from:?} to {until:?}");
    }
}

#[tokio::test]
async fn a_reload_judges_open_connections_anew() {
    let (clients, proxies, next) = (authority("clients"), authority("proxies"), authority("next"));
    let authenticator = Authenticator::new(secrets(trust(&clients, &proxies, &[])), None);
    let connection = authenticator.connection(&client(&clients, "ann", &[]), "10.0.0.9:1".parse().unwrap());
    assert_eq!(ask(&authenticator, &connection, &[]).await, "ann||system:authenticated");
    authenticator.reload(Secrets { trust: trust(&next, &proxies, &[]), tokens: TokenFile::default() });
    assert_eq!(ask(&authenticator, &connection, &[]).await, "401");
    assert_eq!(ask(&authenticator, &connection, &[("authorization", "Bearer static-token")]).await, "401");
    authenticator.reload(secrets(trust(&clients, &proxies, &[])));
    assert_eq!(ask(&authenticator, &connection, &[]).await, "ann||system:authenticated");
}

#[tokio::test]
async fn certificates_carry_their_fingerprint() {
    let clients = authority("clients");
    let authenticator = Authenticator::new(secrets(trust(&clients, &authority("proxies"), &[])), None);
    let chain = client(&clients, "ann", &[]);
    let connection = authenticator.connection(&chain, "10.0.0.9:1".parse().unwrap());
    let identity = authenticator.authenticate(&connection, &mut HeaderMap::new()).await.unwrap();
    let fingerprint = &identity.user.extra["authentication.kubernetes.io/credential-id"][0];
    assert_eq!(fingerprint.len(), "X509SHA256=".len() + 64);
    // Connections with the same certificate share what is known of it.
    let second = authenticator.connection(&chain, "10.0.0.9:2".parse().unwrap());
    let again = authenticator.authenticate(&second, &mut HeaderMap::new()).await.unwrap();
    assert!(Arc::ptr_eq(&identity, &again));
}

#[tokio::test]
async fn chains_of_strangers_and_endless_chains_are_not_kept() {
    let clients = authority("clients");
    let authenticator = Authenticator::new(secrets(trust(&clients, &authority("proxies"), &[])), None);
    let stranger = client(&authority("strangers"), "ann", &[]);
    let connect =
        |chain: &[CertificateDer<'_>]| authenticator.connection(chain, "10.0.0.9:1".parse().unwrap());
    let (first, second) = (connect(&stranger).chain.unwrap(), connect(&stranger).chain.unwrap());
    assert!(!Arc::ptr_eq(&first, &second));
    let ann = client(&clients, "ann", &[]);
    let (first, second) = (connect(&ann).chain.unwrap(), connect(&ann).chain.unwrap());
    assert!(Arc::ptr_eq(&first, &second));
    let endless: Vec<_> = std::iter::repeat_n(ann[0].clone(), 100).collect();
    assert!(connect(&endless).chain.is_none());
    assert_eq!(who(&authenticator, &endless, &[]).await, "401");
}

#[tokio::test]
async fn other_tokens_are_the_cores() {
    let core = Arc::new(Core::default());
    let authenticator = Authenticator::new(secrets(ClientTrust::default()), Some(Arc::new(core.clone())));
    let sue = "sue|u|sa,system:authenticated";
    for _ in 0..3 {
        assert_eq!(who(&authenticator, &[], &[("authorization", "Bearer good-sue")]).await, sue);
    }
    assert_eq!(core.asked.load(Ordering::SeqCst), 1, "remembered");
    for _ in 0..3 {
        assert_eq!(who(&authenticator, &[], &[("authorization", "Bearer bad")]).await, "401");
    }
    assert_eq!(core.asked.load(Ordering::SeqCst), 2, "a refusal is remembered too");
    assert_eq!(
        who(&authenticator, &[], &[("authorization", "Bearer static-token")]).await,
        "tom|u7|a,b,system:authenticated"
    );
    assert_eq!(
        who(&authenticator, &[], &[("authorization", "Bearer good- x")]).await,
        "401",
        "a user without a name"
    );
    let before = core.asked.load(Ordering::SeqCst);
    let many = (0..50).map(|_| who(&authenticator, &[], &[("authorization", "Bearer good-max")]));
    for answer in futures_util::future::join_all(many).await {
        assert_eq!(answer, "max|u|sa,system:authenticated");
    }
    assert_eq!(core.asked.load(Ordering::SeqCst), before + 1, "asked once");
}

#[tokio::test]
async fn without_the_core_a_token_is_not_called_wrong() {
    let core = Arc::new(Core::default());
    *core.down.lock().unwrap() = true;
    let authenticator = Authenticator::new(secrets(ClientTrust::default()), Some(Arc::new(core.clone())));
    let connection = authenticator.connection(&[], "10.0.0.9:1".parse().unwrap());
    let mut headers = headers(&[("authorization", "Bearer good-sue")]);
    let status = authenticator.authenticate(&connection, &mut headers).await.unwrap_err();
    assert_eq!((status.code, status.retry_after()), (503, Some(1)));
    assert!(!status.message.contains("10.0.0.1"), "{status}");
    // And a static one is not affected.
    assert_eq!(
        who(&authenticator, &[], &[("authorization", "Bearer static-token")]).await,
        "tom|u7|a,b,system:authenticated"
    );
}

#[tokio::test]
async fn a_front_proxy_may_use_other_header_names() {
    let (clients, proxies) = (authority("clients"), authority("proxies"));
    let names = Names {
        user: vec!["X-Forwarded-User".into(), "X-Auth-Name".into()],
        group: vec!["X-Forwarded-Groups".into()],
        uid: vec!["X-Forwarded-Uid".into()],
        extra_prefix: vec!["X-Forwarded-Extra-".into()],
    };
    let authenticator = Authenticator::new(secrets(trust(&clients, &proxies, &[])), None).header_names(names);
    let proxy = client(&proxies, "proxy", &[]);
    let named = [("x-forwarded-user", "ann"), ("x-forwarded-groups", "dev"), ("x-forwarded-uid", "7")];
    assert_eq!(who(&authenticator, &proxy, &named).await, "ann|7|dev,system:authenticated");
    assert_eq!(who(&authenticator, &proxy, &[("x-auth-name", "bob")]).await, "bob||system:authenticated");
    assert_eq!(who(&authenticator, &proxy, &[ROOT, MASTERS]).await, "401", "these are not its names");
    let user = client(&clients, "eve", &[]);
    assert_eq!(who(&authenticator, &user, &named).await, "eve||system:authenticated");

    // Whoever sends them: a server never sees them.
    let mut lines = headers(&[named[0], named[1], ("x-forwarded-extra-a", "b"), ("x-forwarded-for", "::1")]);
    let connection = authenticator.connection(&user, "10.0.0.9:1".parse().unwrap());
    authenticator.authenticate(&connection, &mut lines).await.unwrap();
    assert_eq!(lines.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-forwarded-for"]);
}
