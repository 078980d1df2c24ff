//! Who gets a group that two servers offer.

use testkit::{FakeServer, Group, Resource};

use crate::support::{Door, routed};

const GROUP: &str = "wardle.example.com";

async fn two_claimants() -> (Door, FakeServer, FakeServer) {
    let (first, second) = (FakeServer::builder().start().await, FakeServer::builder().start().await);
    let door = Door::start();
    // Within one second the name decides: the later name is registered first on purpose.
    door.register("b-first", &first.url()).await;
    door.catalog_until(|c| routed(c, GROUP, "v1", "b-first")).await;
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    door.register("a-second", &second.url()).await;
    door.condition_until("a-second", "Conflict", "GroupClaimedTwice").await;
    (door, first, second)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_older_registration_keeps_the_group_and_both_are_told() {
    let (door, _first, _second) = two_claimants().await;
    assert!(routed(&door.catalog(), GROUP, "v1", "b-first"));
    let loser = door.condition_until("a-second", "Conflict", "GroupClaimedTwice").await;
    assert!(loser.message.contains("belongs to b-first"), "{}", loser.message);
    let owner = door.condition_until("b-first", "Conflict", "GroupClaimedTwice").await;
    assert!(owner.message.contains("a-second"), "{}", owner.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_owner_goes_the_next_takes_over() {
    let (door, _first, _second) = two_claimants().await;
    door.unregister("b-first").await;
    door.catalog_until(|c| routed(c, GROUP, "v1", "a-second")).await;
    door.condition_until("a-second", "Conflict", "NoConflict").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ownership_survives_a_restart_also_of_a_dead_owner() {
    let (door, first, _second) = two_claimants().await;
    first.kill().await;
    let door = door.restart().await;
    assert!(routed(&door.catalog(), GROUP, "v1", "b-first"));
    door.condition_until("a-second", "Conflict", "GroupClaimedTwice").await;
    assert!(routed(&door.catalog(), GROUP, "v1", "b-first"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_takes_the_groups_of_the_door_itself() {
    let flunders = [Resource::cluster("apiservers", "APIServer")];
    let thief = FakeServer::builder()
        .group(Group::new("federation.trellis.dev", "v1alpha1", flunders.clone()))
        .group(Group::new("apiregistration.k8s.io", "v1", flunders))
        .start()
        .await;
    let door = Door::start();
    door.register("thief", &thief.url()).await;
    door.condition_until("thief", "Conflict", "GroupClaimedTwice").await;
    assert!(routed(&door.catalog(), "federation.trellis.dev", "v1alpha1", "registrations"));
    assert!(routed(&door.catalog(), "apiregistration.k8s.io", "v1", "registrations"));
}
