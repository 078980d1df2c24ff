//! The registrations that the door keeps itself: one file for each in the state folder, and beside them
//! those of the watched directory. Numbers every change, so that clients can watch.

mod entry;
mod error;
mod files;
mod log;
mod shelf;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};
use tokio::sync::watch;

pub use error::{StoreError, StoreProblem};
pub use log::{Change, ChangeKind, Expired};

use crate::{
    clock,
    object::{Declared, ObjectKey, Resource, Source, declare, text},
};
use entry::{Entry, Kept};
use log::Log;
use shelf::Shelf;

/// Objects of the two kinds, with optimistic concurrency as the Kubernetes API knows it.
#[derive(Debug)]
pub struct Store {
    shelf: Shelf,
    /// Held while something is written to disk; readers never wait for it.
    writing: Mutex<()>,
    inner: Mutex<Inner>,
    changed: watch::Sender<u64>,
    /// The same without changes of status.
    registered: watch::Sender<u64>,
}

#[derive(Debug)]
struct Inner {
    objects: BTreeMap<ObjectKey, Entry>,
    /// Valid objects of the watched directory, the hidden ones included.
    files: BTreeMap<ObjectKey, FileObject>,
    log: Log,
    damaged: Vec<StoreProblem>,
    hidden: Vec<StoreProblem>,
}

/// An object of the watched directory.
#[derive(Clone, Debug)]
pub struct FileObject {
    /// The object with its metadata filled in, without status.
    pub value: Arc<Value>,
    /// The same, checked.
    pub declared: Arc<Declared>,
}

impl Store {
    /// Reads all objects below `folder`, which is made when it is missing. A file that cannot be read
    /// is reported by [`Store::problems`] and disturbs nothing else.
    ///
    /// # Errors
    /// When the folder itself cannot be made or read.
    pub fn open(folder: &Path) -> std::io::Result<Self> {
        let shelf = Shelf::open(folder)?;
        let (found, damaged) = shelf.load()?;
        let mut objects = BTreeMap::new();
        let mut newest = 0;
        for (value, declared) in found {
            let version = version_of(&value);
            newest = newest.max(version);
            let entry = Entry { kept: Kept::new(value, version), declared: Arc::new(declared) };
            objects.insert(entry.declared.key.clone(), entry);
        }
        let log = Log::starting_at(newest);
        let (changed, _) = watch::channel(log.version());
        let (registered, _) = watch::channel(log.version());
        let inner = Inner { objects, files: BTreeMap::new(), log, damaged, hidden: Vec::new() };
        Ok(Self { shelf, writing: Mutex::default(), inner: Mutex::new(inner), changed, registered })
    }

    /// Told the newest resource version after every change.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Told the newest resource version after every change of a registration itself; its status is no part
    /// of it.
    pub fn subscribe_registrations(&self) -> watch::Receiver<u64> {
        self.registered.subscribe()
    }

    /// What is wrong with files of the state folder, and with objects that are there twice.
    pub fn problems(&self) -> Vec<StoreProblem> {
        let inner = self.lock();
        inner.damaged.iter().chain(&inner.hidden).cloned().collect()
    }

    /// Every object as the registry uses it.
    pub fn declared(&self) -> Vec<Arc<Declared>> {
        self.lock().objects.values().map(|entry| Arc::clone(&entry.declared)).collect()
    }

    /// One object.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<Value>> {
        self.lock().objects.get(key).cloned().map(|entry| entry.value())
    }

    /// All objects of a kind in the order of their names, and the version at which this was so.
    pub fn list(&self, resource: Resource) -> (Vec<Arc<Value>>, u64) {
        let (kept, version): (Vec<Kept>, u64) = {
            let inner = self.lock();
            let of_kind = inner.objects.iter().filter(|(key, _)| key.resource == resource);
            (of_kind.map(|(_, entry)| entry.kept.clone()).collect(), inner.log.version())
        };
        (kept.iter().map(Kept::value).collect(), version)
    }

    /// The changes after `version`, oldest first.
    ///
    /// # Errors
    /// When they are no longer known.
    pub fn changes_after(&self, version: u64) -> Result<Vec<Change>, Expired> {
        let later = self.lock().log.after(version)?;
        Ok(later.read())
    }

    /// Adds an object; gives it uid, time, generation and version. Blocks until it is on disk.
    ///
    /// # Errors
    /// When it is invalid, the name is taken, or the disk refuses.
    pub fn create(
        &self,
        resource: Resource,
        mut value: Value,
        dry_run: bool,
    ) -> Result<Arc<Value>, StoreError> {
        let _writing = self.begin();
        let key = key_of(resource, &value);
        if self.lock().objects.contains_key(&key) {
            return Err(StoreError::AlreadyExists(key));
        }
        if let Some(object) = value.as_object_mut() {
            object.remove("status");
        }
        set_metadata(&mut value, "uid", json!(uuid::Uuid::new_v4().to_string()));
        set_metadata(&mut value, "creationTimestamp", json!(clock::format(clock::now())));
        set_metadata(&mut value, "generation", json!(1));
        self.commit(key, value, ChangeKind::Added, dry_run)
    }

    /// Replaces spec, labels and annotations of an object; its status stays. Blocks until it is on disk.
    /// With a resource version in `value` it has to be the current one.
    ///
    /// # Errors
    /// When there is none, it was changed meanwhile, comes from a file, is invalid, or the disk refuses.
    pub fn update(
        &self,
        resource: Resource,
        mut value: Value,
        dry_run: bool,
    ) -> Result<Arc<Value>, StoreError> {
        let _writing = self.begin();
        let key = key_of(resource, &value);
        let current = self.current(&key, &value)?;
        let before = current.value();
        let spec_changed = before.get("spec") != value.get("spec");
        let generation = current.declared.generation.saturating_add(i64::from(spec_changed));
        for field in ["uid", "creationTimestamp"] {
            let kept = before.pointer(&format!("/metadata/{field}")).cloned().unwrap_or_default();
            set_metadata(&mut value, field, kept);
        }
        set_metadata(&mut value, "generation", json!(generation));
        copy_status(&before, &mut value);
        if same_but_version(&before, &value) {
            return Ok(before);
        }
        self.commit(key, value, ChangeKind::Modified, dry_run)
    }

    /// Removes an object. `uid` and `version`, when given, have to be the current ones.
    ///
    /// # Errors
    /// When there is none, a precondition fails, it comes from a file, or the disk refuses.
    pub fn delete(
        &self,
        key: &ObjectKey,
        uid: Option<&str>,
        version: Option<&str>,
        dry_run: bool,
    ) -> Result<Arc<Value>, StoreError> {
        let _writing = self.begin();
        let precondition = json!({ "metadata": { "uid": uid, "resourceVersion": version } });
        let current = self.current(key, &precondition)?;
        if dry_run {
            return Ok(current.value());
        }
        self.shelf.remove(key)?;
        let mut inner = self.lock();
        let removed = inner.remove(key).unwrap_or(current.kept);
        inner.show_hidden_files();
        self.announce(&inner);
        Ok(removed.value())
    }

    /// Sets the status of an object, JSON text, when it is another one. Nothing is written to disk: status
    /// is observed again after a restart.
    pub fn set_status(&self, key: &ObjectKey, status: &Arc<str>) {
        let mut inner = self.lock();
        if inner.set_status(key, status) {
            tell(&self.changed, &inner);
        }
    }

    /// Replaces everything that comes from the watched directory.
    pub fn set_files(&self, objects: Vec<FileObject>) {
        let mut inner = self.lock();
        inner.set_files(objects);
        self.announce(&inner);
    }

    /// The current object, if it may be changed and is what the caller believes it to be.
    fn current(&self, key: &ObjectKey, expected: &Value) -> Result<Entry, StoreError> {
        let current = self.lock().objects.get(key).cloned();
        let current = current.ok_or_else(|| StoreError::NotFound(key.clone()))?;
        let value = current.value();
        if let Source::File { path, .. } = &current.declared.source {
            return Err(StoreError::InFile { key: key.clone(), path: path.clone() });
        }
        for field in ["uid", "resourceVersion"] {
            let pointer = format!("/metadata/{field}");
            let (now, then) = (text(&value, &pointer), text(expected, &pointer));
            if then.is_some_and(|then| !then.is_empty() && now != Some(then)) {
                return Err(if field == "uid" {
                    StoreError::OtherUid { key: key.clone(), expected: then.unwrap_or_default().to_owned() }
                } else {
                    StoreError::Modified(key.clone())
                });
            }
        }
        Ok(current)
    }

    /// Checks, writes and publishes an object.
    fn commit(
        &self,
        key: ObjectKey,
        mut value: Value,
        kind: ChangeKind,
        dry_run: bool,
    ) -> Result<Arc<Value>, StoreError> {
        let declared = declare(key.resource, &value, Source::Store)
            .map_err(|problems| StoreError::Invalid { key: key.clone(), problems })?;
        if dry_run {
            return Ok(Arc::new(value));
        }
        let version = self.lock().log.version() + 1;
        set_metadata(&mut value, "resourceVersion", json!(version.to_string()));
        self.shelf.save(&key, &value)?;
        let mut inner = self.lock();
        let kept = inner.insert(key, value, Arc::new(declared), kind);
        self.announce(&inner);
        drop(inner);
        Ok(kept.value())
    }

    fn begin(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self, inner: &Inner) {
        tell(&self.registered, inner);
        tell(&self.changed, inner);
    }
}

fn tell(watchers: &watch::Sender<u64>, inner: &Inner) {
    let version = inner.log.version();
    watchers.send_if_modified(|current| std::mem::replace(current, version) != version);
}

impl Inner {
    fn insert(&mut self, key: ObjectKey, value: Value, declared: Arc<Declared>, kind: ChangeKind) -> Kept {
        let kept = Kept::new(value, self.log.next());
        self.log.push(kind, key.resource, kept.clone());
        self.objects.insert(key, Entry { kept: kept.clone(), declared });
        kept
    }

    /// Tells whether the status is another one than before.
    fn set_status(&mut self, key: &ObjectKey, status: &Arc<str>) -> bool {
        let Some(entry) = self.objects.get_mut(key).filter(|entry| !entry.kept.has_status(status)) else {
            return false;
        };
        entry.kept = entry.kept.with_status(status, self.log.next());
        self.log.push(ChangeKind::Modified, key.resource, entry.kept.clone());
        true
    }

    fn remove(&mut self, key: &ObjectKey) -> Option<Kept> {
        let entry = self.objects.remove(key)?;
        let kept = entry.kept.at(self.log.next());
        self.log.push(ChangeKind::Deleted, key.resource, kept.clone());
        Some(kept)
    }
}

/// Kind and name of `value`.
pub(crate) fn key_of(resource: Resource, value: &Value) -> ObjectKey {
    ObjectKey { resource, name: text(value, "/metadata/name").unwrap_or_default().to_owned() }
}

/// Sets one field of the metadata.
pub(crate) fn set_metadata(value: &mut Value, field: &str, content: Value) {
    if let Some(metadata) = value
        .as_object_mut()
        .and_then(|object| object.entry("metadata").or_insert_with(|| json!({})).as_object_mut())
    {
        metadata.insert(field.to_owned(), content);
    }
}

fn copy_status(from: &Value, to: &mut Value) {
    let Some(object) = to.as_object_mut() else { return };
    match from.get("status") {
        Some(status) => object.insert("status".to_owned(), status.clone()),
        None => object.remove("status"),
    };
}

/// A version that no clock and no counter could have come to is from a damaged file, and counts as none.
fn version_of(value: &Value) -> u64 {
    let version = text(value, "/metadata/resourceVersion").and_then(|version| version.parse().ok());
    version.filter(|version| *version < u64::MAX / 4).unwrap_or(0)
}

/// Whether the two differ in nothing but the version they were read at, and when their fields were set.
fn same_but_version(a: &Value, b: &Value) -> bool {
    let bare = |value: &Value| {
        let mut value = value.clone();
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("resourceVersion");
            for entry in metadata.get_mut("managedFields").and_then(Value::as_array_mut).into_iter().flatten()
            {
                entry.as_object_mut().map(|entry| entry.remove("time"));
            }
        }
        value
    };
    bare(a) == bare(b)
}
