use catalog::{Credentials, IdentityMode, Limits, Roots, ServerName, Trust};
use http_body_util::BodyExt as _;

use super::*;

/// Header lines.
type Lines = &'static [(&'static str, &'static str)];

fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, HeaderValue::from_static(value));
    }
    headers
}

async fn sent(response: Response<Body>) -> (u16, HeaderMap, String) {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    (parts.status.as_u16(), parts.headers, String::from_utf8_lossy(&bytes).into_owned())
}

#[test]
fn the_encoding_is_negotiated() {
    const CURL: (&str, &str) = ("user-agent", "curl/8.1");
    let cases: &[(Lines, &str, Encoding)] = &[
        (&[], "/apis", Encoding::Json),
        (&[("accept", "*/*")], "/apis", Encoding::Json),
        (&[("accept", "text/html")], "/apis", Encoding::Json),
        (
            &[("accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json")],
            "/apis",
            Encoding::Json,
        ),
        (&[("accept", "application/yaml")], "/apis", Encoding::Yaml),
        (&[("accept", "application/vnd.kubernetes.protobuf, */*")], "/apis", Encoding::Protobuf),
        (
            &[("accept", "application/vnd.kubernetes.protobuf;q=0.1"), ("accept", "application/yaml")],
            "/apis",
            Encoding::Yaml,
        ),
        (&[("accept", "application/json;pretty=1")], "/apis", Encoding::JsonPretty),
        (&[CURL], "/apis", Encoding::JsonPretty),
        (&[CURL], "/apis?pretty=false", Encoding::Json),
        (&[CURL, ("accept", "application/yaml")], "/apis", Encoding::Yaml),
        (&[("user-agent", "kubectl/v1.37.2")], "/apis?pretty=true", Encoding::JsonPretty),
        (&[("user-agent", "Mozilla/5.0 (X11)")], "/apis", Encoding::JsonPretty),
    ];
    for (lines, uri, expected) in cases {
        assert_eq!(Wanted::new(&headers(lines), &uri.parse().unwrap()), Wanted(*expected), "{lines:?} {uri}");
    }
}

#[tokio::test]
async fn a_status_brings_its_headers() {
    let status = Status::service_unavailable("no", 7);
    let (code, headers, body) = sent(status_response(&status, &Wanted(Encoding::Json))).await;
    assert_eq!(
        (code, &headers["content-type"], &headers["retry-after"]),
        (503, &"application/json".parse().unwrap(), &"7".parse().unwrap())
    );
    assert_eq!(headers["x-content-type-options"], "nosniff");
    let object: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&object["kind"], &object["details"]["retryAfterSeconds"]), (&"Status".into(), &7.into()));

    let (code, headers, _) =
        sent(status_response(&Status::unauthorized(), &Wanted(Encoding::Protobuf))).await;
    assert_eq!(
        (code, &headers["content-type"]),
        (401, &"application/vnd.kubernetes.protobuf".parse().unwrap())
    );
    assert!(headers["www-authenticate"].to_str().unwrap().starts_with("Bearer"));
    assert!(!headers.contains_key("retry-after"));

    let (_, headers, body) = sent(status_response(&Status::not_acceptable(), &Wanted(Encoding::Yaml))).await;
    assert_eq!(headers["content-type"], "application/json");
    assert!(body.starts_with("{\n  \"kind\": \"Status\""), "{body}");
}

#[tokio::test]
async fn an_unknown_path_is_answered_as_go_does() {
    let (code, headers, body) = sent(not_found()).await;
    assert_eq!((code, body.as_str()), (404, "404 page not found\n"));
    assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
}

fn server(role: Role) -> Arc<Server> {
    let endpoint = catalog::Endpoint::Network { tls: true, host: "10.9.8.7".to_owned(), port: 8443 };
    Arc::new(Server {
        name: ServerName::new(if role == Role::Core { ServerName::CORE } else { "wardle" }),
        revision: 1,
        role,
        endpoints: vec![endpoint],
        base_path: String::new(),
        trust: Trust { roots: Roots::System, server_name: None, skip_verification: false },
        identity: IdentityMode::RequestHeader,
        credentials: Credentials::default(),
        limits: Limits::default(),
        direct_address: None,
    })
}

const ALL: [Cause; 21] = [
    Cause::NoEndpoints,
    Cause::NameNotResolved,
    Cause::ConnectionRefused,
    Cause::ConnectTimeout,
    Cause::ConnectionLost,
    Cause::UnknownAuthority,
    Cause::CertificateExpired,
    Cause::CertificateNameMismatch,
    Cause::TlsFailed,
    Cause::InvalidCredentials,
    Cause::ProtocolError,
    Cause::ResponseTimeout,
    Cause::IdentityRejected,
    Cause::Forbidden,
    Cause::UnexpectedStatus,
    Cause::RedirectRefused,
    Cause::WrongContentType,
    Cause::InvalidDocument,
    Cause::TooLarge,
    Cause::TooMany,
    Cause::Overloaded,
];

#[test]
fn failures_name_server_group_and_cause_but_no_address() {
    let info = RequestInfo::parse("GET", "/apis/wardle.example.com/v1/flunders", "").unwrap();
    for cause in ALL {
        let status = unavailable(&server(Role::Federated), &info, cause);
        assert!(!status.message.contains("10.9.8.7"), "{status}");
        let code = match cause {
            Cause::RedirectRefused | Cause::ProtocolError | Cause::UnexpectedStatus => 502,
            Cause::ResponseTimeout => 504,
            Cause::Overloaded => 429,
            _ => 503,
        };
        assert_eq!(status.code, code, "{cause:?}");
        assert_eq!(status.retry_after().is_some(), matches!(code, 503 | 429), "{cause:?}");
        let subject = format!("the server \"wardle\" for wardle.example.com/v1 {}", cause.phrase());
        assert!(status.message.contains(&subject), "{status}");
    }
}

#[test]
fn the_core_is_called_the_core() {
    let refused = |path: &str| {
        let info = RequestInfo::parse("GET", path, "").unwrap();
        unavailable(&server(Role::Core), &info, Cause::ConnectionRefused).message.into_owned()
    };
    assert_eq!(
        refused("/api/v1/pods"),
        "error trying to reach service: the core API server for v1 refuses connections"
    );
    assert_eq!(refused("/logs/"), "error trying to reach service: the core API server refuses connections");
}
