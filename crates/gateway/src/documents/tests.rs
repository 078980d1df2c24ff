use std::{
    collections::BTreeMap,
    io,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use catalog::{
    Contribution, Discovery, DocumentRef, Documents, Failure, GroupOffer, OpenApi, Origin, Ownership, Role,
    Selection, ServerName, VersionOffer,
};
use futures_util::future::BoxFuture;
use http::{HeaderMap, Request};
use http_body_util::BodyExt as _;
use kube_wire::etag;

use super::*;

/// Documents in memory, which counts how often it is read.
#[derive(Default)]
struct Store {
    documents: Mutex<BTreeMap<String, Bytes>>,
    read: AtomicUsize,
}

impl Store {
    fn put(&self, text: &str) -> DocumentRef {
        let hash = etag::sha512_hex(text.as_bytes());
        self.documents.lock().unwrap().insert(hash.clone(), Bytes::from(text.to_owned()));
        DocumentRef { hash: hash.into(), len: text.len() as u64 }
    }
}

impl Documents for Store {
    fn get(&self, document: &DocumentRef) -> io::Result<Bytes> {
        self.read.fetch_add(1, Ordering::SeqCst);
        let documents = self.documents.lock().unwrap();
        documents.get(&*document.hash).cloned().ok_or_else(|| io::Error::other("lost"))
    }
}

const V3: &str = "{\"openapi\":\"3.0.0\"}";

fn swagger(group: &str) -> String {
    format!(
        "{{\"swagger\":\"2.0\",\"info\":{{\"title\":\"{group}\",\"version\":\"v1\"}},\
         \"paths\":{{\"/apis/{group}/v1/things\":{{\"get\":{{\"responses\":{{\"200\":{{\"description\":\"OK\"}}}}}}}}}},\
         \"definitions\":{{}}}}"
    )
}

fn contribution(store: &Store, name: &str, group: &str) -> Contribution {
    let resources = "[{\"resource\":\"things\",\"responseKind\":{\"group\":\"\",\"version\":\"\",\"kind\":\"Thing\"},\
         \"scope\":\"Namespaced\",\"singularResource\":\"thing\",\"verbs\":[\"get\"]}]";
    let version = VersionOffer {
        version: "v1".to_owned(),
        resources: serde_json::value::RawValue::from_string(resources.to_owned()).unwrap().into(),
        legacy: None,
        current: true,
    };
    let offer = GroupOffer { name: group.to_owned(), versions: vec![version], origin: Origin::Server };
    let server = catalog::Server {
        name: ServerName::new(name),
        revision: 1,
        role: Role::Federated,
        endpoints: Vec::new(),
        base_path: String::new(),
        trust: catalog::Trust { roots: catalog::Roots::System, server_name: None, skip_verification: false },
        identity: catalog::IdentityMode::RequestHeader,
        credentials: catalog::Credentials::default(),
        limits: catalog::Limits::default(),
        direct_address: None,
    };
    Contribution {
        server: Arc::new(server),
        registered_at: 1,
        selection: Selection::All { group_priority: 1000, version_priority: 15 },
        discovery: Some(Arc::new(Discovery { core: Vec::new(), groups: vec![offer] })),
        openapi: Arc::new(OpenApi {
            v2: Some(store.put(&swagger(group))),
            v3: BTreeMap::from([(format!("apis/{group}/v1"), store.put(V3))]),
        }),
    }
}

struct World {
    store: Arc<Store>,
    documents: Arc<dyn Documents>,
    catalog: Arc<Catalog>,
    v2: openapi_v2::OpenApiV2,
}

fn world() -> World {
    let store = Arc::new(Store::default());
    let offers = [
        contribution(&store, "wardle", "wardle.example.com"),
        contribution(&store, "other", "other.example.com"),
    ];
    let catalog = Catalog::build(&Ownership::default(), 1, &offers).catalog;
    World {
        documents: store.clone(),
        store,
        catalog: Arc::new(catalog),
        v2: openapi_v2::OpenApiV2::default(),
    }
}

fn parts(method: &str, uri: &str, lines: &[(&str, &str)]) -> Parts {
    let request = lines
        .iter()
        .fold(Request::builder().method(method).uri(uri), |r, (name, value)| r.header(*name, *value));
    request.body(()).unwrap().into_parts().0
}

struct Got {
    code: u16,
    headers: HeaderMap,
    body: String,
}

impl Got {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}

async fn got(response: Response<Body>) -> Got {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    Got {
        code: parts.status.as_u16(),
        headers: parts.headers,
        body: String::from_utf8_lossy(&bytes).into_owned(),
    }
}

const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
const BETA: &str = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

async fn discover(world: &World, method: &str, uri: &str, lines: &[(&str, &str)]) -> Option<Got> {
    let parts = parts(method, uri, lines);
    let response = discovery::answer(&world.catalog, &parts)?;
    Some(got(only_reading(&parts, response)).await)
}

#[tokio::test]
async fn discovery_has_its_forms() {
    let world = world();
    let legacy = "application/json";
    let cases = [
        ("/apis", AGGREGATED, 200, "APIGroupDiscoveryList", catalog::Document::AGGREGATED, "public"),
        ("/apis/", AGGREGATED, 200, "APIGroupDiscoveryList", catalog::Document::AGGREGATED, "public"),
        ("/apis", "", 200, "APIGroupList", legacy, ""),
        ("/apis?timeout=32s", "*/*", 200, "APIGroupList", legacy, ""),
        ("/api/", "application/json, */*", 200, "APIVersions", legacy, ""),
        ("/api", AGGREGATED, 200, "APIGroupDiscoveryList", catalog::Document::AGGREGATED, "public"),
        ("/apis/wardle.example.com", AGGREGATED, 200, "APIGroup", legacy, ""),
        ("/apis/wardle.example.com/", "", 200, "APIGroup", legacy, ""),
        ("/apis/wardle.example.com/v1", "", 200, "APIResourceList", legacy, ""),
        ("/apis/wardle.example.com/v1/", "*/*", 200, "APIResourceList", legacy, ""),
        ("/apis", BETA, 406, "Status", legacy, ""),
        ("/apis/wardle.example.com", "text/html", 406, "Status", legacy, ""),
    ];
    for (uri, accept, code, kind, content_type, cache) in cases {
        let got = discover(&world, "GET", uri, &[("accept", accept)]).await.unwrap();
        assert_eq!(
            (got.code, got.header("content-type"), got.header("cache-control")),
            (code, content_type, cache),
            "{uri} {accept}"
        );
        let object: serde_json::Value = serde_json::from_str(&got.body).unwrap();
        assert_eq!(object["kind"], kind, "{uri} {accept}");
        if code == 200 {
            assert_eq!(got.header("vary"), "Accept");
            // Strong, with the 128 digits of a SHA-512.
            let tag = got.header("etag");
            assert!(tag.len() == 130 && tag.starts_with('"') && tag.ends_with('"'), "{tag}");
        }
    }
    let wrong = discover(&world, "GET", "/apis?timeout=abc", &[]).await.unwrap();
    assert_eq!(wrong.code, 400);
    assert!(wrong.body.contains("invalid timeout specified in the request URL"), "{}", wrong.body);
    for unknown in ["/apis/nobody.example.com", "/apis/wardle.example.com/v9", "/api/v1", "/apis//"] {
        assert!(discover(&world, "GET", unknown, &[]).await.is_none(), "{unknown}");
    }
}

/// Accept, User-Agent, the answer's type, and what its body begins with.
#[tokio::test]
async fn discovery_has_its_encodings() {
    const YAML: &str = "application/yaml";
    const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
    let world = world();
    let of = |encoding: &str| AGGREGATED.split(',').next().unwrap().replace("application/json", encoding);
    let cases = [
        ("/apis", YAML, "", YAML, "apiVersion: v1\ngroups:\n- name: "),
        ("/apis/wardle.example.com", YAML, "", YAML, "apiVersion: v1\nkind: APIGroup\n"),
        ("/apis/wardle.example.com/v1", YAML, "", YAML, "apiVersion: v1\ngroupVersion: wardle"),
        ("/api", PROTOBUF, "", PROTOBUF, "k8s\0"),
        ("/apis", PROTOBUF, "", PROTOBUF, "k8s\0\n\u{12}\n\u{2}v1\u{12}\u{c}APIGroupList"),
        ("/apis/wardle.example.com/v1", PROTOBUF, "", PROTOBUF, "k8s\0"),
        ("/apis", "*/*", "curl/8.5.0", catalog::Document::JSON, "{\n  \"kind\": \"APIGroupList\""),
        ("/apis?pretty=1", "", "", catalog::Document::JSON, "{\n  \"kind\": \"APIGroupList\""),
        ("/apis?pretty=0", "*/*", "curl/8.5.0", catalog::Document::JSON, "{\"kind\":\"APIGroupList\""),
        ("/apis", &of(YAML), "", catalog::Document::AGGREGATED_YAML, "apiVersion: apidiscovery.k8s.io/v2\n"),
        ("/apis", &of(PROTOBUF), "", catalog::Document::AGGREGATED_PROTOBUF, "k8s\0"),
    ];
    let mut tags = std::collections::BTreeSet::new();
    for (uri, accept, agent, content_type, start) in cases {
        let lines = [("accept", accept), ("user-agent", agent)];
        let got = discover(&world, "GET", uri, &lines).await.unwrap();
        assert_eq!((got.code, got.header("content-type")), (200, content_type), "{uri} {accept}");
        assert!(got.body.starts_with(start), "{uri} {accept}: {}", got.body);
        let lines = [("if-none-match", got.header("etag")), lines[0], lines[1]];
        assert_eq!(discover(&world, "GET", uri, &lines).await.unwrap().code, 304, "{uri} {accept}");
        tags.insert((uri.split('?').next(), got.header("etag").to_owned()));
    }
    assert_eq!(tags.len(), cases.len() - 1, "a strong tag names one encoding of one document");
}

#[tokio::test]
async fn conditional_requests_and_head() {
    let world = world();
    let tag = discover(&world, "GET", "/apis", &[]).await.unwrap().header("etag").to_owned();
    let aggregated = discover(&world, "GET", "/apis", &[("accept", AGGREGATED)]).await.unwrap();
    assert_ne!(tag, aggregated.header("etag"), "each form has its own");
    for (condition, code) in [
        (tag.clone(), 304),
        (format!("W/{tag}"), 304),
        (format!("\"x\", {tag}"), 304),
        ("*".to_owned(), 304),
        (format!("\"x\", W/{tag}"), 304),
        ("\"x\"".to_owned(), 200),
        (aggregated.header("etag").to_owned(), 200),
    ] {
        let got = discover(&world, "GET", "/apis", &[("if-none-match", &condition)]).await.unwrap();
        assert_eq!(got.code, code, "{condition}");
        assert_eq!((got.header("etag"), got.header("vary")), (tag.as_str(), "Accept"));
        assert_eq!(got.body.is_empty(), code == 304);
        assert_eq!(got.headers.contains_key("content-type"), code == 200);
    }
    let both = discover(&world, "GET", "/apis", &[("if-none-match", "\"x\""), ("if-none-match", &tag)])
        .await
        .unwrap();
    assert_eq!(both.code, 304);
    let get = discover(&world, "GET", "/apis", &[]).await.unwrap();
    let head = discover(&world, "HEAD", "/apis", &[]).await.unwrap();
    assert_eq!((head.code, head.body.as_str()), (200, ""));
    assert_eq!(head.header("content-length"), get.body.len().to_string());
    assert_eq!(head.header("etag"), tag);
    let post = discover(&world, "POST", "/apis", &[]).await.unwrap();
    assert_eq!((post.code, post.header("allow")), (405, "GET, HEAD"));
    assert!(post.body.contains("\"reason\":\"MethodNotAllowed\""), "{}", post.body);
}

async fn v3(world: &World, uri: &str, lines: &[(&str, &str)]) -> Got {
    let name = "apis/wardle.example.com/v1";
    let document = world.catalog.openapi_v3(name).unwrap().clone();
    got(openapi_v3::answer(&world.documents, &parts("GET", uri, lines), name, &document).await).await
}

#[tokio::test]
async fn openapi_v3_documents_are_found_by_hash() {
    let world = world();
    let hash = etag::sha512_hex(V3.as_bytes());
    let path = "/openapi/v3/apis/wardle.example.com/v1";
    let index = got(conditional::document(
        &parts("GET", "/openapi/v3", &[]),
        world.catalog.openapi_v3_index(),
        conditional::Cache::Default,
    ))
    .await;
    assert!(index.body.contains(&format!("\"{path}?hash={hash}\"")), "{}", index.body);
    assert_eq!(index.header("etag"), etag::strong(index.body.as_bytes()));

    let right = v3(&world, &format!("{path}?hash={hash}&timeout=32s"), &[]).await;
    assert_eq!((right.code, right.body.as_str()), (200, V3));
    assert_eq!(right.header("cache-control"), "public, immutable");
    assert_eq!(right.header("etag"), format!("\"{hash}\""));
    assert!(right.header("expires").ends_with(" GMT"));

    let plain = v3(&world, path, &[("accept", "application/json, */*")]).await;
    assert_eq!((plain.code, plain.header("cache-control"), plain.header("expires")), (200, "", ""));
    assert_eq!(plain.header("etag"), format!("\"{hash}\""));

    let stale = v3(&world, &format!("{path}?timeout=32s&hash=OLD"), &[]).await;
    assert_eq!((stale.code, stale.header("location")), (301, format!("{path}?hash={hash}").as_str()));

    let reads = world.store.read.load(Ordering::SeqCst);
    let known = v3(&world, path, &[("if-none-match", &format!("W/\"{hash}\""))]).await;
    assert_eq!((known.code, known.body.as_str()), (304, ""));
    let protobuf = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
    let refused = v3(&world, path, &[("accept", protobuf)]).await;
    assert_eq!((refused.code, refused.body.as_str()), (406, ""));
    assert_eq!(world.store.read.load(Ordering::SeqCst), reads, "nothing was read for these");

    world.store.documents.lock().unwrap().clear();
    let lost = v3(&world, path, &[]).await;
    assert_eq!((lost.code, lost.header("retry-after")), (503, "1"));
}

async fn v2(world: &World, lines: &[(&str, &str)]) -> Got {
    got(world.v2.answer(&world.catalog, &world.documents, &parts("GET", "/openapi/v2", lines)).await).await
}

#[tokio::test]
async fn openapi_v2_is_merged_once_for_all_who_ask() {
    let world = world();
    let answers = futures_util::future::join_all((0..20).map(|_| v2(&world, &[]))).await;
    let reads = world.store.read.load(Ordering::SeqCst);
    for answer in &answers {
        assert_eq!((answer.code, answer.header("content-type")), (200, "application/json"));
        assert!(answer.body.contains("/apis/wardle.example.com/v1/things"), "{}", answer.body);
        assert!(answer.body.contains("/apis/other.example.com/v1/things"));
        assert_eq!(answer.header("etag"), etag::strong(answer.body.as_bytes()));
    }
    let tag = answers[0].header("etag");
    assert_eq!(v2(&world, &[("if-none-match", tag)]).await.code, 304);
    let protobuf =
        v2(&world, &[("accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")]).await;
    assert_eq!((protobuf.code, protobuf.header("content-type")), (200, catalog::openapi::V2_PROTOBUF));
    assert_eq!(v2(&world, &[("accept", "text/html")]).await.code, 406);
    assert_eq!(world.store.read.load(Ordering::SeqCst), reads, "read for one merge only");
}

#[tokio::test]
async fn a_new_catalog_has_a_new_openapi_v2() {
    let mut world = world();
    let before = v2(&world, &[]).await;
    let offers = [contribution(&world.store, "wardle", "wardle.example.com")];
    world.catalog = Arc::new(Catalog::build(&Ownership::default(), 2, &offers).catalog);
    let after = v2(&world, &[]).await;
    assert_ne!(before.header("etag"), after.header("etag"));
    assert!(!after.body.contains("other.example.com"));
}

/// A core that tells its version as often as it is asked, until it is down.
#[derive(Default)]
struct Core {
    asked: AtomicUsize,
    hangs: bool,
}

impl CoreClient for Arc<Core> {
    fn post_json(&self, _: &'static str, _: Bytes) -> BoxFuture<'static, Result<Bytes, Failure>> {
        unreachable!("nothing is posted for documents")
    }

    fn get(&self, path: &'static str) -> BoxFuture<'static, Result<Bytes, Failure>> {
        assert_eq!(path, "/version");
        let (number, hangs) = (self.asked.fetch_add(1, Ordering::SeqCst), self.hangs);
        Box::pin(async move {
            if hangs {
                std::future::pending::<()>().await;
            }
            Ok(format!("{{\"gitVersion\":\"v1.36.{number}\"}}").into())
        })
    }
}

#[tokio::test(start_paused = true)]
async fn the_version_is_the_cores_last_known() {
    let core = Arc::new(Core::default());
    let version = version::Version::new(Arc::new(core.clone()));
    let own = got(version.answer(false).await).await;
    assert!(own.body.contains("+trellis"), "{}", own.body);
    for _ in 0..3 {
        assert_eq!(got(version.answer(true).await).await.body, "{\"gitVersion\":\"v1.36.0\"}");
    }
    assert_eq!(core.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_core_that_hangs_is_not_waited_for() {
    let core = Arc::new(Core { hangs: true, ..Core::default() });
    let version = version::Version::new(Arc::new(core.clone()));
    let begun = tokio::time::Instant::now();
    for _ in 0..3 {
        assert!(got(version.answer(true).await).await.body.contains("+trellis"));
    }
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert_eq!(core.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_root_lists_paths() {
    let world = world();
    let checks = Checks::new(|| true, || true, Vec::new());
    let of_core = br#"{"paths": ["/apis", "/logs", "/livez/etcd"]}"#;
    let got = got(paths::answer(&world.catalog, &checks, of_core)).await;
    let list: serde_json::Value = serde_json::from_str(&got.body).unwrap();
    let paths: Vec<_> = list["paths"].as_array().unwrap().iter().filter_map(|path| path.as_str()).collect();
    for path in [
        "/apis",
        "/apis/wardle.example.com/v1",
        "/healthz/ping",
        "/livez/etcd",
        "/logs",
        "/readyz/shutdown",
        "/version",
        "/openapi/v3",
    ] {
        assert!(paths.contains(&path), "{path} in {paths:?}");
    }
    assert!(paths.is_sorted_by(|a, b| a < b), "{paths:?}");
}

#[test]
fn a_door_that_only_summarises_says_so() {
    let own =
        |only| Own::new(Checks::new(|| true, || true, Vec::new()), Arc::new(Arc::new(Core::default())), only);
    assert!(own(false).passes_on().is_ok());
    let refused = own(true).passes_on().unwrap_err();
    assert_eq!(refused.code, 501);
    assert!(refused.message.contains("serverAddressByClientCIDRs"));
}
