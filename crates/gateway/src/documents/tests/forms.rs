//! Discovery: its forms and encodings, conditional requests.

use super::*;

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
