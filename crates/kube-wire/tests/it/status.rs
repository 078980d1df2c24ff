use std::borrow::Cow;

use expect_test::expect;
use kube_wire::{
    Encoding, Reason, RequestInfo, Status,
    accept::{self, negotiate_status},
    status::StatusCause,
};
use serde::Deserialize;

use crate::{golden, protobuf::Message};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Case {
    name: String,
    #[serde(rename = "JSON")]
    json: String,
    pretty: String,
    protobuf: String,
}

/// Our status for each of upstream's.
fn ours(name: &str) -> Status {
    const GROUP: &str = "wardle.example.com";
    let field = |reason: &str, field: &str, message: &str| StatusCause {
        reason: reason.into(),
        message: message.into(),
        field: field.into(),
    };
    let url = || field("FieldValueRequired", "spec.url", "Required value: no url");
    let tls = || field("FieldValueForbidden", "spec.tls", "Forbidden: not with http");
    match name {
        "unauthorized" => Status::unauthorized(),
        "forbidden list" => forbidden("GET", "/apis/wardle.example.com/v1/namespaces/default/flunders", ""),
        "forbidden get with reason" => {
            forbidden("GET", "/apis/wardle.example.com/v1/flunders/a%26b/status", "no <way>")
        }
        "forbidden legacy group" => forbidden("GET", "/api/v1/namespaces/kube-system/pods?watch=1", ""),
        "forbidden path" => forbidden("GET", "/x", ""),
        "unavailable" => Status::service_unavailable("no", 0),
        "unavailable with retry" => {
            Status::service_unavailable("the server for wardle.example.com/v1 refuses connections", 300)
        }
        "starting" => Status::starting(),
        "timeout" => Status::timeout(),
        "bad request" => Status::bad_request("what & why"),
        "not acceptable" => Status::not_acceptable(),
        "unsupported media type" => Status::unsupported_media_type(),
        "too many requests" => Status::too_many_in_flight(),
        "not found" => Status::not_found("flunders", GROUP, "a\"b"),
        "not found legacy group" => Status::not_found("pods", "", "a"),
        "already exists" => Status::already_exists("flunders", GROUP, "a"),
        "conflict" => Status::modified("flunders", GROUP, "a"),
        "expired" => Status::expired("The resourceVersion for the provided watch is too old."),
        "method not supported" => Status::method_not_supported("flunders", GROUP, "patch"),
        "too large" => Status::request_too_large("limit is 3145728"),
        "internal" => Status::internal("ups"),
        "invalid" => Status::invalid("Flunder", GROUP, "a", vec![url()]),
        "invalid twice" => Status::invalid("Flunder", GROUP, "a", vec![url(), tls()]),
        "deleted" => Status::deleted("flunders", GROUP, "a", "0-1"),
        other => panic!("no status for {other:?}"),
    }
}

fn forbidden(method: &str, url: &str, reason: &str) -> Status {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let info = RequestInfo::parse(method, path, query).unwrap();
    Status::forbidden("u<1>", &info, reason)
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn check(case: &Case) {
    let status = ours(&case.name);
    let text = |encoding| String::from_utf8(status.encode(encoding)).unwrap();
    assert_eq!(text(Encoding::Json), case.json, "{}", case.name);
    assert_eq!(text(Encoding::JsonPretty), case.pretty, "{}", case.name);
    assert_eq!(status.encode(Encoding::Protobuf), hex(&case.protobuf), "{}", case.name);
}

#[test]
fn every_encoding_is_upstreams_byte_for_byte() {
    golden::cases("status").iter().for_each(check);
}

/// Independent of the golden bytes: an own reader finds every field where the schema puts it.
#[test]
fn protobuf_holds_every_field() {
    let cause = StatusCause { reason: "R".into(), message: "M".into(), field: "F".into() };
    let mut status = Status::invalid("Kind", "g", "n", vec![cause.clone(), cause]);
    if let Some(details) = &mut status.details {
        details.uid = "u".into();
        details.retry_after_seconds = 300;
    }
    let bytes = status.encode(Encoding::Protobuf);
    let unknown = Message::read(bytes.strip_prefix(b"k8s\0").unwrap());
    assert_eq!(unknown.message(1).string(1), "v1");
    assert_eq!(unknown.message(1).string(2), "Status");
    let body = unknown.message(2);
    assert_eq!((body.string(2), body.string(3)), ("Failure", &*status.message));
    assert_eq!((body.string(4), body.number(6)), ("Invalid", 422));
    let details = body.message(5);
    assert_eq!((details.string(1), details.string(2), details.string(3)), ("n", "g", "Kind"));
    assert_eq!((details.string(6), details.number(5)), ("u", 300));
    let causes = details.messages(4);
    assert_eq!(causes.len(), 2);
    assert_eq!((causes[1].string(1), causes[1].string(2), causes[1].string(3)), ("R", "M", "F"));
}

#[test]
fn yaml_quotes_what_is_not_plainly_a_string() {
    let cause = StatusCause { reason: "Yes".into(), message: "- a: \"b\"\n#".into(), field: "1".into() };
    let status = Status::invalid("Kind", "", "null", vec![cause.clone(), cause]);
    expect![[r##"
        apiVersion: v1
        code: 422
        details:
          causes:
          - field: "1"
            message: "- a: \"b\"\n#"
            reason: "Yes"
          - field: "1"
            message: "- a: \"b\"\n#"
            reason: "Yes"
          kind: Kind
          name: "null"
        kind: Status
        message: "Kind \"null\" is invalid: [1: - a: \"b\"\n#, 1: - a: \"b\"\n#]"
        metadata: {}
        reason: Invalid
        status: Failure
    "##]]
    .assert_eq(&String::from_utf8(status.encode(Encoding::Yaml)).unwrap());
}

#[test]
fn the_encoding_follows_accept() {
    let cases: [(&str, Encoding); 8] = [
        ("", Encoding::Json),
        ("application/json, */*", Encoding::Json),
        ("application/json;pretty=1", Encoding::JsonPretty),
        ("application/yaml", Encoding::Yaml),
        ("application/vnd.kubernetes.protobuf,application/json", Encoding::Protobuf),
        (
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/vnd.kubernetes.protobuf",
            Encoding::Protobuf,
        ),
        ("text/html", Encoding::Json),
        ("application/vnd.kubernetes.protobuf;stream=watch", Encoding::Json),
    ];
    for (header, encoding) in cases {
        assert_eq!(negotiate_status(accept::parse(header)), encoding, "{header}");
    }
    assert_eq!(Encoding::Protobuf.content_type(), "application/vnd.kubernetes.protobuf");
}

#[test]
fn retry_after_is_only_there_when_it_says_something() {
    assert_eq!(Status::service_unavailable("x", 3).retry_after(), Some(3));
    assert_eq!(Status::service_unavailable("x", 0).retry_after(), None);
    assert_eq!(Status::timeout().retry_after(), None);
    assert_eq!(Status::shutting_down().retry_after(), Some(5));
}

#[test]
fn texts_that_have_no_counterpart_in_the_golden_table() {
    let cases: [(Status, u16, Reason, &str); 3] = [
        (
            Status::redirect_refused(),
            502,
            Reason::InternalError,
            "the backend attempted to redirect this request, which is not permitted",
        ),
        (
            Status::invalid_timeout("time: invalid duration \"abc\""),
            400,
            Reason::BadRequest,
            "invalid timeout specified in the request URL - time: invalid duration \"abc\"",
        ),
        (
            Status::shutting_down(),
            429,
            Reason::TooManyRequests,
            "The apiserver is shutting down, please try again later.",
        ),
    ];
    for (status, code, reason, message) in cases {
        assert_eq!((status.code, status.reason, &status.message), (code, reason, &Cow::Borrowed(message)));
    }
}
