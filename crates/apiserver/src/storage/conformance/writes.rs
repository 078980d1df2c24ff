//! Compare and swap.

use super::*;

pub(super) async fn what_is_written_is_read(store: &dyn Store) {
    for (name, value) in [("empty", ""), ("text", "value"), ("binary", "\0\u{7f}\u{0}")] {
        let key = key("read", name);
        assert_eq!(get(store, &key).await, None);
        let revision = create(store, &key, value).await;
        let read = store.get(&key).await.expect("a read");
        assert_eq!(read.content, Some(Item { value: bytes(value), revision }));
        assert!(read.revision >= revision);
    }
}

pub(super) async fn a_free_key_is_created_once(store: &dyn Store) {
    let key = key("create", "a");
    let revision = create(store, &key, "first").await;
    match store.write(Write::create(key.clone(), bytes("second"))).await {
        Err(Error::Conflict(conflict)) => {
            assert_eq!(conflict.key, key);
            assert_eq!(conflict.current, Some(Item { value: bytes("first"), revision }));
        }
        other => panic!("{other:?}"),
    }
}

pub(super) async fn only_what_was_read_is_replaced(store: &dyn Store) {
    let key = key("update", "a");
    let first = create(store, &key, "first").await;
    let second = update(store, &key, "second", first).await;
    for write in [
        Write::update(key.clone(), bytes("late"), first),
        Write::delete(key.clone(), first),
        Write::update(key.clone(), bytes("early"), Revision(second.0 + 1)),
    ] {
        match store.write(write).await {
            Err(Error::Conflict(conflict)) => {
                assert_eq!(conflict.current, Some(Item { value: bytes("second"), revision: second }));
            }
            other => panic!("{other:?}"),
        }
    }
}

pub(super) async fn deleting_frees_the_key(store: &dyn Store) {
    let key = key("delete", "a");
    let created = create(store, &key, "first").await;
    let deleted = delete(store, &key, created).await;
    assert!(deleted > created);
    assert_eq!(get(store, &key).await, None);
    match store.write(Write::delete(key.clone(), created)).await {
        Err(Error::Conflict(conflict)) => assert_eq!(conflict.current, None),
        other => panic!("{other:?}"),
    }
    assert!(create(store, &key, "second").await > deleted);
}

pub(super) async fn each_write_takes_a_later_revision(store: &dyn Store) {
    let mut last = store.revision().await.expect("a revision");
    for number in 0..20 {
        let key = key("revisions", &format!("a{}", number % 3));
        let current = get(store, &key).await;
        let revision = match current {
            None => create(store, &key, "new").await,
            Some(item) if number % 2 == 0 => delete(store, &key, item.revision).await,
            Some(item) => update(store, &key, "old", item.revision).await,
        };
        assert!(revision > last);
        last = revision;
    }
    assert!(store.revision().await.expect("a revision") >= last);
}

pub(super) async fn a_refused_write_changes_nothing(store: &dyn Store) {
    let (kept, free) = (key("refused", "kept"), key("refused", "free"));
    let revision = create(store, &kept, "kept").await;
    let mut watch = watch(store, &all("refused"), revision).await;
    let wrong = Revision(revision.0 + 7);
    store.write(Write::create(kept.clone(), bytes("x"))).await.expect_err("it exists");
    store.write(Write::update(kept.clone(), bytes("x"), wrong)).await.expect_err("another revision");
    store.write(Write::update(free.clone(), bytes("x"), wrong)).await.expect_err("nothing there");
    store.write(Write::delete(free.clone(), wrong)).await.expect_err("nothing there");
    assert_eq!(get(store, &kept).await, Some(Item { value: bytes("kept"), revision }));
    assert_eq!(get(store, &free).await, None);
    create(store, &free, "end").await;
    assert_eq!(events(&mut *watch, 1).await, [("free".to_owned(), Some("end".to_owned()), None)]);
}

pub(super) async fn what_expires_goes_by_itself(store: &dyn Store) {
    let key = key("expiring", "a");
    let write = Write::create(key.clone(), bytes("short")).expiring_after(Duration::from_secs(1));
    let revision = store.write(write).await.expect("a free key");
    let mut watch = watch(store, &all("expiring"), revision).await;
    let gone = [("a".to_owned(), None, Some("short".to_owned()))];
    assert_eq!(events(&mut *watch, 1).await, gone);
    assert_eq!(get(store, &key).await, None);
}

pub(super) async fn what_is_written_again_lives_anew(store: &dyn Store) {
    let (renewed, other) = (key("renewed", "kept"), key("renewed", "other"));
    let short = |key: &Key| Write::create(key.clone(), bytes("short")).expiring_after(Duration::from_secs(1));
    let revision = store.write(short(&renewed)).await.expect("a free key");
    let revision = update(store, &renewed, "long", revision).await;
    store.write(short(&other)).await.expect("a free key");
    let mut watch = watch(store, &all("renewed"), revision).await;
    // The other one, which was written later, is gone; by then this one would be too.
    let seen = events(&mut *watch, 2).await;
    assert_eq!(seen[1], ("other".to_owned(), None, Some("short".to_owned())));
    assert_eq!(get(store, &renewed).await.map(|item| item.revision), Some(revision));
}

pub(super) async fn one_of_many_writers_wins(store: &dyn Store) {
    const WRITERS: usize = 64;
    let key = key("race", "a");
    let mut revision = create(store, &key, "start").await;
    for round in 0..5 {
        let mut attempts = Vec::new();
        for writer in 0..WRITERS {
            let write = Write::update(key.clone(), bytes(&format!("{round}-{writer}")), revision);
            attempts.push(store.write(write));
        }
        let mut won = Vec::new();
        // All are under way before the first is waited for.
        for (writer, attempt) in attempts.into_iter().enumerate() {
            match attempt.await {
                Ok(revision) => won.push((writer, revision)),
                Err(Error::Conflict(_)) => {}
                Err(other) => panic!("{other}"),
            }
        }
        let [(winner, at)] = *won else { panic!("round {round}: {won:?}") };
        let current = get(store, &key).await.expect("it exists");
        assert_eq!(current, Item { value: bytes(&format!("{round}-{winner}")), revision: at });
        revision = at;
    }
}
