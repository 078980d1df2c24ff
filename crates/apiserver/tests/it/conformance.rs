//! The embedded store, through the suite for all stores.

use apiserver::storage::{Embedded, Options, conformance::CHECKS};

/// Logs small enough that watchers have to go to the history.
fn run(make: impl Fn() -> Embedded) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for check in CHECKS {
        println!("{}", check.name);
        let store = make();
        runtime.block_on((check.run)(&store));
    }
}

#[test]
fn in_memory() {
    run(|| Embedded::in_memory(Options::default()).unwrap());
}

#[test]
fn in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let number = std::cell::Cell::new(0);
    run(|| {
        number.set(number.get() + 1);
        let file = folder.path().join(format!("{}.db", number.get()));
        Embedded::open(&file, Options::default()).unwrap()
    });
}

/// Checks do not disturb each other, and do not mind what was there before.
#[test]
fn all_in_one_store() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let store = Embedded::in_memory(Options::default()).unwrap();
    for check in CHECKS {
        runtime.block_on((check.run)(&store));
    }
}
