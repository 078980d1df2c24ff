use std::borrow::Cow;

use kube_wire::{RequestInfo, request_info::RequestInfoError};
use serde::Deserialize;

use crate::golden;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Case {
    method: String,
    path: String,
    query: String,
    error: String,
    is_resource: bool,
    verb: String,
    #[serde(rename = "APIPrefix")]
    api_prefix: String,
    group: String,
    version: String,
    namespace: String,
    resource: String,
    subresource: String,
    name: String,
    decoded: String,
    label_selector: String,
    field_selector: String,
}

fn check(case: &Case) {
    let info = match RequestInfo::parse(&case.method, &case.path, &case.query) {
        Ok(info) => info,
        Err(error) => {
            assert_eq!(error.to_string(), case.error, "{case:?}");
            return;
        }
    };
    let expected = RequestInfo {
        is_resource: case.is_resource,
        verb: (&*case.verb).into(),
        api_prefix: (&*case.api_prefix).into(),
        group: (&*case.group).into(),
        version: (&*case.version).into(),
        namespace: (&*case.namespace).into(),
        resource: (&*case.resource).into(),
        subresource: (&*case.subresource).into(),
        name: (&*case.name).into(),
        path: (&*case.decoded).into(),
        label_selector: (&*case.label_selector).into(),
        field_selector: (&*case.field_selector).into(),
    };
    assert_eq!(info, expected, "{} {}?{}", case.method, case.path, case.query);
    assert_eq!(case.error, "", "{case:?}");
}

#[test]
fn attributes_are_upstreams() {
    golden::cases("request_info").iter().for_each(check);
}

#[test]
fn an_ordinary_request_is_borrowed() {
    let path = "/apis/wardle.example.com/v1/namespaces/default/flunders/a/status";
    let info = RequestInfo::parse("GET", path, "pretty=true").unwrap();
    let RequestInfo { verb, group, version, namespace, resource, subresource, name, path, .. } = &info;
    for field in [verb, group, version, namespace, resource, subresource, name, path] {
        assert!(matches!(field, Cow::Borrowed(_)), "{field}");
    }
}

#[test]
fn broken_escapes_are_refused() {
    for path in ["/apis/g/v/r/%", "/apis/g/v/r/%4", "/apis/g/v/r/%zz", "/%+1"] {
        assert_eq!(RequestInfo::parse("GET", path, ""), Err(RequestInfoError::Escape), "{path}");
    }
}

#[test]
fn streams_are_long_running() {
    let cases = [
        ("GET", "/api/v1/pods", "watch=1", true),
        ("GET", "/api/v1/watch/pods", "", true),
        ("POST", "/api/v1/namespaces/n/pods/p/exec", "", true),
        ("GET", "/api/v1/namespaces/n/pods/p/log", "follow=true", true),
        ("GET", "/api/v1/namespaces/n/pods/p/portforward", "", true),
        ("GET", "/api/v1/namespaces/n/services/s/proxy/x", "", true),
        ("GET", "/debug/pprof/profile", "", true),
        ("GET", "/api/v1/pods", "", false),
        ("GET", "/api/v1/namespaces/n/pods/exec", "", false),
        ("GET", "/version", "watch=1", false),
        ("GET", "/apis", "", false),
    ];
    for (method, path, query, expected) in cases {
        let info = RequestInfo::parse(method, path, query).unwrap();
        assert_eq!(info.is_long_running(), expected, "{method} {path}?{query}");
    }
}
