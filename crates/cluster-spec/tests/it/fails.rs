//! What is said about wrong objects; `UPDATE_EXPECT=1` renews it.

use std::fmt::Write as _;

use cluster_spec::{Finding, Rule, Source};
use expect_test::expect_file;

use crate::support::{Fixture, fixtures};

#[track_caller]
fn check(fixture: &Fixture) -> Vec<Finding> {
    let findings = fixture.read().expect_err(&fixture.name());
    let mut text = String::new();
    for finding in &findings {
        let file = if finding.source == Source::Object { "" } else { "inventory:" };
        let line = finding.line.unwrap_or_default();
        let _ = writeln!(text, "{file}{line}: {:?}: {finding}", finding.rule);
    }
    expect_file![fixture.path.with_extension("txt")].assert_eq(&text);
    findings
}

#[test]
fn wrong_objects_are_explained() {
    let fixtures = fixtures("fails");
    assert!(fixtures.len() >= 60, "{}", fixtures.len());
    let mut rules = Vec::new();
    for fixture in &fixtures {
        for finding in check(fixture) {
            assert!(!finding.reason.is_empty() && !finding.fix.is_empty(), "{}: {finding}", fixture.name());
            assert!(finding.line.is_some(), "{}: {finding}", fixture.name());
            rules.push(finding.rule);
        }
    }
    for rule in [Rule::Syntax, Rule::Shape, Rule::Format, Rule::Meaning, Rule::Later] {
        assert!(rules.contains(&rule), "{rule:?}");
    }
}

#[test]
fn nothing_is_said_twice() {
    for fixture in fixtures("fails") {
        let findings = fixture.read().expect_err("wrong");
        for (index, finding) in findings.iter().enumerate() {
            let twice = findings[..index].iter().any(|other| {
                (other.source, &other.pointer, &other.reason)
                    == (finding.source, &finding.pointer, &finding.reason)
            });
            assert!(!twice, "{}: {finding}", fixture.name());
        }
    }
}

/// Mistakes do not hide one another: a text with the mistakes of two objects has those of both.
#[test]
fn all_mistakes_are_found_at_once() {
    let text = "nmae: x\nname: Demo\nkubernetes: {version: \"1.20\"}\nnetwork: {pods: 10.0.0.1/8, plugin: flanel, services: 5}\n\
                hosts:\n- {name: a, address: 10.1.1.1, ssh: {port: 0}}\n- {name: a, address: 10.1.1.1, role: node}\n";
    let findings = cluster_spec::read(text, None).expect_err("wrong");
    let pointers: Vec<&str> = findings.iter().map(|finding| finding.pointer.as_str()).collect();
    for expected in [
        "/nmae",
        "/name",
        "/kubernetes/version",
        "/network/pods",
        "/network/plugin",
        "/network/services",
        "/hosts/0/ssh/port",
        "/hosts/1/name",
        "/hosts/1/address",
        "/hosts/1/role",
    ] {
        assert!(pointers.contains(&expected), "{expected}: {pointers:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_object_upsets_the_rules(
        key in "(name|hosts|network|api|components|proxy|sources|runtime|pki|kubernetes|audit)",
        value in "(1|true|text|\\[\\]|\\{\\}|\\[\\{\\}\\]|\\[\\[1\\]\\]|\\{a: \\{b: 1\\}\\}|~|\\{pods: 1.2.3.4/0\\}|\\{endpoint: ':'\\}|\\{http: '//'\\})",
    ) {
        let _ = cluster_spec::read(&format!("{key}: {value}\n"), None);
        let _ = cluster_spec::read("name: a\n", Some(&format!("{key}: {value}\n")));
    }
}
