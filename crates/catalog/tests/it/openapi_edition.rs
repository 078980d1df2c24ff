//! When the merged Swagger document has to be made anew: when a document of it is another one, or when one
//! of its servers owns something else. Nothing else counts.

use std::sync::Arc;

use catalog::{Catalog, Contribution, DocumentRef, OpenApi, Ownership};

use crate::support::{offering, unseen};

const V1: &[&str] = &["v1"];
const V1_V2: &[&str] = &["v1", "v2"];

fn with_v2(hash: &str, contribution: Contribution) -> Contribution {
    let v2 = Some(DocumentRef { hash: hash.into(), len: 1 });
    Contribution { openapi: Arc::new(OpenApi { v2, ..OpenApi::default() }), ..contribution }
}

fn a(versions: &[&str]) -> Contribution {
    with_v2("A", offering("a", 1, &[("a.example.com", versions)]))
}

/// Whether the document of `after` is another one than that of `before`.
fn changes(before: &[Contribution], after: &[Contribution]) -> bool {
    let first = Catalog::build(&Ownership::default(), 1, before);
    let second = first.catalog.rebuild(&first.ownership, 2, after);
    let changed = first.catalog.openapi_v2_edition() != second.catalog.openapi_v2_edition();
    let third = second.catalog.rebuild(&second.ownership, 3, after);
    let edition = second.catalog.openapi_v2_edition();
    assert_eq!(edition, third.catalog.openapi_v2_edition(), "nothing changed after that");
    changed
}

#[test]
fn only_what_is_merged_counts() {
    let b = |versions: &[&str]| offering("b", 2, &[("b.example.com", versions)]);
    let core = |hash: &str| with_v2(hash, offering("core", 0, &[("apps", V1)]));
    let cases: [(&str, Vec<Contribution>, Vec<Contribution>, bool); 8] = [
        ("the same", vec![a(V1)], vec![a(V1)], false),
        ("another server comes", vec![a(V1)], vec![a(V1), b(V1)], false),
        ("another server changes", vec![a(V1), b(V1)], vec![a(V1), b(V1_V2)], false),
        ("a document changes", vec![a(V1)], vec![with_v2("B", a(V1))], true),
        ("a document comes", vec![a(V1), b(V1)], vec![a(V1), with_v2("B", b(V1))], true),
        ("a server goes", vec![a(V1), with_v2("B", b(V1))], vec![a(V1)], true),
        // The core has what nobody else has: its part of the document depends on who has what.
        ("a group leaves the core", vec![core("C"), a(V1)], vec![core("C"), a(V1), b(V1)], true),
        ("a server appears without a group", vec![core("C")], vec![core("C"), unseen("d", 3)], false),
    ];
    for (what, before, after, expected) in cases {
        assert_eq!(changes(&before, &after), expected, "{what}");
    }
}

#[test]
fn a_group_that_changes_hands_counts() {
    let other = with_v2("B", offering("b", 2, &[("a.example.com", V1)]));
    let groupless = Contribution { discovery: None, ..other.clone() };
    let heir = [with_v2("A", offering("a", 1, &[("z.example.com", V1)])), other];
    assert!(changes(&[a(V1), groupless], &heir));
}
