//! Which OpenAPI v3 documents are shown: those of owners, and nothing that anybody else claims.

use std::{collections::BTreeMap, sync::Arc};

use catalog::{Catalog, Contribution, DocumentRef, OpenApi, Origin, Ownership, Selection};
use expect_test::expect;

use crate::support::{group_offer, offering, selected, unseen, version_offer};

fn with_documents(contribution: Contribution, paths: &[&str]) -> Contribution {
    let name = contribution.server.name.as_str().to_uppercase();
    let document = |path: &&str| {
        let hash = format!("{name}-{}", path.len());
        (path.to_string(), DocumentRef { hash: hash.into(), len: 1 })
    };
    let v3: BTreeMap<_, _> = paths.iter().map(document).collect();
    Contribution { openapi: Arc::new(OpenApi { v2: None, v3 }), ..contribution }
}

fn core() -> Contribution {
    let discovery = catalog::Discovery {
        core: vec![version_offer("", "v1")],
        groups: vec![
            group_offer("apps", Origin::BuiltIn, &["v1"]),
            group_offer("crd.example.com", Origin::CustomResource, &["v1"]),
            group_offer("metrics.k8s.io", Origin::Server, &["v1beta1"]),
        ],
    };
    Contribution { discovery: Some(Arc::new(discovery)), ..unseen("core", 0) }
}

fn paths(catalog: &Catalog) -> Vec<String> {
    let index: serde_json::Value = serde_json::from_slice(&catalog.openapi_v3_index().body).expect("JSON");
    index["paths"].as_object().expect("an object").keys().cloned().collect()
}

#[test]
fn only_what_is_owned() {
    let core = with_documents(
        core(),
        &[
            "api",
            "api/v1",
            "apis",
            "version",
            ".well-known/openid-configuration",
            "apis/apps/v1",
            "apis/crd.example.com",
            "apis/crd.example.com/v1",
            "apis/metrics.k8s.io",
            "apis/metrics.k8s.io/v1beta1",
            "apis/a.example.com/v1",
        ],
    );
    let greedy = with_documents(
        offering("greedy", 1, &[("a.example.com", &["v1"])]),
        &[
            "api/v1",
            "apis",
            "apis/apps/v1",
            "apis/a.example.com",
            "apis/a.example.com/v1",
            "version",
            "",
            "apis/a.example.com/v1/x",
            "apis/metrics.k8s.io/v1beta1",
        ],
    );
    let metrics = Contribution {
        selection: Selection::Only(vec![selected("metrics.k8s.io", "v1beta1", 100, 100)]),
        ..offering("metrics", 2, &[("metrics.k8s.io", &["v1beta1"])])
    };
    let metrics = with_documents(
        metrics,
        &["apis/metrics.k8s.io", "apis/metrics.k8s.io/v1beta1", "apis/metrics.k8s.io/v1"],
    );
    let catalog = Catalog::build(&Ownership::default(), 1, &[core, greedy, metrics]).catalog;

    let index = catalog.openapi_v3_index();
    expect![[r#"
        {"paths":{".well-known/openid-configuration":{"serverRelativeURL":"/openapi/v3/.well-known/openid-configuration?hash=CORE-32"},"api":{"serverRelativeURL":"/openapi/v3/api?hash=CORE-3"},"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=CORE-6"},"apis":{"serverRelativeURL":"/openapi/v3/apis?hash=CORE-4"},"apis/a.example.com":{"serverRelativeURL":"/openapi/v3/apis/a.example.com?hash=GREEDY-18"},"apis/a.example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/a.example.com/v1?hash=GREEDY-21"},"apis/apps/v1":{"serverRelativeURL":"/openapi/v3/apis/apps/v1?hash=CORE-12"},"apis/crd.example.com":{"serverRelativeURL":"/openapi/v3/apis/crd.example.com?hash=CORE-20"},"apis/crd.example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/crd.example.com/v1?hash=CORE-23"},"apis/metrics.k8s.io":{"serverRelativeURL":"/openapi/v3/apis/metrics.k8s.io?hash=METRICS-19"},"apis/metrics.k8s.io/v1beta1":{"serverRelativeURL":"/openapi/v3/apis/metrics.k8s.io/v1beta1?hash=METRICS-27"},"version":{"serverRelativeURL":"/openapi/v3/version?hash=CORE-7"}}}
    "#]]
    .assert_eq(std::str::from_utf8(&index.body).expect("UTF-8"));
    assert_eq!(catalog.openapi_v3("apis/a.example.com/v1").expect("a document").hash.as_ref(), "GREEDY-21");
    assert!(catalog.openapi_v3("apis/a.example.com/v1/x").is_none());
    assert!(catalog.openapi_v3("apis/metrics.k8s.io/v1").is_none());
}

#[test]
fn the_cores_description_stays_until_the_server_has_given_its_own() {
    let path = "apis/metrics.k8s.io/v1beta1";
    let core = with_documents(core(), &[path]);
    let silent = Contribution {
        selection: Selection::Only(vec![selected("metrics.k8s.io", "v1beta1", 100, 100)]),
        ..offering("metrics", 2, &[("metrics.k8s.io", &["v1beta1"])])
    };
    let hash = |servers: &[Contribution]| {
        let catalog = Catalog::build(&Ownership::default(), 1, servers).catalog;
        assert_eq!(paths(&catalog), [path]);
        catalog.openapi_v3(path).expect("a document").hash.to_string()
    };
    assert_eq!(hash(&[core.clone(), silent.clone()]), "CORE-27");
    assert_eq!(hash(&[core, with_documents(silent, &[path])]), "METRICS-27");
}

#[test]
fn without_a_core_only_groups() {
    let a = with_documents(
        offering("a", 1, &[("a.example.com", &["v1"])]),
        &["version", "apis", "api/v1", "apis/a.example.com/v1"],
    );
    let catalog = Catalog::build(&Ownership::default(), 1, &[a]).catalog;
    assert_eq!(paths(&catalog), ["apis/a.example.com/v1"]);
}

#[test]
fn same_documents_same_tag() {
    let a = || with_documents(offering("a", 1, &[("a.example.com", &["v1"])]), &["apis/a.example.com/v1"]);
    let b = || with_documents(offering("b", 2, &[("b.example.com", &["v1"])]), &["apis/b.example.com/v1"]);
    let one = Catalog::build(&Ownership::default(), 1, &[a(), b()]).catalog;
    let other = Catalog::build(&Ownership::default(), 9, &[b(), a()]).catalog;
    assert_eq!(one.openapi_v3_index(), other.openapi_v3_index());
}
