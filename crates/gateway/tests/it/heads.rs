//! What a backend sees of a request, and a client of an answer.

use testkit::{Act, Client};

use crate::door::{Backend, Door, FLUNDERS, backend, backend_http1};

#[tokio::test(flavor = "multi_thread")]
async fn a_request_reaches_its_server_and_the_answer_its_client() {
    let (pki, server) = backend().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    for mut client in [door.http1().await, door.http2().await] {
        let reply = client.get(FLUNDERS, &[("accept", "application/json")]).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        let seen = server.last_request();
        assert_eq!(seen.version, http::Version::HTTP_2);
        assert_eq!(seen.target, FLUNDERS);
        assert_eq!(seen.header("x-remote-user"), "alice");
        assert_eq!(seen.header_values("x-remote-group"), ["dev", "system:authenticated"]);
        assert_eq!(seen.authority, server.address().to_string());
        assert_eq!(seen.header("x-forwarded-for"), "127.0.0.1");
        assert_eq!(seen.header("x-forwarded-host"), door.address.to_string());
        assert_eq!(seen.header("x-forwarded-proto"), "https");
        assert_eq!(seen.header("x-forwarded-uri"), FLUNDERS);
        assert_eq!(seen.header("audit-id"), reply.header("audit-id"));
        assert_eq!(seen.header("traceparent").len(), 55);
        assert_eq!(reply.headers.get_all("audit-id").iter().count(), 1);
        assert_eq!(reply.header("cache-control"), "no-cache, private");
    }
}

/// Path and query arrive byte for byte, over both protocols and behind a prefix.
#[tokio::test(flavor = "multi_thread")]
async fn paths_and_queries_are_not_touched() {
    let cases = [
        "/apis/wardle.example.com/v1/namespaces/default/flunders/a%2Fb",
        "/apis/wardle.example.com/v1/namespaces/default/flunders/%e4%B8%ad",
        "/apis/wardle.example.com/v1/flunders?zeta=1&alpha=2&x=%2F&bad;x=1&=&&",
        "/apis/wardle.example.com/v1/flunders/?q=a+b%20c",
        "/apis/wardle.example.com/v1/flunders/a:b@c!$'()*,;=~",
        "/apis/wardle.example.com/v1/flunders?empty",
        "/apis/wardle.example.com/v1/flunders?",
    ];
    for (pki, server) in [backend().await, backend_http1().await] {
        let backend = Backend::wardle(&pki, &[&server]);
        for prefix in ["", "/behind/a%20prefix"] {
            let prefixed = backend.clone().changed(|server| prefix.clone_into(&mut server.base_path));
            let door = Door::start(&pki, vec![prefixed]).await;
            for mut client in [door.http1().await, door.http2().await] {
                for case in cases {
                    client.get(case, &[]).await;
                    let seen = server.last_request().target;
                    // A query that is there but empty is the same resource; the library drops the mark.
                    assert_eq!(seen.trim_end_matches('?'), format!("{prefix}{case}").trim_end_matches('?'));
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forwarded_headers_are_ours_and_the_chain_goes_on() {
    let (pki, server) = backend_http1().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    let lies = [
        ("x-forwarded-for", "10.0.0.1"),
        ("x-forwarded-host", "evil.example.com"),
        ("x-forwarded-proto", "http"),
        ("x-forwarded-uri", "/elsewhere"),
        ("audit-id", "from-the-client"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("x-remote-user", "evil"),
        ("x_remote_user", "evil"),
        ("expect", "nothing"),
    ];
    for mut client in [door.http1().await, door.http2().await] {
        let reply = client.get(FLUNDERS, &lies).await;
        let seen = server.last_request();
        assert_eq!(seen.header("x-forwarded-for"), "10.0.0.1, 127.0.0.1");
        assert_eq!(seen.header("x-forwarded-host"), door.address.to_string());
        assert_eq!(seen.header("x-forwarded-proto"), "https");
        assert_eq!(seen.header("x-forwarded-uri"), FLUNDERS);
        assert_eq!(seen.header("audit-id"), "from-the-client");
        assert_eq!(reply.header("audit-id"), "from-the-client");
        assert_eq!(seen.header("traceparent"), lies[5].1);
        assert_eq!(seen.header_values("x-remote-user"), ["alice"]);
        assert_eq!(seen.cgi()["HTTP_X_REMOTE_USER"], [b"alice".to_vec()]);
        assert_eq!(seen.header("expect"), "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_goes_on_only_where_it_is_registered_to() {
    use catalog::{ClientCertificate, Credentials, IdentityMode, Secret};
    let (pki, server) = backend().await;
    let own = Credentials {
        bearer_token: Some(Secret::new(*b"door-token")),
        client_certificate: None::<ClientCertificate>,
    };
    let cases = [
        (IdentityMode::RequestHeader, Credentials::default(), "", "tokenuser", ""),
        (IdentityMode::Impersonate, own, "Bearer door-token", "", "tokenuser"),
        (IdentityMode::PassThrough, Credentials::default(), "Bearer secret-token", "", ""),
    ];
    for (mode, credentials, token, remote, impersonated) in cases {
        let backend = Backend::wardle(&pki, &[&server]).changed(|server| {
            server.identity = mode;
            server.credentials = credentials;
        });
        let door = Door::start(&pki, vec![backend]).await;
        let mut client = Client::http1(&door.anonymous()).await.unwrap();
        let reply = client.get(FLUNDERS, &[("authorization", "Bearer secret-token")]).await;
        assert_eq!(reply.status, 200, "{mode:?}: {}", reply.text());
        let seen = server.last_request();
        assert_eq!(seen.header("authorization"), token, "{mode:?}");
        assert_eq!(seen.header("x-remote-user"), remote, "{mode:?}");
        assert_eq!(seen.header("impersonate-user"), impersonated, "{mode:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_pass_from_a_core_and_from_nobody_else() {
    let (pki, server) = backend().await;
    server.act("/", Act::Redirect("https://elsewhere.example.com/".into()));
    let backends = vec![Backend::wardle(&pki, &[&server]), Backend::core(&pki, &[&server])];
    let door = Door::start(&pki, backends).await;
    let mut client = door.http2().await;
    let refused = client.get(FLUNDERS, &[]).await;
    assert_eq!(refused.status, 502);
    assert_eq!(refused.json()["kind"], "Status");
    let words = "the backend attempted to redirect this request, which is not permitted: \
                 the server \"wardle\" for wardle.example.com/v1 answered with a redirect";
    assert_eq!(refused.json()["message"], words);
    assert_eq!(refused.header("location"), "");
    let passed = client.get("/apis/apps/v1/deployments", &[]).await;
    assert_eq!((passed.status.as_u16(), passed.header("location")), (302, "https://elsewhere.example.com/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_carry_each_header_once_and_no_cross_origin_permission() {
    use http::{HeaderValue, header};
    let pki = std::sync::Arc::new(testkit::TempPki::new());
    for http1 in [false, true] {
        let builder = testkit::FakeServer::builder().tls(&pki, testkit::Serving::Good).handler(|_| {
            let mut answer = testkit::fake::full(http::StatusCode::OK, "text/x", "hello");
            let headers = answer.headers_mut();
            headers.insert("audit-id", HeaderValue::from_static("the-servers"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
            headers.append(header::WARNING, HeaderValue::from_static("299 - \"one\""));
            headers.append(header::WARNING, HeaderValue::from_static("299 - \"two\""));
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
            Some(answer)
        });
        let server = if http1 { builder.http1_only() } else { builder }.start().await;
        let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
        for mut client in [door.http1().await, door.http2().await] {
            let reply = client.get(FLUNDERS, &[]).await;
            assert_eq!((reply.status.as_u16(), reply.text().as_str()), (200, "hello"));
            assert_eq!(reply.headers.get_all("audit-id").iter().count(), 1);
            assert_ne!(reply.header("audit-id"), "the-servers");
            assert_eq!(reply.headers.get_all("cache-control").iter().collect::<Vec<_>>(), ["public"]);
            assert_eq!(reply.headers.get_all("warning").iter().count(), 2);
            assert_eq!(reply.header("content-type"), "text/x");
            assert_eq!(reply.header("content-length"), "5");
            assert!(!reply.headers.keys().any(|name| name.as_str().starts_with("access-control")));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn head_and_not_found_and_no_route() {
    let (pki, server) = backend_http1().await;
    let door = Door::start(&pki, vec![Backend::wardle(&pki, &[&server])]).await;
    for mut client in [door.http1().await, door.http2().await] {
        let head = client.request("HEAD", &format!("{FLUNDERS}?act=bytes:10"), &[], "").await;
        assert_eq!((head.status.as_u16(), head.body.len(), head.header("content-length")), (200, 0, "10"));
        let head = client.request("HEAD", "/apis/unknown.example.com/v1/things", &[], "").await;
        assert_eq!((head.status.as_u16(), head.body.len(), head.header("content-length")), (404, 0, "19"));
        let missing = client.get(&format!("{FLUNDERS}/nope"), &[]).await;
        assert_eq!(missing.status, 404);
        let nowhere = client.get("/apis/unknown.example.com/v1/things", &[]).await;
        assert_eq!((nowhere.status.as_u16(), nowhere.text().as_str()), (404, "404 page not found\n"));
        assert_eq!(nowhere.headers.get_all("audit-id").iter().count(), 1);
    }
}
