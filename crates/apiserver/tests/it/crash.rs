//! The power fails during every sync in turn: nothing that was acknowledged is lost, no watch has a gap.

use std::time::Duration;

use apiserver::storage::{Embedded, Options, Revision, Store as _, Write};
use bytes::Bytes;

use crate::{
    disk::{Disk, Survives},
    support::{block_on, events, key, put},
};

/// What was acknowledged: revision, name, value (none: deleted).
type Acknowledged = Vec<(Revision, String, Option<String>)>;

fn open(disk: &Disk) -> Embedded {
    let disk = disk.clone();
    Embedded::open_on("disk", move || Ok(disk.clone()), Options::default()).unwrap()
}

/// Everything that writes to the disk. Ends when the power does.
async fn work(store: &Embedded, acknowledged: &mut Acknowledged) -> Option<()> {
    for number in 0..24 {
        let (name, value) = (format!("object-{}", number % 5), format!("{number}").repeat(1 + number * 40));
        let revision = put(store, &name, &value).await.ok()?;
        acknowledged.push((revision, name, Some(value)));
        match number % 8 {
            5 => {
                let (revision, name, _) = acknowledged.last()?.clone();
                let revision = store.write(Write::delete(key(&name), revision)).await.ok()?;
                acknowledged.push((revision, name, None));
            }
            6 => {
                let write = |n| Write::create(key(&format!("batch-{number}-{n}")), Bytes::from_static(b"b"));
                // Handed in together, so that they share commits.
                let pending: Vec<_> =
                    (0..10).map(|n| store.write(write(n).expiring_after(Duration::from_secs(900)))).collect();
                for (n, answer) in pending.into_iter().enumerate() {
                    let revision = answer.await.ok()?;
                    acknowledged.push((revision, format!("batch-{number}-{n}"), Some("b".to_owned())));
                }
            }
            _ => {}
        }
    }
    store.compact(Revision(3)).await.ok()
}

async fn check(store: &Embedded, acknowledged: &Acknowledged, what: &str) {
    let history = store.watch(&crate::support::all(), Revision(0)).await.is_ok();
    let from = if history { Revision(0) } else { Revision(3) };
    let seen = events(store, from).await;
    let numbers: Vec<u64> = seen.iter().map(|event| event.revision.0).collect();
    assert_eq!(numbers, (from.0 + 1..=from.0 + seen.len() as u64).collect::<Vec<_>>(), "{what}: a gap");
    for (revision, name, value) in acknowledged.iter().filter(|(revision, ..)| *revision > from) {
        let event = &seen[(revision.0 - from.0 - 1) as usize];
        let found = event.value.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!((event.key.name(), &found), (&**name, value), "{what}: revision {revision}");
    }
    // The present follows from the history.
    let mut replayed = std::collections::BTreeMap::new();
    for (revision, name, value) in acknowledged.iter().filter(|(revision, ..)| *revision <= from) {
        replayed.insert(name.clone(), value.clone().map(|value| (*revision, value)));
    }
    for event in &seen {
        let value = event.value.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        replayed.insert(event.key.name().to_owned(), value.map(|value| (event.revision, value)));
    }
    for (name, expected) in replayed {
        let item = store.get(&key(&name)).await.unwrap().content;
        let found = item.map(|item| (item.revision, String::from_utf8_lossy(&item.value).into_owned()));
        assert_eq!(found, expected, "{what}: {name}");
    }
}

#[test]
fn at_every_sync() {
    block_on(async {
        let disk = Disk::default();
        let mut acknowledged = Acknowledged::new();
        let store = open(&disk);
        work(&store, &mut acknowledged).await.unwrap();
        check(&store, &acknowledged, "without a failure").await;
        drop(store);
        let syncs = disk.syncs();
        assert!(syncs > 30, "{syncs} syncs");
        for sync in 1..=syncs {
            let disk = Disk::failing_at(sync);
            let mut acknowledged = Acknowledged::new();
            // The power may fail before the store is there at all.
            let opened = {
                let disk = disk.clone();
                Embedded::open_on("disk", move || Ok(disk.clone()), Options::default())
            };
            // Then there is nothing yet: a file gets its name when it is whole.
            let Ok(store) = opened else { continue };
            let done = work(&store, &mut acknowledged).await;
            assert!(done.is_none() || !disk.is_off() || sync + 3 >= syncs, "the failure was not seen");
            drop(store);
            for survives in
                [Survives::Nothing, Survives::All, Survives::Some(0x9e37_79b9), Survives::Some(0x85eb_ca6b)]
            {
                let what = format!("power failed during sync {sync} of {syncs}, {survives:?} survived");
                let found = disk.after_power_failure(survives);
                let store = open(&found);
                check(&store, &acknowledged, &what).await;
                // And it goes on.
                put(&store, "afterwards", "works").await.unwrap();
            }
        }
    });
}
