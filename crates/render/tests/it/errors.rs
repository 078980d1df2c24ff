//! A deployment that does not fit is named, with file and line.

use cluster_spec::{HostFacts, ResolvedHost};
use render::{Deploy, Error, Keys, NoKeys, render};

use crate::support::{PLAIN, resolve};

fn outcome(tree: &str, file: &str, keys: &dyn Keys) -> Result<(), Error> {
    let files = [("tree.txt", tree), ("host/a", file)];
    let deploy = Deploy::from_files(files.map(|(path, text)| (path.to_owned(), text.to_owned())));
    let resolved = resolve(PLAIN);
    render(&deploy, &resolved, &resolved.hosts[0], &HostFacts::default(), keys).map(|_| ())
}

#[track_caller]
fn check(tree: &str, file: &str, expected: &str) {
    let error = outcome(tree, file, &NoKeys).expect_err("it does not fit");
    assert_eq!(error.to_string(), expected);
}

const ONE: &str = "all always 0644 /etc/a host/a\n";

#[test]
fn what_does_not_fit_is_named() {
    check("all always 0644 /etc/a host/b", "", "tree.txt:1 names host/b, which is not there");
    check("# x\nall sometimes 0644 /etc/a host/a", "", "tree.txt:2: there is no decision \"sometimes\"");
    check("all host.name 0644 /etc/a host/a", "", "tree.txt:1: \"host.name\" is not true or false");
    check("every always", "", "tree.txt:1: five columns belong here: hosts, when, mode, path, from");
    check(ONE, "a\n{{ b }}\n", "host/a:2: there is no decision \"b\"");
    check(ONE, "{{ host.name... }}\n", "host/a:1: \"host.name\" is one value, not a list");
    check(ONE, "{{ api.names }}\n", "host/a:1: \"api.names\" is a list, not one value");
    check(
        ONE,
        "{{ if host.name }}\n{{ end }}\n{{ if host.name }}\na\n{{ end }}\n",
        "host/a:4: \"host.name\" is not true or false",
    );
}

struct Without;

impl Keys for Without {
    fn file(&self, _: &ResolvedHost, _: &str) -> Option<Vec<u8>> {
        None
    }

    fn value(&self, _: &str) -> Option<String> {
        None
    }
}

struct TwoLines;

impl Keys for TwoLines {
    fn file(&self, _: &ResolvedHost, _: &str) -> Option<Vec<u8>> {
        None
    }

    fn value(&self, _: &str) -> Option<String> {
        Some("one\ntwo".to_owned())
    }
}

#[test]
fn missing_keys_are_named() {
    let missing = |name: &str| Err(Error::NoKey { host: "cp1".to_owned(), name: name.to_owned() });
    assert_eq!(outcome("all always 0600 /etc/k key ca.key", "", &Without), missing("ca.key"));
    assert_eq!(outcome(ONE, "{{ key.encryption }}", &Without), missing("encryption"));
}

#[test]
fn a_value_stays_on_its_line() {
    let lines = Error::Lines { file: "host/a".to_owned(), line: 1, name: "key.encryption".to_owned() };
    assert_eq!(outcome(ONE, "{{ key.encryption }}", &TwoLines), Err(lines));
}
