//! A tiny store: objects by path, one resource version for all, watches.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use serde_json::{Value, json};
use tokio::sync::broadcast;

/// A change of an object.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) kind: &'static str,
    pub(crate) path: String,
    pub(crate) object: Value,
}

pub(crate) struct Store {
    state: Mutex<State>,
    changes: broadcast::Sender<Change>,
}

#[derive(Default)]
struct State {
    version: u64,
    /// By path: `/apis/GROUP/VERSION[/namespaces/NS]/RESOURCE/NAME`.
    objects: BTreeMap<String, Value>,
}

impl Default for Store {
    fn default() -> Self {
        Self { state: Mutex::default(), changes: broadcast::channel(1024).0 }
    }
}

impl Store {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        self.state().objects.get(path).cloned()
    }

    /// The objects that `belongs`, and the version of the list.
    pub(crate) fn list(&self, belongs: impl Fn(&str) -> bool) -> (Vec<Value>, String) {
        let state = self.state();
        let items = state.objects.iter().filter(|(path, _)| belongs(path)).map(|(_, object)| object.clone());
        (items.collect(), state.version.to_string())
    }

    /// Puts an object in place and tells its new form.
    pub(crate) fn put(&self, path: &str, mut object: Value) -> Value {
        let mut state = self.state();
        state.version += 1;
        object["metadata"]["resourceVersion"] = json!(state.version.to_string());
        let known = state.objects.insert(path.to_owned(), object.clone()).is_some();
        let kind = if known { "MODIFIED" } else { "ADDED" };
        let _ = self.changes.send(Change { kind, path: path.to_owned(), object: object.clone() });
        object
    }

    pub(crate) fn remove(&self, path: &str) -> Option<Value> {
        let mut state = self.state();
        let object = state.objects.remove(path)?;
        state.version += 1;
        let _ = self.changes.send(Change { kind: "DELETED", path: path.to_owned(), object: object.clone() });
        Some(object)
    }

    pub(crate) fn watch(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}

/// RFC 7396.
pub(crate) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, change) in changes {
        match change {
            Value::Null => {
                target.as_object_mut().expect("made an object above").remove(key);
            }
            change => merge(&mut target[key.as_str()], change),
        }
    }
}
