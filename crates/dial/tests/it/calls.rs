//! What is sent, and how connections are kept.

use std::sync::Arc;

use catalog::{Body, BodyError, Endpoint, Secret, Service, ServiceFuture};
use dial::{Call, Client, TlsSetup};
use http::{HeaderValue, Request, Response, header};
use http_body_util::{BodyExt as _, Full};
use testkit::{FakeServer, Serving, TempPki};

use crate::world::{client, server};

#[tokio::test]
async fn path_host_headers_and_token() {
    let pki = TempPki::new();
    for http1 in [false, true] {
        let builder = FakeServer::builder().tls(&pki, Serving::Good);
        let fake = if http1 { builder.http1_only() } else { builder }.start().await;
        let mut registered = server(&pki, &fake);
        registered.base_path = "/pre%2Ffix".to_owned();
        registered.credentials.bearer_token = Some(Secret::new(*b"s3cr3t\n"));
        let client = client(registered);
        let call = Call::post("/x?b=1&a=%20&act=echo", "abc")
            .header(header::ACCEPT, HeaderValue::from_static("application/json"));
        let answer = client.call(&call).await.unwrap();
        assert_eq!((answer.status.as_u16(), answer.media_type()), (200, "application/json"));
        let seen = fake.last_request();
        assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/pre%2Ffix/x?b=1&a=%20&act=echo"));
        assert_eq!(seen.authority, fake.address().to_string());
        assert_eq!(seen.header("authorization"), "Bearer s3cr3t");
        assert_eq!(seen.header("accept"), "application/json");
        assert_eq!(&seen.body[..], b"abc");
        let own =
            Call::get("/x?act=echo").header(header::AUTHORIZATION, HeaderValue::from_static("Bearer own"));
        client.call(&own).await.unwrap();
        assert_eq!(fake.last_request().header("authorization"), "Bearer own");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_connection_is_kept_and_replaced_when_it_dies() {
    let pki = TempPki::new();
    for http1 in [false, true] {
        let builder = FakeServer::builder().tls(&pki, Serving::Good);
        let fake = if http1 { builder.http1_only() } else { builder }.start().await;
        let client = client(server(&pki, &fake));
        let get = async || client.call(&Call::get("/healthz")).await.map(|answer| answer.status.as_u16());
        for _ in 0..5 {
            assert_eq!(get().await, Ok(200));
        }
        assert_eq!(fake.accepted_connections(), 1);
        fake.restart().await;
        assert_eq!(get().await, Ok(200), "the dead connection costs nothing");
        fake.goaway_every(1);
        for _ in 0..5 {
            assert_eq!(get().await, Ok(200), "nor does one that says goodbye");
        }
        fake.behave();
        client.disconnect();
        let before = fake.accepted_connections();
        assert_eq!(get().await, Ok(200));
        assert_eq!(fake.accepted_connections(), before + 1);
    }
}

#[tokio::test]
async fn a_refused_request_leaves_a_shared_connection_alone() {
    let pki = TempPki::new();
    let fake = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let client = client(server(&pki, &fake));
    for path in ["/healthz", "/?act=redirect:/x", "/?act=bytes:2000", "/healthz"] {
        let _ = client.call(&Call::get(path).limit(1000)).await;
    }
    assert_eq!(fake.accepted_connections(), 1);
}

#[tokio::test]
async fn concurrent_calls_share_http2() {
    let pki = TempPki::new();
    let fake = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let client = client(server(&pki, &fake));
    client.call(&Call::get("/healthz")).await.unwrap();
    let call = Call::get("/healthz?act=delay:50");
    let calls = (0..20).map(|_| client.call(&call));
    let answers = futures_util::future::join_all(calls).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(fake.accepted_connections(), 1);
}

#[tokio::test]
async fn a_post_is_not_repeated_unless_it_was_not_sent() {
    let pki = TempPki::new();
    let fake = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let client = client(server(&pki, &fake));
    client.call(&Call::get("/healthz")).await.unwrap();
    fake.forget_requests();
    assert!(client.call(&Call::post("/x?act=reset", "body")).await.is_err());
    assert_eq!(fake.requests().len(), 1);
    client.call(&Call::get("/healthz")).await.unwrap();
    fake.forget_requests();
    assert!(client.call(&Call::get("/x?act=reset")).await.is_err());
    assert_eq!(fake.requests().len(), 2, "a GET is");
}

/// Echoes path and header.
struct Local;

impl Service for Local {
    fn call(&self, request: Request<Body>) -> ServiceFuture<'_> {
        Box::pin(async move {
            let text = format!("{} {:?}", request.uri(), request.headers().get("x-remote-user"));
            let body = Full::new(text.into()).map_err(BodyError::from);
            Response::new(Body::new(body))
        })
    }
}

#[tokio::test]
async fn a_server_in_this_process_is_called_like_any_other() {
    let pki = TempPki::new();
    let fake = FakeServer::builder().start().await;
    let mut local = server(&pki, &fake);
    local.endpoints = vec![Endpoint::InProcess(Arc::new(Local))];
    let setup = Arc::new(TlsSetup::new(&local).unwrap());
    let endpoint = local.endpoints[0].clone();
    let client = Client::new(Arc::new(local), endpoint, setup);
    let user = http::HeaderName::from_static("x-remote-user");
    let call = Call::get("/apis?x=1").header(user, HeaderValue::from_static("jane"));
    assert_eq!(&client.call(&call).await.unwrap().body[..], br#"/apis?x=1 Some("jane")"#);
    let failure = client.call(&Call::get("/apis").limit(3)).await.unwrap_err();
    assert_eq!(failure.cause, catalog::Cause::TooLarge);
}

#[tokio::test]
async fn the_end_of_the_servers_certificate_is_known() {
    let pki = TempPki::new();
    let fake = FakeServer::builder().tls(&pki, Serving::Good).start().await;
    let client = client(server(&pki, &fake));
    assert_eq!(client.certificate_end(), None);
    client.call(&Call::get("/healthz")).await.unwrap();
    let left = client.certificate_end().unwrap().duration_since(std::time::SystemTime::now()).unwrap();
    let days = left.as_secs() / (24 * 3600);
    assert!((363..=365).contains(&days), "{days}");
}
