//! What is too much or not valid is left out and reported; everything beside it stays.

use std::sync::Arc;

use catalog::{
    Catalog, Contribution, Discovery, Form, GroupOffer, Origin, Ownership, Rejection, Selection,
    VersionOffer, bounds,
};

use crate::support::{group_offer, offering, raw, selected, unseen, version_offer};

fn with_groups(groups: Vec<GroupOffer>) -> Contribution {
    Contribution { discovery: Some(Arc::new(Discovery { core: Vec::new(), groups })), ..unseen("a", 1) }
}

/// Builds with a good neighbour, which must not notice anything.
fn check(contribution: Contribution, expected: &[(&str, Rejection)]) -> Catalog {
    let neighbour = offering("neighbour", 2, &[("neighbour.example.com", &["v1"])]);
    let built = Catalog::build(&Ownership::default(), 1, &[contribution, neighbour]);
    let rejected: Vec<_> = built.rejected.iter().map(|r| (&*r.group, r.why)).collect();
    assert_eq!(rejected, expected);
    assert!(built.catalog.discovery("/apis/neighbour.example.com/v1", Form::Legacy).is_some());
    built.catalog
}

fn shows(catalog: &Catalog, path: &str) -> bool {
    catalog.discovery(path, Form::Legacy).is_some()
}

#[test]
fn groups() {
    let group = |n: usize| group_offer(&format!("g{n}.example.com"), Origin::Server, &[]);
    let catalog = check(
        with_groups((0..bounds::MAX_GROUPS + 3).map(group).collect()),
        &[(&format!("g{}.example.com", bounds::MAX_GROUPS), Rejection::TooManyGroups)],
    );
    assert!(catalog.route("g0.example.com", "v1").server().is_some());
    assert!(catalog.route(&format!("g{}.example.com", bounds::MAX_GROUPS), "v1").server().is_none());
}

#[test]
fn versions() {
    let names: Vec<String> = (1..=bounds::MAX_VERSIONS + 1).map(|n| format!("v{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let catalog = check(
        with_groups(vec![group_offer("a.example.com", Origin::Server, &names)]),
        &[("a.example.com", Rejection::TooManyVersions)],
    );
    assert!(shows(&catalog, "/apis/a.example.com/v1"));
    assert!(!shows(&catalog, &format!("/apis/a.example.com/{}", names[names.len() - 1])));
}

#[test]
fn names() {
    for bad in
        ["", "A.example.com", "a..b", "a/b", "-a.example.com", "a_b", "a\"b", "é", "../x", &"a".repeat(254)]
    {
        check(with_groups(vec![group_offer(bad, Origin::Server, &["v1"])]), &[(bad, Rejection::InvalidName)]);
    }
    let catalog = check(
        with_groups(vec![group_offer("a.example.com", Origin::Server, &["v1", "v1.2", "V2", ""])]),
        &[("a.example.com", Rejection::InvalidName); 3],
    );
    assert!(shows(&catalog, "/apis/a.example.com/v1"));
}

#[test]
fn names_of_a_selection() {
    let selection = Selection::Only(vec![
        selected("a.example.com", "v1/x", 1, 1),
        selected("A", "v1", 1, 1),
        selected("a.example.com", "v1", 1, 1),
    ]);
    let catalog = check(
        Contribution { selection, ..unseen("a", 1) },
        &[("a.example.com", Rejection::InvalidName), ("A", Rejection::InvalidName)],
    );
    assert!(shows(&catalog, "/apis/a.example.com"));
}

#[test]
fn twice_the_same() {
    let twice = group_offer("a.example.com", Origin::Server, &["v1", "v1"]);
    let catalog = check(
        with_groups(vec![twice.clone(), twice]),
        &[("a.example.com", Rejection::Duplicate), ("a.example.com", Rejection::Duplicate)],
    );
    assert!(shows(&catalog, "/apis/a.example.com/v1"));

    let built = Catalog::build(
        &Ownership::default(),
        1,
        &[
            offering("a", 2, &[("second.example.com", &["v1"])]),
            offering("a", 1, &[("first.example.com", &["v1"])]),
        ],
    );
    assert_eq!(built.rejected.len(), 1);
    assert_eq!(built.catalog.servers().len(), 1);
    assert!(shows(&built.catalog, "/apis/first.example.com"));
    assert!(!shows(&built.catalog, "/apis/second.example.com"));
}

/// Shown as never seen, so that clients know of the version and the documents stay valid.
#[test]
fn resources() {
    let huge = format!("[{}]", " ".repeat(bounds::MAX_VERSION_BYTES));
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    for (bad, why) in [
        ("{}", Rejection::InvalidResources),
        ("null", Rejection::InvalidResources),
        ("[1]", Rejection::InvalidResources),
        (&*deep, Rejection::InvalidResources),
        (&*huge, Rejection::TooLarge),
    ] {
        let mut group = group_offer("a.example.com", Origin::Server, &["v1"]);
        group.versions.push(VersionOffer { resources: raw(bad), ..version_offer("a.example.com", "v2") });
        let catalog = check(with_groups(vec![group]), &[("a.example.com", why)]);
        let document = catalog.discovery("/apis", Form::Aggregated).expect("a document");
        let text = std::str::from_utf8(&document.body).expect("UTF-8");
        assert!(text.contains(r#"{"version":"v2","freshness":"Stale"}"#), "{bad}");
        assert!(shows(&catalog, "/apis/a.example.com/v1"));
        assert!(!shows(&catalog, "/apis/a.example.com/v2"));
    }
}
