//! What kube-apiserver does around the rules of ownership.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    ApplyError, Conversion, FieldSet, MAX_UPDATE_MANAGERS, last_applied,
    managed::{Managed, ManagerId, Owned},
    typed::Typed,
    updater::Updater,
};
use crate::schema::types::Types;

/// Who had set what when the first apply came, and nobody had kept track.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";
/// Who has what the oldest updates have set.
const ANCIENT: &str = "ancient-changes";
/// For whom the annotation of client-side apply counts.
const KUBECTL: &str = "kubectl";
/// Metadata that nobody owns.
const STRIPPED: [&[&str]; 12] = [
    &["apiVersion"],
    &["kind"],
    &["metadata"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "creationTimestamp"],
    &["metadata", "selfLink"],
    &["metadata", "uid"],
    &["metadata", "clusterName"],
    &["metadata", "generation"],
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
];

/// Keeps the managed fields of one kind in one version.
pub struct FieldManager<'a> {
    /// The types of all versions of the kind.
    pub types: &'a Types,
    /// From one version to another.
    pub conversion: &'a dyn Conversion,
    /// The version of the request, as in an object.
    pub api_version: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// The subresource of the request; empty for the object itself.
    pub subresource: &'a str,
    /// Fields that requests of this kind do not reach, by version: `status`, or all but it.
    pub ignored: &'a BTreeMap<String, FieldSet>,
    /// An object of this kind in which nothing is set, as it would be written.
    pub empty: &'a Value,
}

/// An apply.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Who applies.
    pub manager: &'a str,
    /// Whether to take from others what is in conflict.
    pub force: bool,
    /// RFC 3339, whole seconds.
    pub now: &'a str,
}

/// What became of an apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The object in the version of the request, with its managed fields, before defaults.
    pub object: Value,
    /// Whether anything but the managed fields is different.
    pub changed: bool,
}

impl<'a> FieldManager<'a> {
    /// Applies a configuration to the object that is there; to the empty one when there is none.
    ///
    /// # Errors
    /// When others have set what would change and `force` is not given, or a step fails.
    pub fn apply(
        &self,
        live: &Value,
        configuration: &Value,
        request: &Request<'_>,
    ) -> Result<Applied, ApplyError> {
        let (api_version, kind) = (text(configuration, "apiVersion"), text(configuration, "kind"));
        if (api_version, kind) != (self.api_version, self.kind) {
            return Err(ApplyError::OtherKind(group_version_kind(api_version, kind)));
        }
        let managed = Managed::read(entries(live)).map_err(ApplyError::Managed)?;
        let live = without_managed_fields(live);
        let applied = self.apply_tracked(&live, configuration, managed.clone(), request);
        let (mut object, mut managed, changed) = match applied {
            Err(ApplyError::Conflicts(conflicts)) if request.manager == KUBECTL => {
                let left = last_applied::without_allowed(self.types, self.root(), &live, &conflicts);
                if let Some(left) = left {
                    return Err(ApplyError::Conflicts(left));
                }
                let request = Request { force: true, ..*request };
                self.apply_tracked(&live, configuration, managed, &request)?
            }
            other => other?,
        };
        if request.manager == KUBECTL {
            last_applied::renew(&mut object, configuration);
        }
        set_managed_fields(&mut object, std::mem::take(&mut managed));
        Ok(Applied { object, changed })
    }

    /// An object, created or changed otherwise than by apply, with its managed fields. `live` is the empty
    /// one when it is new, and defaults are in `new`.
    pub fn update(&self, live: &Value, new: &Value, manager: &str, now: &str) -> Value {
        let before = entries(live);
        let mut object = without_managed_fields(new);
        let sent = new["metadata"]["managedFields"].as_array();
        let reset = sent.is_some_and(|sent| match &sent[..] {
            [] => true,
            [one] => one.as_object().is_none_or(Map::is_empty),
            _ => false,
        });
        // Who does not know of them does not delete them; a subresource cannot change them.
        let read = |entries: &[Value]| Managed::read(entries).ok();
        let managed = match sent {
            Some(_) if reset && self.subresource.is_empty() => Managed::default(),
            Some(sent) if self.subresource.is_empty() => {
                let usable = read(sent).filter(|managed| !managed.owned.is_empty());
                usable.or_else(|| read(before)).unwrap_or_default()
            }
            _ => read(before).unwrap_or_default(),
        };
        let live = without_managed_fields(live);
        let is_new = text(&live["metadata"], "uid").is_empty();
        if managed.owned.is_empty() && !is_new {
            return object;
        }
        match self.update_tracked(&live, &object, managed, manager, now) {
            Ok(managed) => set_managed_fields(&mut object, managed),
            // Better what was known before than nothing.
            Err(_) => put(&mut object, before.to_vec()),
        }
        object
    }

    fn apply_tracked(
        &self,
        live: &Value,
        configuration: &Value,
        mut managed: Managed,
        request: &Request<'_>,
    ) -> Result<(Value, Managed, bool), ApplyError> {
        if managed.owned.is_empty() {
            let (empty, now) = (without_managed_fields(self.empty), request.now);
            managed = self.update_tracked(&empty, live, managed, BEFORE_FIRST_APPLY, now)?;
        }
        if !configuration["metadata"]["managedFields"].is_null() {
            return Err(ApplyError::ManagedFields);
        }
        let object = self.described(configuration);
        let Some(root) = self.types.kind(self.api_version, self.kind) else {
            let kind = group_version_kind(self.api_version, self.kind);
            return Err(ApplyError::NoType { object, kind });
        };
        let typed = |value: &Value, duplicates| Typed::new(value.clone(), self.types, root, duplicates);
        let configuration = typed(configuration, false)
            .map_err(|errors| ApplyError::Configuration { object: object.clone(), errors })?;
        let described = self.described(live);
        let typed_live =
            typed(live, true).map_err(|errors| ApplyError::Live { object: described, errors })?;
        let id = ManagerId::applier(named(request.manager), self.subresource);
        let (new, owned) =
            self.updater().apply(&typed_live, &configuration, managed.owned, &id, request.force)?;
        managed.owned = owned;
        strip(&mut managed, &id);
        let changed = new.is_some();
        if changed {
            managed.times.insert(id, request.now.to_owned());
        }
        Ok((new.map_or_else(|| live.clone(), |new| new.value), managed, changed))
    }

    fn update_tracked(
        &self,
        live: &Value,
        new: &Value,
        mut managed: Managed,
        manager: &str,
        now: &str,
    ) -> Result<Managed, ApplyError> {
        let Some(root) = self.types.kind(self.api_version, self.kind) else {
            let kind = group_version_kind(self.api_version, self.kind);
            return Err(ApplyError::NoType { object: self.described(new), kind });
        };
        let typed = |value: &Value| {
            Typed::new(value.clone(), self.types, root, true)
                .map_err(|errors| ApplyError::Live { object: self.described(value), errors })
        };
        let current = ManagerId::current();
        managed.owned = self.updater().update(&typed(live)?, &typed(new)?, managed.owned, &current)?;
        strip(&mut managed, &current);
        if let Some(mut taken) = managed.owned.remove(&current) {
            let id = ManagerId::updater(named(manager), self.api_version, self.subresource);
            if let Some(before) = managed.owned.remove(&id) {
                taken.fields = taken.fields.union(&before.fields);
            }
            managed.owned.insert(id.clone(), taken);
            managed.times.insert(id, now.to_owned());
        }
        cap(&mut managed);
        Ok(managed)
    }

    fn root(&self) -> Option<crate::schema::types::TypeId> {
        self.types.kind(self.api_version, self.kind)
    }

    fn updater(&self) -> Updater<'a> {
        Updater {
            types: self.types,
            conversion: self.conversion,
            ignored: self.ignored,
            api_version: self.api_version,
        }
    }

    /// As in errors: namespace, name, kind.
    fn described(&self, object: &Value) -> String {
        let metadata = &object["metadata"];
        let kind = group_version_kind(text(object, "apiVersion"), text(object, "kind"));
        format!("{}/{}; {kind}", text(metadata, "namespace"), text(metadata, "name"))
    }
}

/// Folds the oldest updates into one entry for each version, until few enough are left.
fn cap(managed: &mut Managed) {
    let mut updaters: Vec<ManagerId> =
        managed.owned.iter().filter(|(_, owned)| !owned.applied).map(|(id, _)| id.clone()).collect();
    let mut length = updaters.len();
    updaters.sort_by_cached_key(|id| (managed.seconds(id), id.clone()));
    let mut first_of_version: BTreeMap<String, ManagerId> = BTreeMap::new();
    for id in updaters {
        if length <= MAX_UPDATE_MANAGERS {
            break;
        }
        let Some(owned) = managed.owned.get(&id).cloned() else { continue };
        let bucket = ManagerId::updater(ANCIENT, &owned.api_version, "");
        let Some(first) = first_of_version.get(&owned.api_version) else {
            first_of_version.insert(owned.api_version, id);
            continue;
        };
        if !managed.owned.contains_key(&bucket)
            && let Some(first) = managed.owned.remove(first)
        {
            managed.owned.insert(bucket.clone(), first);
        }
        let before = managed.owned.get(&bucket).map(|bucket| bucket.fields.clone()).unwrap_or_default();
        managed.owned.remove(&id);
        managed.owned.insert(bucket.clone(), Owned { fields: owned.fields.union(&before), ..owned });
        match managed.times.get(&id).cloned() {
            Some(time) => drop(managed.times.insert(bucket, time)),
            None => drop(managed.times.remove(&bucket)),
        }
        length -= 1;
    }
}

/// Takes from a manager what nobody owns.
fn strip(managed: &mut Managed, id: &ManagerId) {
    if let Some(owned) = managed.owned.get_mut(id) {
        owned.fields = owned.fields.difference(&FieldSet::of_names(&STRIPPED));
        if owned.fields.is_empty() {
            managed.owned.remove(id);
        }
    }
}

fn named(manager: &str) -> &str {
    if manager.is_empty() { "unknown" } else { manager }
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// As Go prints a kind.
fn group_version_kind(api_version: &str, kind: &str) -> String {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    format!("{group}/{version}, Kind={kind}")
}

fn entries(object: &Value) -> &[Value] {
    object["metadata"]["managedFields"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn without_managed_fields(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}

fn set_managed_fields(object: &mut Value, managed: Managed) {
    put(object, managed.write());
}

fn put(object: &mut Value, entries: Vec<Value>) {
    if entries.is_empty() {
        return;
    }
    if let Some(object) = object.as_object_mut()
        && let Some(metadata) =
            object.entry("metadata").or_insert_with(|| Value::Object(Map::new())).as_object_mut()
    {
        metadata.insert("managedFields".to_owned(), Value::Array(entries));
    }
}
