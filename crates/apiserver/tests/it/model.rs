//! Random histories against a model that keeps every state there ever was.

use std::collections::BTreeMap;

use apiserver::storage::{Embedded, Error, Item, ListOptions, Options, Revision, Store as _, Write};
use bytes::Bytes;
use proptest::prelude::*;

use crate::{
    disk::{Disk, Survives},
    support::{all, block_on, key},
};

#[derive(Clone, Debug)]
enum Step {
    /// Compares with the present revision, or with one that is off by so much.
    Put {
        name: u8,
        off: u64,
    },
    Create {
        name: u8,
    },
    Delete {
        name: u8,
        off: u64,
    },
    /// Lists as it was so many writes ago, in pages.
    List {
        ago: u64,
        limit: usize,
    },
    /// Watches from so many writes ago to the present.
    Watch {
        ago: u64,
    },
    Compact {
        ago: u64,
    },
    Restart,
    PowerFailure,
}

fn step() -> impl Strategy<Value = Step> {
    let name = 0..6u8;
    let off = prop_oneof![9 => Just(0u64), 1 => 1..4u64];
    prop_oneof![
        6 => (name.clone(), off.clone()).prop_map(|(name, off)| Step::Put { name, off }),
        3 => name.clone().prop_map(|name| Step::Create { name }),
        3 => (name, off).prop_map(|(name, off)| Step::Delete { name, off }),
        4 => (0..12u64, 1..5usize).prop_map(|(ago, limit)| Step::List { ago, limit }),
        2 => (0..12u64).prop_map(|ago| Step::Watch { ago }),
        1 => (0..8u64).prop_map(|ago| Step::Compact { ago }),
        1 => Just(Step::Restart),
        1 => Just(Step::PowerFailure),
    ]
}

type State = BTreeMap<String, Item>;

/// The state after each write; the first is that of an empty store.
struct Model {
    states: Vec<State>,
    compacted: u64,
}

impl Model {
    fn now(&self) -> &State {
        &self.states[self.states.len() - 1]
    }

    fn revision(&self) -> u64 {
        self.states.len() as u64 - 1
    }

    /// What the store must say to a compare-and-swap.
    fn write(
        &mut self,
        name: &str,
        expected: Option<u64>,
        value: Option<Bytes>,
    ) -> Result<u64, Option<Item>> {
        let current = self.now().get(name).cloned();
        if expected != current.as_ref().map(|item| item.revision.0) {
            return Err(current);
        }
        let revision = self.revision() + 1;
        let mut next = self.now().clone();
        match value {
            Some(value) => drop(next.insert(name.to_owned(), Item { value, revision: Revision(revision) })),
            None => drop(next.remove(name)),
        }
        self.states.push(next);
        Ok(revision)
    }
}

fn open(disk: &Disk) -> Embedded {
    let disk = disk.clone();
    Embedded::open_on("disk", move || Ok(disk.clone()), Options::default()).unwrap()
}

async fn compare_write(
    store: &Embedded,
    model: &mut Model,
    name: u8,
    expected: Option<u64>,
    value: Option<Bytes>,
) {
    let name = format!("n{name}");
    let write = match (expected, value.clone()) {
        (None, Some(value)) => Write::create(key(&name), value),
        (Some(at), Some(value)) => Write::update(key(&name), value, Revision(at)),
        (at, None) => Write::delete(key(&name), Revision(at.unwrap_or(u64::MAX))),
    };
    let expected = if value.is_none() { Some(expected.unwrap_or(u64::MAX)) } else { expected };
    match (store.write(write).await, model.write(&name, expected, value)) {
        (Ok(found), Ok(expected)) => assert_eq!(found.0, expected),
        (Err(Error::Conflict(conflict)), Err(current)) => assert_eq!(conflict.current, current),
        other => panic!("{other:?}"),
    }
}

async fn compare_list(store: &Embedded, model: &Model, at: u64, limit: usize) {
    let (mut after, mut found) = (None, Vec::new());
    loop {
        let options = ListOptions { at: Some(Revision(at)), after: after.clone(), limit: Some(limit) };
        let page = match store.list(&all(), options).await {
            Ok(page) => page.content,
            Err(Error::Compacted { oldest, .. }) => {
                return assert!(at < model.compacted && oldest.0 == model.compacted);
            }
            Err(other) => panic!("{other}"),
        };
        let state = &model.states[at as usize];
        found.extend(page.entries.iter().map(|entry| (entry.key.name().to_owned(), entry.item.clone())));
        assert_eq!(page.remaining, state.len() - found.len());
        after = page.entries.last().map(|entry| entry.key.clone()).or(after);
        if page.remaining == 0 {
            assert_eq!(found.into_iter().collect::<State>(), *state, "at {at}");
            return;
        }
    }
}

async fn compare_watch(store: &Embedded, model: &Model, from: u64) {
    let mut watch = match store.watch(&all(), Revision(from)).await {
        Ok(watch) => watch,
        Err(Error::Compacted { .. }) => return assert!(from < model.compacted),
        Err(other) => panic!("{other}"),
    };
    for revision in from + 1..=model.revision() {
        let events = watch.next(1).await.unwrap();
        let [event] = &*events else { panic!("{events:?}") };
        let (before, after) = (&model.states[revision as usize - 1], &model.states[revision as usize]);
        let name = event.key.name();
        assert_eq!(event.revision.0, revision);
        assert_eq!(event.previous.as_ref(), before.get(name));
        assert_eq!(event.value.as_ref(), after.get(name).map(|item| &item.value));
    }
    assert_eq!(watch.position().0, model.revision());
}

async fn run(steps: Vec<Step>) {
    let mut disk = Disk::default();
    let mut store = open(&disk);
    let mut model = Model { states: vec![State::new()], compacted: 0 };
    for (number, step) in steps.into_iter().enumerate() {
        let ago = |ago: u64| model.revision().saturating_sub(ago);
        let value = Some(Bytes::from(format!("value {number}")));
        let at = |model: &Model, name: u8, off: u64| {
            model.now().get(&format!("n{name}")).map(|item| item.revision.0 + off)
        };
        match step {
            Step::Put { name, off } => {
                let expected = at(&model, name, off);
                compare_write(&store, &mut model, name, expected, value).await;
            }
            Step::Create { name } => compare_write(&store, &mut model, name, None, value).await,
            Step::Delete { name, off } => {
                let expected = at(&model, name, off);
                compare_write(&store, &mut model, name, expected, None).await;
            }
            Step::List { ago: n, limit } => compare_list(&store, &model, ago(n), limit).await,
            Step::Watch { ago: n } => compare_watch(&store, &model, ago(n)).await,
            Step::Compact { ago: n } => {
                let revision = ago(n);
                store.compact(Revision(revision)).await.unwrap();
                model.compacted = model.compacted.max(revision);
            }
            Step::Restart => {
                drop(store);
                store = open(&disk);
            }
            Step::PowerFailure => {
                // Everything was acknowledged, so nothing may be lost.
                let found = disk.after_power_failure(Survives::Nothing);
                drop(store);
                disk = found;
                store = open(&disk);
            }
        }
        assert_eq!(store.revision().await.unwrap().0, model.revision());
    }
}

proptest! {
    #[test]
    fn prop_the_store_is_as_the_model(steps in prop::collection::vec(step(), 1..60)) {
        block_on(run(steps));
    }
}
