//! Scenarios as files: each `input.txt` describes builds one after the other, `expected.txt` says what
//! comes out. What is remembered goes through JSON between two builds, as over a restart.
//!
//! A line of the input is `build`, a comment, or one backend of the build:
//! `NAME [@TIME] [unseen] [rank=G/V] [direct=ADDRESS] [select:G/V[=P/P]] [offers:G/V,V] [builtin:…] [crd:…]
//! [relayed:…]`. The legacy group is called `legacy`; a version with `?` is one that the backend itself
//! could not read.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path, sync::Arc};

use catalog::{
    Built, Catalog, Contribution, Discovery, Form, Origin, Ownership, Route, Selection, VersionOffer,
};
use expect_test::expect_file;
use kube_wire::discovery::{v1, v2};

use crate::support;

#[test]
fn ownership() {
    check_all("ownership");
}

#[test]
fn order() {
    check_all("order");
}

fn check_all(folder: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder);
    let mut cases: Vec<_> =
        fs::read_dir(&folder).expect("fixtures").map(|entry| entry.expect("entry").path()).collect();
    cases.sort();
    assert!(!cases.is_empty(), "no fixtures in {}", folder.display());
    for case in cases {
        check(&case);
    }
}

fn check(case: &Path) {
    let input = fs::read_to_string(case.join("input.txt")).expect("input");
    let mentioned = group_versions(&input);
    let mut ownership = Ownership::default();
    let mut catalog = Catalog::empty();
    let mut report = String::new();
    for (number, lines) in builds(&input).into_iter().enumerate() {
        let contributions: Vec<_> = lines.iter().map(|line| backend(line)).collect();
        let built = catalog.rebuild(&ownership, number as u64 + 1, &contributions);
        describe(&mut report, &built, &mentioned);
        let kept = serde_json::to_string(&built.ownership).expect("ownership as JSON");
        ownership = serde_json::from_str(&kept).expect("ownership from JSON");
        assert_eq!(ownership, built.ownership);
        catalog = built.catalog;
    }
    let report: String = report.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
    expect_file![case.join("expected.txt")].assert_eq(&report);
}

fn builds(input: &str) -> Vec<Vec<&str>> {
    let mut builds: Vec<Vec<&str>> = Vec::new();
    for line in input.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match builds.last_mut() {
            _ if line == "build" => builds.push(Vec::new()),
            Some(build) => build.push(line),
            None => panic!("the first line is not `build`: {line}"),
        }
    }
    builds
}

/// Every group version that the file speaks of.
fn group_versions(input: &str) -> BTreeSet<(String, String)> {
    let tokens = input.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let groups = tokens.filter_map(|token| token.split_once(':')).filter(|(key, _)| !key.contains('='));
    let versions = groups.flat_map(|(_, value)| {
        let (group, versions) = split_group(value);
        versions.into_iter().map(move |version| (group.clone(), version.trim_end_matches('?').to_owned()))
    });
    versions.chain([("unknown.example.com".to_owned(), "v1".to_owned())]).collect()
}

fn split_group(value: &str) -> (String, Vec<&str>) {
    let value = value.split_once('=').map_or(value, |(value, _)| value);
    let (group, versions) = value.split_once('/').expect("GROUP/VERSIONS");
    let group = if group == "legacy" { "" } else { group };
    (group.to_owned(), versions.split(',').collect())
}

fn backend(line: &str) -> Contribution {
    let mut tokens = line.split_whitespace();
    let name = tokens.next().expect("a name");
    let mut contribution = support::unseen(name, 0);
    let mut discovery = Discovery::default();
    let mut selection = Vec::new();
    let mut seen = true;
    for token in tokens {
        if token == "unseen" {
            seen = false;
        } else if let Some(time) = token.strip_prefix('@') {
            contribution.registered_at = time.parse().expect("a time");
        } else if let Some(rank) = token.strip_prefix("rank=") {
            let (group_priority, version_priority) = priorities(rank);
            contribution.selection = Selection::All { group_priority, version_priority };
        } else if let Some(address) = token.strip_prefix("direct=") {
            Arc::get_mut(&mut contribution.server).expect("not shared").direct_address =
                Some(address.to_owned());
        } else {
            let (key, value) = token.split_once(':').expect("KEY:VALUE");
            offer(key, value, &mut discovery, &mut selection);
        }
    }
    if !selection.is_empty() {
        contribution.selection = Selection::Only(selection);
    }
    contribution.discovery = seen.then(|| Arc::new(discovery));
    contribution
}

fn offer(key: &str, value: &str, discovery: &mut Discovery, selection: &mut Vec<catalog::SelectedVersion>) {
    let (group, versions) = split_group(value);
    let origin = match key {
        "select" => {
            let (_, rank) = value.split_once('=').unwrap_or((value, "1000/15"));
            let (group_priority, version_priority) = priorities(rank);
            let one = |version| support::selected(&group, version, group_priority, version_priority);
            return selection.extend(versions.into_iter().map(one));
        }
        "builtin" => Origin::BuiltIn,
        "crd" => Origin::CustomResource,
        "relayed" | "offers" => Origin::Server,
        other => panic!("unknown key {other}"),
    };
    let offers: Vec<VersionOffer> = versions.iter().map(|version| version_offer(&group, version)).collect();
    if group.is_empty() {
        discovery.core = offers;
    } else {
        discovery.groups.push(catalog::GroupOffer { name: group, origin, versions: offers });
    }
}

fn version_offer(group: &str, version: &str) -> VersionOffer {
    match version.strip_suffix('?') {
        Some(version) => VersionOffer {
            resources: support::raw("[]"),
            current: false,
            ..support::version_offer(group, version)
        },
        None => support::version_offer(group, version),
    }
}

fn priorities(text: &str) -> (i32, i32) {
    let (group, version) = text.split_once('/').expect("PRIORITY/PRIORITY");
    (group.parse().expect("a number"), version.parse().expect("a number"))
}

fn describe(out: &mut String, built: &Built, mentioned: &BTreeSet<(String, String)>) {
    let catalog = &built.catalog;
    let _ = writeln!(out, "build {}", catalog.generation());
    let _ = writeln!(out, "  /api legacy      {}", api(catalog).join(" "));
    let _ = writeln!(out, "  /api aggregated  {}", aggregated(catalog, "/api").join(" "));
    let _ = writeln!(out, "  /apis legacy     {}", apis(catalog).join(" "));
    let _ = writeln!(out, "  /apis aggregated {}", aggregated(catalog, "/apis").join(" "));
    for (group, version) in mentioned {
        let _ = writeln!(out, "  {group}/{version} -> {}", route(catalog.route(group, version)));
    }
    for conflict in &built.conflicts {
        let version = conflict.version.iter().map(|version| format!("/{version}")).collect::<String>();
        let (group, claimant, owner) = (&conflict.group, &conflict.claimant, &conflict.owner);
        let _ = writeln!(out, "  conflict: {claimant} wants {group}{version} of {owner}");
    }
    let remembered = serde_json::to_string(&built.ownership).expect("JSON");
    let _ = writeln!(out, "  remembered {remembered}");
}

fn route(route: Route<'_>) -> String {
    match route {
        Route::Server(server) => server.name.to_string(),
        Route::Core(_) => "core".to_owned(),
        Route::None => "nobody".to_owned(),
    }
}

fn body<T: serde::de::DeserializeOwned>(catalog: &Catalog, path: &str, form: Form) -> T {
    let document = catalog.discovery(path, form).expect("a document");
    serde_json::from_slice(&document.body).expect("JSON of the right kind")
}

fn api(catalog: &Catalog) -> Vec<String> {
    body::<v1::APIVersions>(catalog, "/api", Form::Legacy).versions
}

fn apis(catalog: &Catalog) -> Vec<String> {
    let list: v1::APIGroupList = body(catalog, "/apis", Form::Legacy);
    let group = |group: v1::APIGroup| {
        assert_eq!(group.versions.first(), Some(&group.preferred_version));
        let versions: Vec<_> = group.versions.iter().map(|v| &*v.version).collect();
        let direct = group.server_address_by_client_cidrs.first().map(|a| format!("={}", a.server_address));
        format!("{}[{}]{}", group.name, versions.join(" "), direct.unwrap_or_default())
    };
    list.groups.into_iter().map(group).collect()
}

fn aggregated(catalog: &Catalog, path: &str) -> Vec<String> {
    let list: v2::APIGroupDiscoveryList = body(catalog, path, Form::Aggregated);
    let version = |version: &v2::APIVersionDiscovery| match version.freshness {
        v2::Freshness::Current => version.version.clone(),
        other => format!("{}({other:?})", version.version),
    };
    let group = |group: v2::APIGroupDiscovery| {
        let versions: Vec<_> = group.versions.iter().map(version).collect();
        format!("{}[{}]", group.metadata.name, versions.join(" "))
    };
    list.items.into_iter().map(group).collect()
}
