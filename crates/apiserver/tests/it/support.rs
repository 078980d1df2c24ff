//! What several files need.

use apiserver::storage::{Embedded, Error, Event, Key, ListOptions, Prefix, Revision, Store as _, Write};
use bytes::Bytes;

/// Runs something to its end.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// An object of the one resource that is used here.
pub(crate) fn key(name: &str) -> Key {
    Key::new("things.example.com", Some("default"), name).unwrap()
}

/// All of that resource.
pub(crate) fn all() -> Prefix {
    Prefix::new("things.example.com", None).unwrap()
}

/// Creates, or replaces whatever is there.
pub(crate) async fn put(store: &Embedded, name: &str, value: &str) -> Result<Revision, Error> {
    let key = key(name);
    let value = Bytes::copy_from_slice(value.as_bytes());
    let write = match store.get(&key).await?.content {
        Some(item) => Write::update(key, value, item.revision),
        None => Write::create(key, value),
    };
    store.write(write).await
}

/// What is there now: names and values.
pub(crate) async fn content(store: &Embedded) -> Vec<(String, String)> {
    let page = store.list(&all(), ListOptions::default()).await.unwrap().content;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    page.entries.iter().map(|entry| (entry.key.name().to_owned(), text(&entry.item.value))).collect()
}

/// Every event after this revision up to the present.
pub(crate) async fn events(store: &Embedded, after: Revision) -> Vec<Event> {
    let end = store.revision().await.unwrap();
    let mut watch = store.watch(&all(), after).await.unwrap();
    let mut seen = Vec::<Event>::new();
    while seen.last().map_or(after, |event| event.revision) < end {
        seen.extend(watch.next(1000).await.unwrap().iter().map(|event| (**event).clone()));
    }
    seen
}
