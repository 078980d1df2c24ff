//! What every store must do, whatever it stands on. Each check wants a store that nobody else uses; it may
//! hold anything before, and its revisions may have gaps.
//! Run `(check.run)(&store).await` for each of [`CHECKS`].

#![allow(clippy::expect_used, clippy::panic, reason = "a check fails by panicking")]

mod history;
mod writes;

use std::{pin::Pin, time::Duration};

use bytes::Bytes;

use super::{Entry, Error, Event, Item, Key, ListOptions, Page, Prefix, Read, Revision, Store, Watch, Write};

/// One property.
pub struct Check {
    /// What must hold.
    pub name: &'static str,
    /// Panics when it does not.
    pub run: fn(&dyn Store) -> Running<'_>,
}

/// A check under way.
pub type Running<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

macro_rules! checks {
    ($($module:ident::$name:ident),* $(,)?) => {
        &[$(Check { name: stringify!($name), run: |store| Box::pin($module::$name(store)) }),*]
    };
}

/// All of them.
pub const CHECKS: &[Check] = checks![
    writes::what_is_written_is_read,
    writes::a_free_key_is_created_once,
    writes::only_what_was_read_is_replaced,
    writes::deleting_frees_the_key,
    writes::each_write_takes_a_later_revision,
    writes::a_refused_write_changes_nothing,
    writes::what_expires_goes_by_itself,
    writes::what_is_written_again_lives_anew,
    writes::one_of_many_writers_wins,
    history::lists_are_ordered_and_stay_below_their_prefix,
    history::pages_are_of_one_moment,
    history::the_past_can_be_listed,
    history::the_future_is_refused,
    history::a_watch_shows_every_write_once,
    history::a_watch_begins_where_a_list_ends,
    history::a_watch_knows_how_far_it_is,
    history::watches_see_their_prefix_only,
    history::a_watch_that_waits_can_be_dropped,
    history::compaction_forgets_the_past_only,
];

/// Longest that something may take which comes by itself.
const PATIENCE: Duration = Duration::from_secs(30);

/// A key of the resource that this check has to itself.
fn key(check: &str, name: &str) -> Key {
    Key::new(&format!("{check}.conformance.example.com"), Some("default"), name).expect("a key")
}

/// All keys of that resource.
fn all(check: &str) -> Prefix {
    Prefix::new(&format!("{check}.conformance.example.com"), None).expect("a prefix")
}

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

async fn create(store: &dyn Store, key: &Key, text: &str) -> Revision {
    store.write(Write::create(key.clone(), bytes(text))).await.expect("a free key")
}

async fn update(store: &dyn Store, key: &Key, text: &str, revision: Revision) -> Revision {
    store.write(Write::update(key.clone(), bytes(text), revision)).await.expect("the right revision")
}

async fn delete(store: &dyn Store, key: &Key, revision: Revision) -> Revision {
    store.write(Write::delete(key.clone(), revision)).await.expect("the right revision")
}

async fn get(store: &dyn Store, key: &Key) -> Option<Item> {
    store.get(key).await.expect("a read").content
}

async fn list(store: &dyn Store, prefix: &Prefix, options: ListOptions) -> Read<Page> {
    store.list(prefix, options).await.expect("a list")
}

async fn watch(store: &dyn Store, prefix: &Prefix, after: Revision) -> Box<dyn Watch> {
    store.watch(prefix, after).await.expect("a watch")
}

/// This many events, as key, value and what was there before.
async fn events(watch: &mut dyn Watch, count: usize) -> Vec<(String, Option<String>, Option<String>)> {
    let mut seen = Vec::<std::sync::Arc<Event>>::new();
    while seen.len() < count {
        let next = tokio::time::timeout(PATIENCE, watch.next(count - seen.len())).await;
        seen.extend(next.expect("an event in time").expect("a watch that lasts"));
    }
    assert!(seen.is_sorted_by(|a, b| a.revision < b.revision), "out of order: {seen:?}");
    let shown = |event: &std::sync::Arc<Event>| {
        let previous = event.previous.as_ref().map(|item| text(&item.value));
        (event.key.name().to_owned(), event.value.as_ref().map(text), previous)
    };
    seen.iter().map(shown).collect()
}

fn text(bytes: &Bytes) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Names and values.
fn content(entries: &[Entry]) -> Vec<(String, String)> {
    entries.iter().map(|entry| (entry.key.name().to_owned(), text(&entry.item.value))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
