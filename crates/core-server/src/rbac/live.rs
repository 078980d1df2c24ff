//! The policy in a store, as of now.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use apiserver::{
    resource::Fields,
    storage::{Error, Key, ListOptions, Prefix, Store, Watch},
};
use arc_swap::ArcSwap;
use futures_util::FutureExt as _;
use tokio::sync::Mutex;

use super::policy::{Policy, RESOURCES};

/// Events taken at a time.
const BATCH: usize = 1000;
/// Nothing was read yet.
const NEVER: u64 = u64::MAX;

/// Looks at the store before each answer. When nothing was written since, that is one number; when something
/// was, the events of the four kinds.
pub(super) struct Live {
    store: Arc<dyn Store>,
    /// The write that was the last when the policy was found.
    seen: AtomicU64,
    policy: ArcSwap<Policy>,
    followed: Mutex<Option<Vec<Followed>>>,
}

/// The objects of one kind.
struct Followed {
    watch: Box<dyn Watch>,
    objects: BTreeMap<Key, Fields>,
}

impl Live {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            seen: AtomicU64::new(NEVER),
            policy: ArcSwap::from_pointee(Policy::default()),
            followed: Mutex::new(None),
        }
    }

    pub(super) async fn policy(&self) -> Result<Arc<Policy>, Error> {
        let now = self.store.revision().await?.0;
        if self.seen.load(Ordering::Acquire) == now {
            return Ok(self.policy.load_full());
        }
        let mut followed = self.followed.lock().await;
        // Read under the lock: whoever was faster has seen this much, or more.
        let now = self.store.revision().await?.0;
        if self.seen.load(Ordering::Acquire) == now {
            return Ok(self.policy.load_full());
        }
        let mut changed = false;
        let current = match followed.take() {
            Some(mut kinds) => match follow(&mut kinds) {
                Ok(news) => {
                    changed = news;
                    Some(kinds)
                }
                // The log was cut before it was read.
                Err(Error::Compacted { .. }) => None,
                Err(other) => return Err(other),
            },
            None => None,
        };
        let kinds = match current {
            Some(kinds) => kinds,
            None => {
                changed = true;
                self.read().await?
            }
        };
        if changed {
            let objects = kinds.iter().enumerate();
            let objects =
                objects.flat_map(|(kind, own)| own.objects.values().map(move |object| (kind, object)));
            self.policy.store(Arc::new(Policy::new(objects)));
        }
        *followed = Some(kinds);
        self.seen.store(now, Ordering::Release);
        Ok(self.policy.load_full())
    }

    async fn read(&self) -> Result<Vec<Followed>, Error> {
        let mut kinds = Vec::new();
        for resource in RESOURCES {
            let Ok(prefix) = Prefix::new(resource, None) else { continue };
            let listed = self.store.list(&prefix, ListOptions::default()).await?;
            let watch = self.store.watch(&prefix, listed.revision).await?;
            let entries = listed.content.entries.into_iter();
            let objects = entries.filter_map(|entry| Some((entry.key, read(&entry.item.value)?))).collect();
            kinds.push(Followed { watch, objects });
        }
        Ok(kinds)
    }
}

/// Takes the events that are there; whether there were any.
fn follow(kinds: &mut [Followed]) -> Result<bool, Error> {
    let mut changed = false;
    for kind in kinds {
        while let Some(events) = kind.watch.next(BATCH).now_or_never() {
            for event in events? {
                changed = true;
                match event.value.as_ref().and_then(|value| read(value)) {
                    Some(object) => kind.objects.insert(event.key.clone(), object),
                    None => kind.objects.remove(&event.key),
                };
            }
        }
    }
    Ok(changed)
}

/// What cannot be read allows nothing.
fn read(value: &[u8]) -> Option<Fields> {
    serde_json::from_slice(value)
        .inspect_err(|error| tracing::error!(%error, "policy in the store cannot be read"))
        .ok()
}
