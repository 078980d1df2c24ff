//! What holds for every set of contributions.

use std::{collections::BTreeSet, sync::Arc};

use bytes::Bytes;
use catalog::{
    Built, Catalog, Contribution, Discovery, Form, GroupOffer, Origin, Ownership, Role, Selection,
    ServerName, VersionOffer,
};
use kube_wire::discovery::{v1, v2};
use proptest::{collection::vec, option, prelude::*, sample::select};

use crate::support::{group_offer, offering, raw, selected, unseen, version_offer};

const NAMES: &[&str] = &["core", "a", "b", "c", "d", "e"];
const GROUPS: &[&str] = &["apps", "x.example.com", "y.example.com", "z.example.com", "metrics.k8s.io"];
const VERSIONS: &[&str] = &["v1", "v2", "v1beta1", "v1alpha1", "foo1", "v01"];

fn versions() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::sample::subsequence(VERSIONS, 0..4)
}

fn origin() -> impl Strategy<Value = Origin> {
    select(vec![Origin::BuiltIn, Origin::CustomResource, Origin::Server])
}

fn discovery() -> impl Strategy<Value = Discovery> {
    let groups = proptest::sample::subsequence(GROUPS, 0..GROUPS.len());
    let group = |name: &'static str| {
        (origin(), versions()).prop_map(move |(origin, versions)| group_offer(name, origin, &versions))
    };
    let groups = groups.prop_flat_map(move |names| names.into_iter().map(group).collect::<Vec<_>>());
    (any::<bool>(), groups).prop_map(|(legacy, groups)| {
        let core = if legacy { vec![version_offer("", "v1")] } else { Vec::new() };
        Discovery { core, groups }
    })
}

fn selection() -> impl Strategy<Value = Selection> {
    let rank = || select(vec![1, 15, 1000, 1001]);
    let one = (select(GROUPS), select(VERSIONS), rank(), rank())
        .prop_map(|(group, version, group_rank, rank)| selected(group, version, group_rank, rank));
    let all = (rank(), rank())
        .prop_map(|(group_priority, version_priority)| Selection::All { group_priority, version_priority });
    prop_oneof![all, vec(one, 0..5).prop_map(Selection::Only)]
}

fn contribution(name: &'static str) -> impl Strategy<Value = Contribution> {
    (0..4i64, selection(), option::weighted(0.8, discovery())).prop_map(move |(at, selection, discovery)| {
        Contribution { selection, discovery: discovery.map(Arc::new), ..unseen(name, at) }
    })
}

/// Backends with different names, in any order.
fn contributions() -> impl Strategy<Value = Vec<Contribution>> {
    let names = proptest::sample::subsequence(NAMES, 0..NAMES.len()).prop_shuffle();
    names.prop_flat_map(|names| names.into_iter().map(contribution).collect::<Vec<_>>())
}

/// Everything that a client can read from a catalog.
fn read(catalog: &Catalog) -> Vec<(String, Option<Bytes>, Option<Bytes>)> {
    let mut paths = vec!["/api".to_owned(), "/apis".to_owned(), "/api/v1".to_owned()];
    for group in GROUPS {
        paths.push(format!("/apis/{group}"));
        paths.extend(VERSIONS.iter().map(|version| format!("/apis/{group}/{version}")));
    }
    let body = |path: &str, form| catalog.discovery(path, form).map(|document| document.body.clone());
    let both = |path: String| {
        let (legacy, aggregated) = (body(&path, Form::Legacy), body(&path, Form::Aggregated));
        (path, legacy, aggregated)
    };
    paths.into_iter().map(both).collect()
}

fn routes(catalog: &Catalog) -> Vec<Option<ServerName>> {
    let pairs =
        GROUPS.iter().chain(&[""]).flat_map(|group| VERSIONS.iter().map(move |version| (group, version)));
    pairs
        .map(|(group, version)| catalog.route(group, version).server().map(|server| server.name.clone()))
        .collect()
}

fn assert_same(one: &Built, other: &Built) {
    assert_eq!(one.ownership, other.ownership);
    assert_eq!(one.conflicts, other.conflicts);
    assert_eq!(one.rejected, other.rejected);
    assert_eq!(read(&one.catalog), read(&other.catalog));
    assert_eq!(routes(&one.catalog), routes(&other.catalog));
    assert_eq!(one.catalog.openapi_v3_index(), other.catalog.openapi_v3_index());
}

fn parse<T: serde::de::DeserializeOwned>(catalog: &Catalog, path: &str, form: Form) -> T {
    let document = catalog.discovery(path, form).expect("a document");
    serde_json::from_slice(&document.body).expect("the right kind")
}

/// `group/version` of all that the two forms of `/apis` list.
fn listed(catalog: &Catalog) -> (Vec<String>, Vec<String>) {
    let legacy: v1::APIGroupList = parse(catalog, "/apis", Form::Legacy);
    let aggregated: v2::APIGroupDiscoveryList = parse(catalog, "/apis", Form::Aggregated);
    let of_aggregated = |group: &v2::APIGroupDiscovery| {
        let name = group.metadata.name.clone();
        group.versions.iter().map(move |version| format!("{name}/{}", version.version)).collect::<Vec<_>>()
    };
    let legacy =
        legacy.groups.iter().flat_map(|group| group.versions.iter().map(|v| v.group_version.clone()));
    (legacy.collect(), aggregated.items.iter().flat_map(of_aggregated).collect())
}

proptest! {
    // A failure is short enough to be read as it is; shrinking builds thousands of catalogs.
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::default() })]

    /// One version after the other, each from the catalog before: the same as from nothing.
    #[test]
    fn incremental_equals_full(steps in vec(contributions(), 1..5)) {
        let mut catalog = Catalog::empty();
        let mut ownership = Ownership::default();
        for (generation, contributions) in steps.iter().enumerate() {
            let full = Catalog::build(&ownership, generation as u64, contributions);
            let incremental = catalog.rebuild(&ownership, generation as u64, contributions);
            assert_same(&full, &incremental);
            catalog = incremental.catalog;
            ownership = incremental.ownership;
        }
    }

    #[test]
    fn order_of_contributions_does_not_matter(
        (one, other) in contributions().prop_flat_map(|c| (Just(c.clone()), Just(c).prop_shuffle()))
    ) {
        let one = Catalog::build(&Ownership::default(), 1, &one);
        let other = Catalog::build(&Ownership::default(), 1, &other);
        assert_same(&one, &other);
    }

    /// What is decided stays decided when nothing changes.
    #[test]
    fn settled(contributions in contributions(), before in self::contributions()) {
        let before = Catalog::build(&Ownership::default(), 1, &before).ownership;
        let first = Catalog::build(&before, 2, &contributions);
        let second = Catalog::build(&first.ownership, 3, &contributions);
        assert_same(&first, &second);
    }

    /// A newcomer, however old its registration, takes nothing from those who are there.
    #[test]
    fn newcomers_take_nothing(contributions in contributions(), newcomer in contribution("newcomer")) {
        let first = Catalog::build(&Ownership::default(), 1, &contributions);
        let newcomer = Contribution { registered_at: -1, ..newcomer };
        let with_newcomer: Vec<_> = contributions.iter().cloned().chain([newcomer]).collect();
        let second = Catalog::build(&first.ownership, 2, &with_newcomer);
        for group in GROUPS {
            for version in VERSIONS {
                if let Some(owner) = first.ownership.owner(group, version) {
                    // What the core only passes on may go to an APIService.
                    if owner.as_str() == ServerName::CORE {
                        continue;
                    }
                    prop_assert_eq!(second.ownership.owner(group, version), Some(owner), "{}/{}", group, version);
                }
            }
        }
    }

    /// What is listed is routed to the backend that offers it, both forms list the same, and each listed
    /// version has its own documents or is one that nobody has seen.
    #[test]
    fn documents_agree_with_routes(contributions in contributions()) {
        let catalog = Catalog::build(&Ownership::default(), 1, &contributions).catalog;
        let (legacy, aggregated) = listed(&catalog);
        prop_assert_eq!(legacy.iter().collect::<BTreeSet<_>>(), aggregated.iter().collect::<BTreeSet<_>>());
        prop_assert_eq!(legacy.len(), aggregated.len());
        for group_version in legacy {
            let (group, version) = group_version.split_once('/').expect("G/V");
            let owner = catalog.route(group, version).server().expect("a backend").name.clone();
            let contribution = contributions.iter().find(|c| c.server.name == owner).expect("a contribution");
            prop_assert!(claims(contribution, group, version), "{} does not claim {}", owner, group_version);
            let own = format!("/apis/{group}");
            let group_document: v1::APIGroup = parse(&catalog, &own, Form::Legacy);
            prop_assert!(group_document.versions.iter().any(|v| v.version == version));
            let offered = offers(contribution, group, version);
            prop_assert_eq!(catalog.discovery(&format!("{own}/{version}"), Form::Legacy).is_some(), offered);
        }
    }

    /// With a core nothing is routed nowhere, and built-in groups go nowhere else.
    #[test]
    fn core_gets_the_rest(contributions in contributions()) {
        let catalog = Catalog::build(&Ownership::default(), 1, &contributions).catalog;
        let core = contributions.iter().find(|c| c.server.role == Role::Core);
        for group in GROUPS.iter().chain(&["", "unknown"]) {
            for version in VERSIONS {
                let routed = catalog.route(group, version).server();
                prop_assert!(core.is_none() || routed.is_some());
                let built_in = core.and_then(|c| c.discovery.as_ref()).is_some_and(|discovery| {
                    discovery.groups.iter().any(|g| g.name == *group && g.origin == Origin::BuiltIn)
                });
                if built_in || core.is_some() && group.is_empty() {
                    prop_assert_eq!(routed.map(|server| server.role), Some(Role::Core));
                }
            }
        }
    }

    /// Nothing that a backend says can break a build or the validity of a document.
    #[test]
    fn hostile_contributions(
        names in vec((any::<String>(), any::<String>()), 0..6),
        resources in vec(json(), 1..4),
        legacy in option::of(vec(any::<u8>(), 0..64)),
        at in any::<i64>(),
        priorities in any::<(i32, i32)>(),
    ) {
        let (group_priority, version_priority) = priorities;
        let offer = |(i, (_, version)): (usize, &(String, String))| VersionOffer {
            version: version.clone(),
            resources: raw(&resources[i % resources.len()]),
            legacy: legacy.clone().map(Bytes::from),
            current: i % 2 == 0,
        };
        let offers: Vec<_> = names.iter().enumerate().map(offer).chain([VersionOffer {
            resources: raw(&resources[0]),
            ..version_offer("x", "v1")
        }]).collect();
        let group = |(name, _): &(String, String)| GroupOffer {
            name: name.clone(), origin: Origin::BuiltIn, versions: offers.clone(),
        };
        let groups = names.iter().map(group).chain([GroupOffer {
            name: "x.example.com".into(), origin: Origin::Server, versions: offers.clone(),
        }]).collect();
        let only = names.iter().map(|(g, v)| selected(g, v, group_priority, version_priority)).collect();
        let all = Selection::All { group_priority, version_priority };
        let contributions = [
            Contribution {
                selection: all,
                discovery: Some(Arc::new(Discovery { core: offers.clone(), groups })),
                ..unseen("a", at)
            },
            Contribution { selection: Selection::Only(only), ..unseen("b", at) },
            offering("good", at, &[("good.example.com", &["v1"])]),
        ];
        let catalog = Catalog::build(&Ownership::default(), 1, &contributions).catalog;
        let (legacy, aggregated) = listed(&catalog);
        prop_assert_eq!(legacy.len(), aggregated.len());
        prop_assert!(legacy.contains(&"good.example.com/v1".to_owned()));
        for (group, version) in &names {
            let _ = catalog.route(group, version);
            let _ = catalog.discovery(&format!("/apis/{group}/{version}"), Form::Legacy);
        }
    }
}

/// Any JSON, often something like a list of resources.
fn json() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("[]".to_owned()),
        Just(r#"[{"resource":"things","scope":"Namespaced","verbs":["get"]}]"#.to_owned()),
        Just(r#"[{"resource":7}]"#.to_owned()),
        Just("{\"a\":[null,1e400]}".to_owned()),
        any::<String>().prop_map(|text| serde_json::to_string(&text).expect("JSON")),
    ]
}

fn claims(contribution: &Contribution, group: &str, version: &str) -> bool {
    match &contribution.selection {
        Selection::Only(selected) if contribution.server.role == Role::Federated => {
            selected.iter().any(|s| s.group == group && s.version == version)
        }
        _ => offers(contribution, group, version),
    }
}

fn offers(contribution: &Contribution, group: &str, version: &str) -> bool {
    let groups = contribution.discovery.iter().flat_map(|discovery| &discovery.groups);
    groups.filter(|g| g.name == group).flat_map(|g| &g.versions).any(|v| v.version == version)
}
