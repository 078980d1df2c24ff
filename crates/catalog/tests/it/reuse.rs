//! What did not change is not made again: the bytes are the same allocation.

use std::sync::Arc;

use bytes::Bytes;
use catalog::{Catalog, Contribution, Discovery, Form, Origin, Ownership, VersionOffer};

use crate::support::{group_offer, offering, unseen};

fn body<'a>(catalog: &'a Catalog, path: &str, form: Form) -> &'a Bytes {
    &catalog.discovery(path, form).expect("a document").body
}

fn same_bytes(a: &Catalog, b: &Catalog, path: &str, form: Form) -> bool {
    let (a, b) = (body(a, path, form), body(b, path, form));
    a.as_ptr() == b.as_ptr() && a.len() == b.len()
}

#[test]
fn nothing_changed() {
    let contributions = [offering("a", 1, &[("a.example.com", &["v1"])]), unseen("core", 0)];
    let first = Catalog::build(&Ownership::default(), 1, &contributions);
    let second = first.catalog.rebuild(&first.ownership, 2, &contributions);
    assert_eq!(second.catalog.generation(), 2);
    for (path, form) in [
        ("/api", Form::Legacy),
        ("/api", Form::Aggregated),
        ("/apis", Form::Legacy),
        ("/apis", Form::Aggregated),
        ("/apis/a.example.com", Form::Legacy),
        ("/apis/a.example.com/v1", Form::Legacy),
    ] {
        assert!(same_bytes(&first.catalog, &second.catalog, path, form), "{path} {form:?}");
    }
}

#[test]
fn only_the_changed_group_is_made_again() {
    let a = offering("a", 1, &[("a.example.com", &["v1"])]);
    let b =
        |versions: &[&str]| offering("b", 2, &[("b.example.com", versions), ("other.example.com", &["v1"])]);
    let first = Catalog::build(&Ownership::default(), 1, &[a.clone(), b(&["v1"])]);
    let second = first.catalog.rebuild(&first.ownership, 2, &[a, b(&["v1", "v2"])]);
    for path in
        ["/apis/a.example.com", "/apis/a.example.com/v1", "/apis/b.example.com/v1", "/apis/other.example.com"]
    {
        assert!(same_bytes(&first.catalog, &second.catalog, path, Form::Legacy), "{path}");
    }
    for path in ["/apis", "/apis/b.example.com"] {
        assert!(!same_bytes(&first.catalog, &second.catalog, path, Form::Legacy), "{path}");
    }
}

/// The same text from a new download counts as unchanged; a version that changed does not.
#[test]
fn compared_by_content() {
    let contribution = |current: bool| {
        let mut group = group_offer("a.example.com", Origin::Server, &["v1", "v2"]);
        group.versions[1] =
            VersionOffer { resources: crate::support::raw("[]"), current, ..group.versions[1].clone() };
        Contribution {
            discovery: Some(Arc::new(Discovery { core: Vec::new(), groups: vec![group] })),
            ..unseen("a", 1)
        }
    };
    let first = Catalog::build(&Ownership::default(), 1, &[contribution(true)]);
    let second = first.catalog.rebuild(&first.ownership, 2, &[contribution(false)]);
    assert!(same_bytes(&first.catalog, &second.catalog, "/apis/a.example.com/v1", Form::Legacy));
    assert!(second.catalog.discovery("/apis/a.example.com/v2", Form::Legacy).is_none());
}
