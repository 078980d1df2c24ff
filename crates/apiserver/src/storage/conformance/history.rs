//! Lists, the past, and watches.

use super::*;

pub(super) async fn lists_are_ordered_and_stay_below_their_prefix(store: &dyn Store) {
    let resource = "lists.conformance.example.com";
    let key = |resource: &str, namespace, name| Key::new(resource, namespace, name).expect("a key");
    for (namespace, name) in [("b", "x"), ("a", "z"), ("a", "y"), ("a-1", "w"), ("ab", "v")] {
        create(store, &key(resource, Some(namespace), name), name).await;
    }
    create(store, &key("lists.conformance.example.community", Some("a"), "foreign"), "").await;
    create(store, &key("listsx.conformance.example.com", Some("a"), "foreign"), "").await;
    let names = async |namespace| {
        let prefix = Prefix::new(resource, namespace).expect("a prefix");
        let page = list(store, &prefix, ListOptions::default()).await.content;
        assert_eq!(page.remaining, 0);
        page.entries.iter().map(|entry| entry.key.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(Some("a")).await, ["a/y", "a/z"].map(|rest| format!("{resource}/{rest}")));
    let every = ["a-1/w", "a/y", "a/z", "ab/v", "b/x"].map(|rest| format!("{resource}/{rest}"));
    assert_eq!(names(None).await, every);
    assert_eq!(names(Some("nobody")).await, Vec::<String>::new());
}

pub(super) async fn pages_are_of_one_moment(store: &dyn Store) {
    let (names, prefix) = (["a", "b", "c", "d", "e"], all("pages"));
    for name in names {
        create(store, &key("pages", name), "1").await;
    }
    let options = ListOptions { limit: Some(2), ..ListOptions::default() };
    let first = list(store, &prefix, options.clone()).await;
    assert_eq!(content(&first.content.entries), pairs(&[("a", "1"), ("b", "1")]));
    assert_eq!(first.content.remaining, 3);
    for name in ["b", "c", "e"] {
        let key = key("pages", name);
        let item = get(store, &key).await.expect("it exists");
        match name {
            "c" => delete(store, &key, item.revision).await,
            _ => update(store, &key, "2", item.revision).await,
        };
    }
    create(store, &key("pages", "d1"), "2").await;
    let after = |page: &Read<Page>| page.content.entries.last().map(|entry| entry.key.clone());
    let at = Some(first.revision);
    let second = list(store, &prefix, ListOptions { at, after: after(&first), ..options.clone() }).await;
    assert_eq!(content(&second.content.entries), pairs(&[("c", "1"), ("d", "1")]));
    assert_eq!((second.content.remaining, second.revision), (1, first.revision));
    let third = list(store, &prefix, ListOptions { at, after: after(&second), ..options.clone() }).await;
    assert_eq!(content(&third.content.entries), pairs(&[("e", "1")]));
    assert_eq!(third.content.remaining, 0);
    let now = list(store, &prefix, ListOptions::default()).await;
    let expected = pairs(&[("a", "1"), ("b", "2"), ("d", "1"), ("d1", "2"), ("e", "2")]);
    assert_eq!(content(&now.content.entries), expected);
    assert!(now.revision > first.revision);
}

pub(super) async fn the_past_can_be_listed(store: &dyn Store) {
    let prefix = all("past");
    let (a, b) = (key("past", "a"), key("past", "b"));
    let mut moments = vec![(store.revision().await.expect("a revision"), pairs(&[]))];
    let first = create(store, &a, "1").await;
    moments.push((first, pairs(&[("a", "1")])));
    let second = create(store, &b, "1").await;
    moments.push((second, pairs(&[("a", "1"), ("b", "1")])));
    let third = update(store, &a, "2", first).await;
    moments.push((third, pairs(&[("a", "2"), ("b", "1")])));
    let fourth = delete(store, &a, third).await;
    moments.push((fourth, pairs(&[("b", "1")])));
    let fifth = create(store, &a, "3").await;
    moments.push((fifth, pairs(&[("a", "3"), ("b", "1")])));
    for (revision, expected) in moments {
        let at = ListOptions { at: Some(revision), ..ListOptions::default() };
        let page = list(store, &prefix, at).await;
        assert_eq!((content(&page.content.entries), page.revision), (expected, revision));
    }
}

pub(super) async fn the_future_is_refused(store: &dyn Store) {
    let current = store.revision().await.expect("a revision");
    let requested = Revision(current.0 + 1000);
    let options = ListOptions { at: Some(requested), ..ListOptions::default() };
    match store.list(&all("future"), options).await {
        Err(Error::Ahead { requested: said, current: at }) => assert!(said == requested && at >= current),
        other => panic!("{other:?}"),
    }
    match store.compact(requested).await {
        Err(Error::Ahead { .. }) => {}
        other => panic!("{other:?}"),
    }
}

pub(super) async fn a_watch_shows_every_write_once(store: &dyn Store) {
    const WRITES: usize = 3000;
    let (prefix, key) = (all("every"), key("every", "a"));
    let start = store.revision().await.expect("a revision");
    let mut early = watch(store, &prefix, start).await;
    let mut revision = create(store, &key, "0").await;
    for number in 1..WRITES {
        revision = update(store, &key, &number.to_string(), revision).await;
    }
    // One that has waited since before, and one that comes when all is over.
    let mut late = watch(store, &prefix, start).await;
    for watch in [&mut early, &mut late] {
        let seen = events(&mut **watch, WRITES).await;
        for (number, event) in seen.iter().enumerate() {
            let before = number.checked_sub(1).map(|number| number.to_string());
            assert_eq!(*event, ("a".to_owned(), Some(number.to_string()), before));
        }
        assert!(watch.position() >= revision);
    }
}

pub(super) async fn a_watch_begins_where_a_list_ends(store: &dyn Store) {
    let prefix = all("begin");
    create(store, &key("begin", "a"), "1").await;
    let listed = list(store, &prefix, ListOptions::default()).await;
    let between = create(store, &key("begin", "b"), "2").await;
    let mut watch = watch(store, &prefix, listed.revision).await;
    delete(store, &key("begin", "b"), between).await;
    let expected =
        [("b".to_owned(), Some("2".to_owned()), None), ("b".to_owned(), None, Some("2".to_owned()))];
    assert_eq!(events(&mut *watch, 2).await, expected);
}

pub(super) async fn a_watch_knows_how_far_it_is(store: &dyn Store) {
    let start = store.revision().await.expect("a revision");
    let mut quiet = watch(store, &all("quiet"), start).await;
    assert!(quiet.position() >= start);
    // What happens elsewhere moves it on: a bookmark can say so.
    let elsewhere = create(store, &key("busy", "a"), "1").await;
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while quiet.position() < elsewhere {
        assert!(tokio::time::Instant::now() < deadline, "at {} for ever", quiet.position());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // It never passes an event that was not handed out.
    let event = create(store, &key("quiet", "a"), "1").await;
    create(store, &key("busy", "b"), "1").await;
    assert!(quiet.position() < event);
    events(&mut *quiet, 1).await;
    assert!(quiet.position() >= event);
}

pub(super) async fn watches_see_their_prefix_only(store: &dyn Store) {
    let resource = "narrow.conformance.example.com";
    let key = |namespace, name| Key::new(resource, Some(namespace), name).expect("a key");
    let start = store.revision().await.expect("a revision");
    let prefix = |namespace| Prefix::new(resource, namespace).expect("a prefix");
    let (mut one, mut both) =
        (watch(store, &prefix(Some("a")), start).await, watch(store, &prefix(None), start).await);
    for (namespace, name) in [("b", "1"), ("a", "2"), ("ab", "3"), ("a", "4")] {
        create(store, &key(namespace, name), "").await;
    }
    let names = |events: Vec<(String, Option<String>, Option<String>)>| {
        events.into_iter().map(|(name, ..)| name).collect::<Vec<_>>()
    };
    assert_eq!(names(events(&mut *one, 2).await), ["2", "4"]);
    assert_eq!(names(events(&mut *both, 4).await), ["1", "2", "3", "4"]);
}

pub(super) async fn a_watch_that_waits_can_be_dropped(store: &dyn Store) {
    let start = store.revision().await.expect("a revision");
    let mut watch = watch(store, &all("dropped"), start).await;
    for number in 0..20 {
        let waiting = tokio::time::timeout(Duration::from_micros(number * 50), watch.next(10)).await;
        assert!(waiting.is_err(), "nothing was written yet");
    }
    create(store, &key("dropped", "a"), "1").await;
    assert_eq!(events(&mut *watch, 1).await, [("a".to_owned(), Some("1".to_owned()), None)]);
}

pub(super) async fn compaction_forgets_the_past_only(store: &dyn Store) {
    let (prefix, key) = (all("compacted"), key("compacted", "a"));
    let first = create(store, &key, "1").await;
    let second = update(store, &key, "2", first).await;
    let third = update(store, &key, "3", second).await;
    store.compact(second).await.expect("a compaction");
    store.compact(first).await.expect("nothing to do");
    match store.watch(&prefix, first).await.map(drop) {
        Err(Error::Compacted { requested, oldest }) => assert!(requested == first && oldest >= second),
        other => panic!("{other:?}"),
    }
    let at = |revision| ListOptions { at: Some(revision), ..ListOptions::default() };
    match store.list(&prefix, at(first)).await {
        Err(Error::Compacted { .. }) => {}
        other => panic!("{other:?}"),
    }
    let page = list(store, &prefix, at(second)).await;
    assert_eq!(content(&page.content.entries), pairs(&[("a", "2")]));
    let mut watch = watch(store, &prefix, second).await;
    let expected = [("a".to_owned(), Some("3".to_owned()), Some("2".to_owned()))];
    assert_eq!(events(&mut *watch, 1).await, expected);
    assert_eq!(get(store, &key).await.map(|item| item.revision), Some(third));
}
