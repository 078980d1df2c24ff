use std::{borrow::Cow, collections::BTreeMap};

use kube_wire::selector::{FieldSelector, LabelSelector, SelectorError};
use serde::Deserialize;

use crate::golden;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Case {
    selector: String,
    valid: bool,
    matches: Vec<bool>,
}

type Set = BTreeMap<String, String>;

/// The sets that the generating program knows under the same numbers.
fn sets(table: &[&[(&str, &str)]]) -> Vec<Set> {
    let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    table.iter().map(|set| set.iter().map(own).collect()).collect()
}

fn check<S>(
    case: &Case,
    selector: Result<S, SelectorError>,
    sets: &[Set],
    matches: impl Fn(&S, &Set) -> bool,
) {
    assert_eq!(selector.is_ok(), case.valid, "{case:?}: {:?}", selector.err());
    let Ok(selector) = selector else { return };
    let found: Vec<_> = sets.iter().map(|set| matches(&selector, set)).collect();
    assert_eq!(found, case.matches, "{case:?}");
}

#[test]
fn label_selectors_are_upstreams() {
    let sets = sets(&[
        &[],
        &[("a", "b")],
        &[("a", "c")],
        &[("a", "")],
        &[("a", "5")],
        &[("a", "b"), ("x.io/y", "z")],
        &[("in", "in")],
        &[("notin", "1")],
    ]);
    for case in golden::cases::<Case>("label_selector") {
        check(&case, case.selector.parse(), &sets, LabelSelector::matches);
    }
}

#[test]
fn field_selectors_are_upstreams() {
    let sets = sets(&[
        &[],
        &[("a", "b")],
        &[("a", "b"), ("c", "d")],
        &[("a", "b,c")],
        &[("a", "b\\c")],
        &[("a", "b=c")],
    ]);
    let matches = |selector: &FieldSelector, set: &Set| {
        selector.matches(|field| Cow::Owned(set.get(field).cloned().unwrap_or_default()))
    };
    for case in golden::cases::<Case>("field_selector") {
        check(&case, case.selector.parse(), &sets, matches);
    }
}

#[test]
fn the_first_of_two_values_is_required() {
    let selector: FieldSelector = "metadata.name=z,metadata.name=a,x!=y".parse().unwrap();
    assert_eq!(selector.required("metadata.name"), Some("a"));
    assert_eq!(selector.required("x"), None);
}

#[test]
fn longer_ones_are_refused() {
    let long = "a,".repeat(40_000);
    assert_eq!(long.parse::<LabelSelector>(), Err(SelectorError::TooLong));
    assert_eq!(long.parse::<FieldSelector>(), Err(SelectorError::TooLong));
}
