//! How long a build takes with 200 servers: from nothing, with one changed server, with none.
//! `cargo run --release -p catalog --example build_time [SERVERS]`

use std::{
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use catalog::{
    Catalog, Contribution, Credentials, Discovery, DocumentRef, GroupOffer, IdentityMode, Limits, OpenApi,
    Origin, Ownership, Role, Roots, Selection, Server, ServerName, Trust, VersionOffer,
};
use serde_json::{json, value::RawValue};

const ROUNDS: u32 = 100;

fn main() {
    let servers = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(200);
    let mut contributions: Vec<_> = (0..servers).map(|n| contribution(n, 0)).collect();
    let first = Catalog::build(&Ownership::default(), 1, &contributions);
    let document = first.catalog.discovery("/apis", catalog::Form::Aggregated);
    println!("{servers} servers, /apis of {} kB", document.map_or(0, |d| d.body.len() / 1000));

    report("from nothing", || drop(Catalog::build(&first.ownership, 2, &contributions)));
    report("nothing changed", || drop(first.catalog.rebuild(&first.ownership, 2, &contributions)));
    contributions[0] = contribution(0, 1);
    report("one changed", || drop(first.catalog.rebuild(&first.ownership, 2, &contributions)));
    report("1000 routes", || {
        for _ in 0..1000 {
            std::hint::black_box(first.catalog.route(std::hint::black_box("group-100.example.com"), "v1"));
        }
    });
    report("1000 documents", || {
        for _ in 0..1000 {
            let path = std::hint::black_box("/apis/group-100.example.com/v1");
            std::hint::black_box(first.catalog.discovery(path, catalog::Form::Legacy));
        }
    });
}

/// Mean of many rounds, in processor time: what else the machine does is not counted.
fn report(what: &str, mut run: impl FnMut()) {
    let start = processor_time();
    (0..ROUNDS).for_each(|_| run());
    println!("{what:>16}: {:?}", processor_time().saturating_sub(start) / ROUNDS);
}

/// Time on a processor so far, as the kernel counts it in nanoseconds; elsewhere the time of the clock.
fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let counted = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = counted.and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// One group with two versions of ten resources each.
fn contribution(number: usize, change: usize) -> Contribution {
    let group = format!("group-{number}.example.com");
    let versions = vec![version(&group, "v1", change), version(&group, "v1beta1", 0)];
    let groups = vec![GroupOffer { name: group.clone(), origin: Origin::Server, versions }];
    let document = |version: &str| {
        let hash = format!("{number:0>128}").into();
        (format!("apis/{group}/{version}"), DocumentRef { hash, len: 64_000 })
    };
    Contribution {
        server: Arc::new(server(&format!("server-{number}"))),
        registered_at: i64::try_from(number).unwrap_or_default(),
        selection: Selection::All { group_priority: 1000, version_priority: 15 },
        discovery: Some(Arc::new(Discovery { core: Vec::new(), groups })),
        openapi: Arc::new(OpenApi { v2: None, v3: ["v1", "v1beta1"].map(document).into() }),
    }
}

fn version(group: &str, version: &str, change: usize) -> VersionOffer {
    let resource = |n: usize| {
        json!({
            "resource": format!("things{n}x{change}"),
            "responseKind": {"group": group, "version": version, "kind": format!("Thing{n}")},
            "scope": "Namespaced",
            "singularResource": format!("thing{n}"),
            "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
            "shortNames": [format!("t{n}")],
            "categories": ["all"],
            "subresources": [{
                "subresource": "status",
                "responseKind": {"group": group, "version": version, "kind": format!("Thing{n}")},
                "verbs": ["get", "patch", "update"],
            }],
        })
    };
    let resources = serde_json::Value::from_iter((0..10).map(resource)).to_string();
    let resources =
        RawValue::from_string(resources).map(Arc::from).unwrap_or_else(|_| unreachable!("it is JSON"));
    VersionOffer { version: version.to_owned(), resources, legacy: None, current: true }
}

fn server(name: &str) -> Server {
    Server {
        name: ServerName::new(name),
        revision: 1,
        role: Role::Federated,
        endpoints: Vec::new(),
        base_path: String::new(),
        trust: Trust { roots: Roots::System, server_name: None, skip_verification: false },
        identity: IdentityMode::RequestHeader,
        credentials: Credentials::default(),
        limits: Limits::default(),
        direct_address: None,
    }
}
