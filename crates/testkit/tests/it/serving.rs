use pki::{ALPN_H2, ALPN_HTTP1};
use serde_json::json;
use testkit::{Client, FakeServer, Group, Resource, Serving, Target, TempPki};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

async fn secure(pki: &TempPki) -> (FakeServer, Target) {
    let server = FakeServer::builder().tls(pki, Serving::Good).start().await;
    let target = Target::tls(server.address(), pki.server_ca.certificate_pem());
    (server, target)
}

#[tokio::test]
async fn serves_discovery_in_both_forms_with_etags() {
    let pki = TempPki::new();
    let (_server, target) = secure(&pki).await;
    let mut client = Client::http2(&target).await.unwrap();
    let reply = client.get("/apis", &[("accept", AGGREGATED)]).await;
    assert_eq!(reply.header("content-type"), AGGREGATED);
    assert_eq!(reply.json()["items"][0]["versions"][0]["resources"][0]["resource"], "flunders");
    let etag = reply.header("etag").to_owned();
    let again = client.get("/apis", &[("accept", AGGREGATED), ("if-none-match", &etag)]).await;
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    let legacy = client.get("/apis", &[]).await.json();
    assert_eq!(legacy["groups"][0]["preferredVersion"]["groupVersion"], "wardle.example.com/v1");
    let resources = client.get("/apis/wardle.example.com/v1", &[]).await.json();
    assert_eq!(resources["resources"][0]["kind"], "Flunder");
}

#[tokio::test]
async fn several_versions_make_one_group() {
    let resources = [Resource::cluster("things", "Thing")];
    let server = FakeServer::builder()
        .group(Group::new("a.example.com", "v2", resources.clone()))
        .group(Group::new("a.example.com", "v1", resources))
        .legacy_discovery_only()
        .start()
        .await;
    let mut client = Client::http1(&Target::clear(server.address())).await.unwrap();
    let list = client.get("/apis", &[("accept", AGGREGATED)]).await.json();
    assert_eq!(list["kind"], "APIGroupList");
    assert_eq!(list["groups"].as_array().map(Vec::len), Some(1));
    assert_eq!(list["groups"][0]["versions"][1]["version"], "v1");
}

#[tokio::test]
async fn the_index_of_openapi_names_documents_that_are_there() {
    let server = FakeServer::builder().openapi_padding(1000).start().await;
    let mut client = Client::http1(&Target::clear(server.address())).await.unwrap();
    let index = client.get("/openapi/v3", &[]).await.json();
    let url = index["paths"]["apis/wardle.example.com/v1"]["serverRelativeURL"].as_str().unwrap().to_owned();
    let document = client.get(&url, &[]).await;
    let etag = document.header("etag").trim_matches('"').to_owned();
    assert!(url.ends_with(&etag), "{url} against {etag}");
    assert!(document.body.len() > 1000);
    assert_eq!(client.get("/openapi/v2", &[]).await.json()["swagger"], "2.0");
}

#[tokio::test]
async fn objects_are_stored_listed_changed_and_watched() {
    use http_body_util::BodyExt as _;
    let server = FakeServer::builder().start().await;
    let target = Target::clear(server.address());
    let mut client = Client::http1(&target).await.unwrap();
    let all = "/apis/wardle.example.com/v1/namespaces/default/flunders";
    let object = json!({"kind": "Flunder", "metadata": {"name": "a"}, "spec": {"x": 1, "y": 2}}).to_string();
    assert_eq!(client.request("POST", all, &[], object.clone()).await.status, 201);
    assert_eq!(client.request("POST", all, &[], object).await.status, 409);

    let mut watcher = Client::http1(&target).await.unwrap();
    let watch = http::Request::get("/apis/wardle.example.com/v1/flunders?watch=true");
    let mut events = watcher.open(watch.body(testkit::client::out("")).unwrap()).await.unwrap().into_body();
    let mut next = async || {
        let line = events.frame().await.unwrap().unwrap().into_data().unwrap();
        serde_json::from_slice::<serde_json::Value>(&line).unwrap()
    };
    assert_eq!(next().await["type"], "ADDED");

    let one = format!("{all}/a");
    let patch = json!({"spec": {"x": null, "z": 3}}).to_string();
    assert_eq!(client.request("PATCH", &one, &[], patch).await.json()["spec"], json!({"y": 2, "z": 3}));
    assert_eq!(next().await["type"], "MODIFIED");
    let other = client.get("/apis/wardle.example.com/v1/namespaces/other/flunders", &[]).await;
    assert_eq!(other.json()["items"], json!([]));
    assert_eq!(client.get(all, &[]).await.json()["items"][0]["metadata"]["namespace"], "default");
    assert_eq!(client.request("DELETE", &one, &[], "").await.status, 200);
    assert_eq!(next().await["type"], "DELETED");
    assert_eq!(client.get(&one, &[]).await.status, 404);
}

#[tokio::test]
async fn requests_are_recorded_as_they_came() {
    use bytes::Bytes;
    use http_body::Frame;
    let pki = TempPki::new();
    let server = FakeServer::builder()
        .tls(&pki, Serving::Good)
        .require_client(pki.client_ca.certificate_pem())
        .start()
        .await;
    let target = Target::tls(server.address(), pki.server_ca.certificate_pem());
    let user = target.clone().identity(pki.user("jane", &["a", "b"]));
    for http2 in [false, true] {
        let mut client = match http2 {
            true => Client::http2(&user).await.unwrap(),
            false => Client::http1(&user).await.unwrap(),
        };
        let trailers = http::HeaderMap::from_iter([(
            http::HeaderName::from_static("x_remote-user"),
            http::HeaderValue::from_static("root"),
        )]);
        let frames = [Frame::data(Bytes::from_static(b"abc")), Frame::trailers(trailers)];
        let body = Frames(frames.into_iter());
        let request = http::Request::post("/a%2Fb?z=1&a=%20&act=echo")
            .header("X_Remote_User", "evil")
            .header("trailer", "x_remote-user")
            .body(testkit::client::OutBody::new(body))
            .unwrap();
        let echoed = client.send(request).await.unwrap().json();
        assert_eq!(echoed["target"], "/a%2Fb?z=1&a=%20&act=echo");
        let recorded = server.last_request();
        assert_eq!(recorded.peer.as_deref(), Some("jane"));
        assert_eq!(recorded.body_sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(recorded.cgi()["HTTP_X_REMOTE_USER"], [b"evil".to_vec(), b"root".to_vec()]);
        assert_eq!(recorded.authority, server.address().to_string());
    }
    let refused = Client::http1(&target).await;
    let answered = match refused {
        Err(_) => false,
        Ok(mut client) => {
            client.send(http::Request::get("/").body(testkit::client::out("")).unwrap()).await.is_ok()
        }
    };
    assert!(!answered, "a client without a certificate got an answer");
}

struct Frames<I>(I);

impl<I: Iterator<Item = http_body::Frame<bytes::Bytes>> + Unpin> http_body::Body for Frames<I> {
    type Data = bytes::Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        std::task::Poll::Ready(self.0.next().map(Ok))
    }
}

#[tokio::test]
async fn protocols_can_be_narrowed() {
    let pki = TempPki::new();
    let ca = pki.server_ca.certificate_pem();
    let old = FakeServer::builder().tls(&pki, Serving::Good).http1_only().start().await;
    assert!(Target::tls(old.address(), ca).connect(ALPN_H2).await.is_err());
    let new = FakeServer::builder().tls(&pki, Serving::Good).http2_only().start().await;
    assert!(Target::tls(new.address(), ca).connect(ALPN_HTTP1).await.is_err());
    for (serving, accepted) in [
        (Serving::Good, true),
        (Serving::WrongName, false),
        (Serving::Expired, false),
        (Serving::NotYetValid, false),
        (Serving::UnknownAuthority, false),
    ] {
        let server = FakeServer::builder().tls(&pki, serving).start().await;
        let connected = Target::tls(server.address(), ca).connect(ALPN_H2).await;
        assert_eq!(connected.is_ok(), accepted, "{serving:?}");
    }
}

#[tokio::test]
async fn raw_bytes_arrive_and_are_kept() {
    let server = FakeServer::builder().record_raw().start().await;
    let mut raw = testkit::client::Raw::connect(&Target::clear(server.address())).await.unwrap();
    let sent = b"GET /healthz HTTP/1.1\r\nHoST: x\r\nX-tEsT:  a\r\nConnection: close\r\n\r\n";
    raw.write(sent).await.unwrap();
    let answer = raw.read_all(std::time::Duration::from_secs(30)).await;
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n") && answer.ends_with(b"ok"));
    assert_eq!(server.raw(), sent);
}
