//! A disk without room: writes are refused in a sentence, reads go on, and room makes all well again.

use apiserver::storage::{Embedded, Error, Options, Revision};

use crate::{
    disk::Disk,
    support::{block_on, content, events, put},
};

#[test]
fn full_and_free_again() {
    block_on(async {
        let disk = Disk::default();
        let opened = disk.clone();
        let store =
            Embedded::open_on("/state/store.db", move || Ok(opened.clone()), Options::default()).unwrap();
        put(&store, "first", "kept").await.unwrap();
        disk.set_capacity(Some(disk.len()));
        let large = "x".repeat(200_000);
        let mut acknowledged = vec!["first".to_owned()];
        let error = loop {
            let name = format!("large-{}", acknowledged.len());
            match put(&store, &name, &large).await {
                Ok(_) => acknowledged.push(name),
                Err(error) => break error,
            }
            assert!(acknowledged.len() < 1000, "the disk never fills");
        };
        assert!(matches!(error, Error::ReadOnly { .. } | Error::OutcomeUnknown { .. }), "{error}");
        assert!(error.to_string().starts_with("/state/store.db"), "{error}");
        let names = content(&store).await.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        let missing: Vec<_> = acknowledged.iter().filter(|name| !names.contains(name)).collect();
        assert!(missing.is_empty(), "lost: {missing:?}");
        disk.set_capacity(None);
        let last = put(&store, "last", "works").await.unwrap();
        let seen = events(&store, Revision(0)).await;
        assert_eq!(seen.len() as u64, last.0, "a gap");
    });
}

/// The same on a real file system of three mebibytes.
#[test]
fn on_a_real_file_system() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let mounted =
        std::process::Command::new("mount").args(["-t", "tmpfs", "-o", "size=3m", "none", path]).status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("skipped: mounting a file system needs root");
        return;
    }
    let outcome = std::panic::catch_unwind(|| block_on(fill(&folder.path().join("store.db"))));
    std::process::Command::new("umount").arg(path).status().unwrap();
    outcome.unwrap();
}

async fn fill(file: &std::path::Path) {
    let other = file.with_extension("other");
    let store = Embedded::open(file, Options::default()).unwrap();
    put(&store, "first", "kept").await.unwrap();
    // Room that can be given back later.
    let room = std::fs::metadata(file).unwrap().len();
    assert!(room < 2_500_000, "the empty store has {room} bytes");
    std::fs::write(&other, vec![1; 300_000]).unwrap();
    let value = "x".repeat(50_000);
    let mut written = 0;
    let error = loop {
        match put(&store, &format!("large-{written}"), &value).await {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 1000, "the disk never fills");
    };
    assert!(matches!(error, Error::ReadOnly { .. } | Error::OutcomeUnknown { .. }), "{error}");
    assert!(content(&store).await.len() > written);
    std::fs::remove_file(&other).unwrap();
    put(&store, "last", "works").await.unwrap();
    drop(store);
    let store = Embedded::open(file, Options::default()).unwrap();
    assert!(content(&store).await.len() > written + 1);
}
