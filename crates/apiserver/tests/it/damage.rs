//! Files that are not what was written: a clear error, and what can be read is kept.

use std::{fs, path::Path};

use apiserver::storage::{Embedded, Error, Options, Store as _, salvage};

use crate::support::{block_on, content, key, put};

const OBJECTS: usize = 200;

fn value(number: usize) -> String {
    format!("value {number} ").repeat(20)
}

/// A file with objects in it.
fn prepare(file: &Path) {
    let store = Embedded::open(file, Options::default()).unwrap();
    block_on(async {
        for number in 0..OBJECTS {
            put(&store, &format!("a{number}"), &value(number)).await.unwrap();
        }
    });
}

#[test]
fn every_page_in_turn() {
    const PAGE: usize = 4096;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    prepare(&file);
    let whole = fs::read(&file).unwrap();
    let (mut refused, mut salvaged_objects) = (0, Vec::new());
    for page in 0..whole.len() / PAGE {
        if whole[page * PAGE..(page + 1) * PAGE].iter().all(|byte| *byte == 0) {
            continue;
        }
        let mut bytes = whole.clone();
        for byte in &mut bytes[page * PAGE..(page + 1) * PAGE] {
            *byte = !*byte;
        }
        let damaged = folder.path().join("damaged.db");
        fs::write(&damaged, &bytes).unwrap();
        match Embedded::open(&damaged, Options::default()) {
            // The page is not in use.
            Ok(store) => block_on(whatever_is_read_is_right(&store)),
            Err(error @ (Error::Damaged { .. } | Error::Open { .. })) => {
                refused += 1;
                assert!(error.to_string().contains("damaged.db"), "{error}");
                fs::write(&damaged, &bytes).unwrap();
                let rescued = folder.path().join("rescued.db");
                let found = salvage(&damaged, &rescued).unwrap();
                let store = Embedded::open(&rescued, Options::default()).unwrap();
                block_on(whatever_is_read_is_right(&store));
                salvaged_objects.push(found.objects);
                drop(store);
                fs::remove_file(&rescued).unwrap();
            }
            Err(other) => panic!("page {page}: {other}"),
        }
    }
    assert!(refused > 3, "hardly any damage was found");
    // A page holds a dozen objects, and each is in two tables.
    let worst = salvaged_objects.iter().min().unwrap();
    assert!(*worst > OBJECTS - 30, "only {worst} of {OBJECTS} were found");
}

async fn whatever_is_read_is_right(store: &Embedded) {
    for (name, found) in content(store).await {
        let number: usize = name[1..].parse().unwrap();
        assert_eq!(found, value(number));
    }
}

#[test]
fn cut_or_something_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    prepare(&file);
    let whole = fs::read(&file).unwrap();
    let text = b"apiVersion: v1\nkind: ConfigMap\n".repeat(400);
    for (what, bytes) in [
        ("half", &whole[..whole.len() / 2]),
        ("a page", &whole[..4096]),
        ("text", &text[..]),
        ("a word", b"word"),
    ] {
        fs::write(&file, bytes).unwrap();
        let error = Embedded::open(&file, Options::default()).map(drop).expect_err(what);
        assert!(matches!(error, Error::Damaged { .. } | Error::Open { .. }), "{what}: {error}");
        assert!(error.to_string().contains("store.db"), "{what}: {error}");
    }
}

#[test]
fn salvage_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    prepare(&file);
    let error = salvage(&file, &file).unwrap_err();
    assert!(error.to_string().contains("exists"), "{error}");
    let store = Embedded::open(&file, Options::default()).unwrap();
    block_on(async { assert!(store.get(&key("a0")).await.unwrap().content.is_some()) });
}

#[test]
fn one_process_at_a_time() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let store = Embedded::open(&file, Options::default()).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let error = Embedded::open(&file, Options::default()).map(drop).unwrap_err();
    assert!(error.to_string().contains("another process has it open"), "{error}");
    // A watch that is still there does not keep the file.
    let watch = block_on(async {
        store.watch(&crate::support::all(), store.revision().await.unwrap()).await.unwrap()
    });
    drop(store);
    Embedded::open(&file, Options::default()).unwrap();
    drop(watch);
}
