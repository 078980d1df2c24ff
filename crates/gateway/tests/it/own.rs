//! What the door answers itself, over real connections.

use gateway::{audit::Audit, metrics::Metrics};
use http::Version;
use testkit::Client;

use crate::door::{Backend, Door, FLUNDERS, backend};

const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

#[tokio::test(flavor = "multi_thread")]
async fn health_and_version_answer_anybody_and_nothing_else_does() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let nobody = door.anonymous();
    for mut client in [Client::http1(&nobody).await.unwrap(), Client::http2(&nobody).await.unwrap()] {
        for path in
            ["/healthz", "/livez", "/readyz", "/readyz/ping", "/version", "/version/", "/version?timeout=5s"]
        {
            let reply = client.get(path, &[]).await;
            assert_eq!(reply.status, 200, "{path}: {}", reply.text());
            assert_eq!(reply.headers.get_all("audit-id").iter().count(), 1, "{path}");
        }
        assert_eq!(client.get("/readyz", &[]).await.text(), "ok");
        assert!(client.get("/readyz?verbose", &[]).await.text().ends_with("readyz check passed\n"));
        for path in [
            "/",
            "/api",
            "/apis",
            "/metrics",
            "/healthz/servers",
            "/openapi/v2",
            "/openapi/v3",
            "/nothing",
            FLUNDERS,
        ] {
            assert_eq!(client.get(path, &[]).await.status, 401, "{path}");
        }
    }
    assert!(server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn discovery_is_answered_here_whatever_the_server_does() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    server.kill().await;
    for mut client in [door.http1().await, door.http2().await] {
        let got = client.get("/apis?timeout=32s", &[("accept", AGGREGATED)]).await;
        assert_eq!((got.status.as_u16(), got.header("cache-control")), (200, "public"));
        assert_eq!(got.json()["items"][0]["metadata"]["name"], "wardle.example.com");
        assert_eq!(got.json()["items"][0]["versions"][0]["freshness"], "Current");
        let tag = got.header("etag").to_owned();
        let same = client.get("/apis", &[("accept", AGGREGATED), ("if-none-match", &tag)]).await;
        assert_eq!((same.status.as_u16(), same.body.len(), same.header("etag")), (304, 0, tag.as_str()));
        assert_eq!(same.header("cache-control"), "public");

        for (path, kind) in [
            ("/apis/", "APIGroupList"),
            ("/apis/wardle.example.com", "APIGroup"),
            ("/apis/wardle.example.com/v1/", "APIResourceList"),
        ] {
            let got = client.get(path, &[]).await;
            assert_eq!(got.json()["kind"], kind);
            assert_eq!(got.header("cache-control"), "no-cache, private");
            let head = client.request("HEAD", path, &[], "").await;
            assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
            assert_eq!(head.header("content-length"), got.body.len().to_string());
            assert_eq!(head.header("etag"), got.header("etag"));
        }
        let refused = client.request("POST", "/apis", &[("content-type", "application/json")], "{}").await;
        assert_eq!((refused.status.as_u16(), refused.header("allow")), (405, "GET, HEAD"));
        let missing = client.get("/nothing/here", &[]).await;
        assert_eq!((missing.status.as_u16(), missing.text().as_str()), (404, "404 page not found\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_and_reports_are_for_the_authorized() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let mut alice = door.http2().await;
    assert_eq!(alice.get(FLUNDERS, &[]).await.status, 200);
    for path in ["/metrics", "/healthz/servers"] {
        let refused = alice.get(path, &[]).await;
        assert_eq!(refused.status, 403, "{path}");
        let message = refused.json()["message"].as_str().unwrap().to_owned();
        assert!(
            message.starts_with(&format!("forbidden: User \"alice\" cannot get path \"{path}\"")),
            "{message}"
        );
    }
    let mut admin = Client::http1(&door.admin()).await.unwrap();
    let metrics = admin.get("/metrics", &[]).await;
    assert_eq!(metrics.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let text = metrics.text();
    let counted = text.lines().find(|line| {
        line.starts_with("apiserver_request_total{verb=\"LIST\",group=\"wardle.example.com\"")
            && line.ends_with("code=\"200\"} 1")
    });
    assert!(counted.is_some(), "{text}");
    let report = admin.get("/healthz/servers", &[]).await;
    assert_eq!((report.version, report.header("content-type")), (Version::HTTP_11, "application/json"));
    assert!(report.json()["servers"].is_array());
    let page = admin.get("/healthz/servers", &[("accept", "text/html,*/*;q=0.1")]).await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert!(page.text().starts_with("<!DOCTYPE html>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_door_that_only_summarises_passes_nothing_on() {
    let (pki, server) = backend().await;
    let direct = Backend::wardle(&pki, &[&server])
        .changed(|server| server.direct_address = Some("wardle.example.com:443".to_owned()));
    let door = Door::configured(&pki, vec![direct], |config| config.discovery_only = true).await;
    let mut client = door.http2().await;
    let groups = client.get("/apis", &[]).await.json();
    let address = &groups["groups"][0]["serverAddressByClientCIDRs"][0]["serverAddress"];
    assert_eq!(address, "wardle.example.com:443");
    assert_eq!(client.get("/readyz", &[]).await.status, 200);
    for path in [FLUNDERS, "/nothing/here", "/apis/nobody.example.com"] {
        let refused = client.get(path, &[]).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["kind"]), (501, &"Status".into()), "{path}");
    }
    assert_eq!(Client::http2(&door.anonymous()).await.unwrap().get(FLUNDERS, &[]).await.status, 401);
    assert!(server.requests().is_empty());
}

/// The core's paths are the core's to show.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_paths_has_the_cores_for_whom_the_core_lets_see_them() {
    let pki = std::sync::Arc::new(testkit::TempPki::new());
    let core = testkit::FakeServer::builder().tls(&pki, testkit::Serving::Good).handler(|request| {
        (request.target == "/").then(|| {
            testkit::fake::json(http::StatusCode::OK, &serde_json::json!({"paths": ["/apis", "/logs"]}))
        })
    });
    let core = core.start().await;
    let paths = |reply: testkit::Reply| reply.json()["paths"].as_array().unwrap().clone();

    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&core]), Backend::core(&pki, &[&core])]).await;
    let mut admin = Client::http2(&door.admin()).await.unwrap();
    for path in ["/", "/index.html"] {
        let listed = paths(admin.get(path, &[]).await);
        for path in ["/apis/wardle.example.com/v1", "/healthz/servers", "/logs"] {
            assert_eq!(listed.iter().filter(|listed| **listed == path).count(), 1, "{path} in {listed:?}");
        }
        assert_eq!(door.http2().await.get(path, &[]).await.status, 403, "{path}");
    }

    let alone = Door::start(&pki, vec![Backend::wardle(&pki, &[&core])]).await;
    let listed = paths(alone.http2().await.get("/", &[]).await);
    assert!(listed.contains(&"/apis/wardle.example.com".into()) && !listed.contains(&"/logs".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_audited_when_their_answers_end() {
    let (pki, server) = backend().await;
    let path = pki.dir().join("audit.log");
    let audit = Audit::to_file(&path, &Metrics::default()).unwrap();
    let door = Door::configured(&pki, vec![Backend::wardle(&pki, &[&server])], |config| {
        config.audit = audit.clone()
    })
    .await;
    let mut admin = Client::http2(&door.admin()).await.unwrap();
    let reply = admin.get(FLUNDERS, &[("impersonate-user", "ann"), ("user-agent", "test/1")]).await;
    admin.get("/apis", &[]).await;
    let refused = door.http1().await.get("/metrics", &[]).await;
    assert_eq!(refused.status, 403);
    let mut nobody = Client::http1(&door.anonymous()).await.unwrap();
    let unknown = nobody.get("/apis/unknown", &[("authorization", "Bearer of-nobody")]).await;
    assert_eq!(unknown.status, 401);
    // An event is written after its client has the answer.
    let lines = loop {
        tokio::task::spawn_blocking({
            let audit = audit.clone();
            move || audit.flush()
        })
        .await
        .unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        if lines.len() >= 4 {
            break lines;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    let event = |uri: &str| lines.iter().find(|line| line["requestURI"] == uri).unwrap();
    let list = event(FLUNDERS);
    assert_eq!((&list["verb"], &list["responseStatus"]["code"]), (&"list".into(), &200.into()));
    assert_eq!(
        (&list["user"]["username"], &list["impersonatedUser"]["username"]),
        (&"admin".into(), &"ann".into())
    );
    assert_eq!(list["annotations"]["federation.trellis.dev/server"], "wardle");
    assert_eq!(list["auditID"], reply.header("audit-id"));
    assert_eq!((&list["userAgent"], &list["sourceIPs"][0]), (&"test/1".into(), &"127.0.0.1".into()));
    assert!(event("/apis").get("annotations").is_none(), "the door's own answer");
    assert_eq!(event("/metrics")["responseStatus"]["code"], 403);
    let stranger = event("/apis/unknown");
    assert_eq!((&stranger["user"], &stranger["level"]), (&serde_json::json!({}), &"Metadata".into()));
    assert_eq!(stranger["responseStatus"]["code"], 401);
    assert_eq!(
        (&stranger["auditID"], &stranger["sourceIPs"][0]),
        (&unknown.header("audit-id").into(), &"127.0.0.1".into())
    );
    assert!(!lines.iter().any(|line| line.to_string().contains("of-nobody")), "a token in the log");
}
