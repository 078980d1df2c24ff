//! The bytes of the documents, and how they are looked up.

use std::sync::Arc;

use bytes::Bytes;
use catalog::{Catalog, Contribution, Discovery, Document, Form, Ownership, Selection, VersionOffer};
use expect_test::{Expect, expect};
use kube_wire::etag;

use crate::support::{group_offer, offering, raw, selected, server, unseen, version_offer};

fn build(contributions: &[Contribution]) -> Catalog {
    Catalog::build(&Ownership::default(), 7, contributions).catalog
}

fn check(catalog: &Catalog, path: &str, form: Form, expected: Expect) {
    let document = catalog.discovery(path, form).expect("a document");
    let body = std::str::from_utf8(&document.body).expect("UTF-8");
    let _: serde_json::Value = serde_json::from_str(body).expect("JSON");
    match document.content_type {
        Document::JSON => assert_eq!(document.etag, etag::strong(&document.body)),
        _ => assert!(is_tag(&document.etag), "{}", document.etag),
    }
    expected.assert_eq(&format!("{}\n{body}", document.content_type));
}

fn is_tag(etag: &str) -> bool {
    let hex = |b: u8| b.is_ascii_digit() || (b'A'..=b'F').contains(&b);
    etag.len() == 130 && etag.starts_with('"') && etag.ends_with('"') && etag[1..129].bytes().all(hex)
}

/// The tag of the aggregated form is made from its parts: it must change with each of them.
#[test]
fn tags_tell_documents_apart() {
    let variants = [
        build(&[]),
        build(&[offering("a", 1, &[("a.example.com", &["v1"])])]),
        build(&[offering("a", 1, &[("b.example.com", &["v1"])])]),
        build(&[offering("a", 1, &[("a.example.com", &["v2"])])]),
        build(&[offering("a", 1, &[("a.example.com", &["v1", "v2"])])]),
        build(&[offering("a", 1, &[("a.example.com", &["v1"]), ("b.example.com", &["v1"])])]),
    ];
    let tag = |catalog: &Catalog| catalog.discovery("/apis", Form::Aggregated).expect("it").etag.clone();
    let tags: std::collections::BTreeSet<_> = variants.iter().map(tag).collect();
    assert_eq!(tags.len(), variants.len());
    let again = build(&[offering("renamed", 9, &[("a.example.com", &["v1"])])]);
    assert_eq!(tag(&again), tag(&variants[1]), "the same content");
}

/// A core with one namespaced resource and its subresource, and a server that allows direct access.
fn core_and_server() -> Catalog {
    let pods = raw(
        r#"[{"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["get"],"shortNames":["po"],"later":1,"subresources":[{"subresource":"log","responseKind":{"group":"","version":"v1","kind":"Pod"},"verbs":["get"]}]}]"#,
    );
    let v1 = VersionOffer { version: "v1".into(), resources: pods, legacy: None, current: true };
    let core = Contribution {
        discovery: Some(Arc::new(Discovery { core: vec![v1], groups: Vec::new() })),
        ..unseen("core", 0)
    };
    let mut direct = server("wardle");
    direct.direct_address = Some("10.0.0.7:6443".into());
    let wardle = Contribution {
        server: Arc::new(direct),
        ..offering("wardle", 1, &[("wardle.example.com", &["v1alpha1", "v1beta1"])])
    };
    build(&[core, wardle])
}

#[test]
fn api_legacy() {
    check(
        &core_and_server(),
        "/api",
        Form::Legacy,
        expect![[r#"
            application/json
            {"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]}
        "#]],
    );
}

#[test]
fn api_aggregated_keeps_unknown_fields() {
    check(
        &core_and_server(),
        "/api/",
        Form::Aggregated,
        expect![[r#"
            application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList
            {"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{},"versions":[{"version":"v1","resources":[{"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["get"],"shortNames":["po"],"later":1,"subresources":[{"subresource":"log","responseKind":{"group":"","version":"v1","kind":"Pod"},"verbs":["get"]}]}],"freshness":"Current"}]}]}
        "#]],
    );
}

#[test]
fn apis_legacy_with_direct_address() {
    check(
        &core_and_server(),
        "/apis",
        Form::Legacy,
        expect![[r#"
            application/json
            {"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"wardle.example.com","versions":[{"groupVersion":"wardle.example.com/v1beta1","version":"v1beta1"},{"groupVersion":"wardle.example.com/v1alpha1","version":"v1alpha1"}],"preferredVersion":{"groupVersion":"wardle.example.com/v1beta1","version":"v1beta1"},"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"10.0.0.7:6443"},{"clientCIDR":"::/0","serverAddress":"10.0.0.7:6443"}]}]}
        "#]],
    );
}

#[test]
fn apis_aggregated() {
    check(
        &core_and_server(),
        "/apis/",
        Form::Aggregated,
        expect![[r#"
            application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList
            {"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"name":"wardle.example.com"},"versions":[{"version":"v1beta1","resources":[{"resource":"things","responseKind":{"group":"wardle.example.com","kind":"Thing","version":"v1beta1"},"scope":"Namespaced","singularResource":"thing","verbs":["get","list"]}],"freshness":"Current"},{"version":"v1alpha1","resources":[{"resource":"things","responseKind":{"group":"wardle.example.com","kind":"Thing","version":"v1alpha1"},"scope":"Namespaced","singularResource":"thing","verbs":["get","list"]}],"freshness":"Current"}]}]}
        "#]],
    );
}

#[test]
fn one_group() {
    check(
        &core_and_server(),
        "/apis/wardle.example.com/",
        Form::Legacy,
        expect![[r#"
            application/json
            {"kind":"APIGroup","apiVersion":"v1","name":"wardle.example.com","versions":[{"groupVersion":"wardle.example.com/v1beta1","version":"v1beta1"},{"groupVersion":"wardle.example.com/v1alpha1","version":"v1alpha1"}],"preferredVersion":{"groupVersion":"wardle.example.com/v1beta1","version":"v1beta1"},"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"10.0.0.7:6443"},{"clientCIDR":"::/0","serverAddress":"10.0.0.7:6443"}]}
        "#]],
    );
}

#[test]
fn one_version_has_only_the_legacy_form() {
    check(
        &core_and_server(),
        "/apis/wardle.example.com/v1beta1",
        Form::Aggregated,
        expect![[r#"
            application/json
            {"kind":"APIResourceList","apiVersion":"v1","groupVersion":"wardle.example.com/v1beta1","resources":[{"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["get","list"]}]}
        "#]],
    );
}

#[test]
fn legacy_group_without_api_version() {
    check(
        &core_and_server(),
        "/api/v1/",
        Form::Legacy,
        expect![[r#"
            application/json
            {"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get"],"shortNames":["po"]},{"name":"pods/log","singularName":"","namespaced":true,"kind":"Pod","verbs":["get"]}]}
        "#]],
    );
}

#[test]
fn empty_catalog_answers() {
    let catalog = Catalog::empty();
    check(
        &catalog,
        "/api",
        Form::Legacy,
        expect![[r#"
            application/json
            {"kind":"APIVersions","versions":[],"serverAddressByClientCIDRs":[]}
        "#]],
    );
    check(
        &catalog,
        "/api",
        Form::Aggregated,
        expect![[r#"
            application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList
            {"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[]}
        "#]],
    );
    check(
        &catalog,
        "/apis",
        Form::Legacy,
        expect![[r#"
            application/json
            {"kind":"APIGroupList","apiVersion":"v1","groups":[]}
        "#]],
    );
}

/// The core was never seen: kubectl must still be able to use everything else.
#[test]
fn core_never_seen() {
    let catalog = build(&[unseen("core", 0), offering("a", 1, &[("a.example.com", &["v1"])])]);
    check(
        &catalog,
        "/api",
        Form::Legacy,
        expect![[r#"
            application/json
            {"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]}
        "#]],
    );
    check(
        &catalog,
        "/api",
        Form::Aggregated,
        expect![[r#"
            application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList
            {"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{},"versions":[{"version":"v1","freshness":"Stale"}]}]}
        "#]],
    );
    assert!(catalog.discovery("/api/v1", Form::Legacy).is_none(), "it must be asked");
    assert!(catalog.discovery("/apis/a.example.com/v1", Form::Legacy).is_some());
}

#[test]
fn unknown_paths_are_not_invented() {
    let catalog = core_and_server();
    for path in
        ["", "/", "/apis//", "/apis/other.example.com", "/apis/wardle.example.com/v2", "/api/v2", "/version"]
    {
        assert!(catalog.discovery(path, Form::Legacy).is_none(), "{path}");
    }
}

/// Its own bytes when they are what they should be; else the list is derived.
#[test]
fn own_resource_list() {
    let own = r#"{ "kind": "APIResourceList", "groupVersion": "a.example.com/v1", "resources": [], "x": 1 }"#;
    let another_group = own.replace("a.example.com", "apps");
    for (sent, taken) in
        [(own, true), (&*another_group, false), ("[]", false), ("<html>", false), ("{}", false)]
    {
        let mut group = group_offer("a.example.com", catalog::Origin::Server, &[]);
        let legacy = Some(Bytes::from(sent.to_owned()));
        group.versions = vec![VersionOffer { legacy, ..version_offer("a.example.com", "v1") }];
        let contribution = Contribution {
            discovery: Some(Arc::new(Discovery { core: Vec::new(), groups: vec![group] })),
            ..unseen("a", 1)
        };
        let catalog = build(&[contribution]);
        let document = catalog.discovery("/apis/a.example.com/v1", Form::Legacy).expect("a list");
        assert_eq!(document.body == sent.as_bytes(), taken, "{sent}");
        assert_eq!(document.content_type, Document::JSON);
    }
}

/// What has no document here is asked where the group belongs: a known group is never "not found".
#[test]
fn paths_without_a_document() {
    let selection = Selection::Only(vec![selected("s.example.com", "v1", 1000, 15)]);
    let silent = Contribution { selection, ..unseen("silent", 1) };
    let catalog = build(&[unseen("core", 0), silent, offering("a", 2, &[("a.example.com", &["v1"])])]);
    for (path, owner) in [
        ("/apis/s.example.com/v1", "silent"),
        ("/apis/s.example.com/v1/", "silent"),
        ("/apis/s.example.com/v2", "core"),
        ("/apis/a.example.com", "a"),
        ("/apis/a.example.com/v9", "a"),
        ("/apis/a.example.com/v9/things", "a"),
        ("/apis/other", "core"),
        ("/apis", "core"),
        ("/api/v1", "core"),
        ("/logs/", "core"),
        ("/", "core"),
        ("", "core"),
    ] {
        let routed = catalog.route_path(path).server().expect("a backend");
        assert_eq!(routed.name.as_str(), owner, "{path}");
    }
    assert!(Catalog::empty().route_path("/logs/").server().is_none());
}
