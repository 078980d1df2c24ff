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

mod forms;

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
