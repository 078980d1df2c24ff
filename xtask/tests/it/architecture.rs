//! ARCHITECTURE.md tells the truth.

use std::collections::{BTreeMap, BTreeSet};

use crate::repository::{edges, read, root, tracked};

#[test]
fn crates_know_only_whom_they_may() {
    let document = read("ARCHITECTURE.md");
    let block =
        document.split("```edges\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    let listed: BTreeMap<String, BTreeSet<String>> = block
        .lines()
        .map(|line| {
            let (from, to) = line.split_once("->").expect("FROM -> TO");
            (from.trim().to_owned(), to.split_whitespace().map(str::to_owned).collect())
        })
        .collect();
    assert_eq!(listed, edges(), "left: ARCHITECTURE.md, right: the manifests");
}

#[test]
fn named_paths_exist() {
    for document in ["ARCHITECTURE.md", "docs/life-of-a-request.md", "CHANGELOG.md"] {
        let text = read(document);
        let code = text.split('`').skip(1).step_by(2);
        let paths = code.filter(|code| {
            ["crates/", "docs/", "xtask/", "upstream/", "deploy/"].iter().any(|top| code.starts_with(top))
        });
        for path in paths {
            assert!(root().join(path).exists(), "{document} names {path}");
        }
    }
}

#[test]
fn every_crate_is_described() {
    let document = read("ARCHITECTURE.md");
    for name in edges().keys() {
        assert!(document.contains(&format!("`{name}`")), "ARCHITECTURE.md does not describe {name}");
    }
}

#[test]
fn links_lead_somewhere() {
    for document in tracked().iter().filter(|path| path.ends_with(".md")) {
        let text = read(document);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap_or_default();
            if path.is_empty() || path.contains("://") {
                continue;
            }
            let folder = root().join(document).parent().expect("a folder").to_owned();
            assert!(folder.join(path).exists(), "{document} links to {path}");
        }
    }
}
