//! What is done for a change is in proportion to the change, however many servers there are.

use registry::Effort;
use testkit::{FakeServer, Group, Resource};

use crate::support::{Door, routed};

const SERVERS: u64 = 40;

async fn servers() -> Vec<FakeServer> {
    let mut servers = Vec::new();
    for number in 0..=SERVERS {
        let group = Group::new(&group(number), "v1", [Resource::namespaced("flunders", "Flunder")]);
        servers.push(FakeServer::builder().group(group).start().await);
    }
    servers
}

fn group(number: u64) -> String {
    format!("group-{number}.example.com")
}

/// Registers one more server and waits until everything about it is known.
async fn register(door: &Door, number: u64, server: &FakeServer) {
    let name = format!("server-{number}");
    door.register(&name, &server.url()).await;
    door.catalog_until(|catalog| routed(catalog, &group(number), "v1", &name)).await;
    let document = format!("apis/{}/v1", group(number));
    door.catalog_until(|catalog| catalog.openapi_v3(&document).is_some()).await;
    door.condition_until(&name, "Degraded", "AsExpected").await;
    door.health_until(&name, |health| !health.group_versions.is_empty()).await;
}

/// A few for each of so many changes, and a few for each catalog; to do it for all servers each time would
/// be hundreds more.
fn assert_in_proportion(before: Effort, after: Effort, changes: u64) {
    let catalogs = after.catalogs - before.catalogs;
    assert!(catalogs <= 6 * changes, "{before:?} {after:?}");
    assert!(after.pieces - before.pieces <= 6 * changes + 3 * catalogs, "{before:?} {after:?}");
    assert!(after.conditions - before.conditions <= 12 * changes, "{before:?} {after:?}");
    assert_eq!(after.resolved - before.resolved, changes, "{before:?} {after:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_registrations_cost_many_times_what_one_costs() {
    let servers = servers().await;
    let door = Door::with(|config| {
        // Nothing but the registrations is to happen.
        config.polling.discovery = std::time::Duration::from_secs(3600);
        config.polling.openapi = std::time::Duration::from_secs(3600);
    });
    let nothing = door.registry.effort();
    for (number, server) in (0..SERVERS).zip(&servers) {
        register(&door, number, server).await;
    }
    let many = door.registry.effort();
    assert_in_proportion(nothing, many, SERVERS);
    register(&door, SERVERS, &servers[SERVERS as usize]).await;
    let one_more = door.registry.effort();
    assert_in_proportion(many, one_more, 1);
}
