//! Objects in which nothing is wrong, and everything that follows from them; `UPDATE_EXPECT=1` renews it.

use cluster_spec::HostFacts;
use expect_test::expect_file;

use crate::support::{Fixture, fixtures};

fn check(fixture: &Fixture) {
    let cluster = fixture.read().unwrap_or_else(|findings| panic!("{}: {findings:#?}", fixture.name()));
    let text = cluster.resolve().to_text(&HostFacts::default());
    expect_file![fixture.path.with_extension("resolved.txt")].assert_eq(&text);
}

#[test]
fn good_objects_are_resolved() {
    let fixtures = fixtures("succeeds");
    assert!(fixtures.len() >= 12, "{}", fixtures.len());
    fixtures.iter().for_each(check);
}

/// What is shown with all defaults is an object again, and means the same.
#[test]
fn the_complete_object_means_the_same() {
    for fixture in fixtures("succeeds") {
        let cluster = fixture.read().expect("good");
        let complete = cluster.complete().to_string();
        let again = cluster_spec::read(&complete, None).unwrap_or_else(|findings| panic!("{findings:#?}"));
        let facts = HostFacts::default();
        let reasons = |text: String| -> Vec<String> {
            text.lines().map(|line| line.split("  # ").next().unwrap_or_default().to_owned()).collect()
        };
        assert_eq!(
            reasons(cluster.resolve().to_text(&facts)),
            reasons(again.resolve().to_text(&facts)),
            "{}",
            fixture.name()
        );
    }
}
