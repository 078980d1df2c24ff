//! The metadata that every object has.

use kube_wire::object::{ObjectMeta, OwnerReference};
use serde_json::Value;

use super::{
    FieldError, Path,
    names::{self, NameRule},
};

/// Keys and values of all annotations together, in bytes.
const MAX_ANNOTATIONS: usize = 256 << 10;
/// Longest name of a field manager.
const MAX_MANAGER: usize = 128;
/// Longest subresource in the managed fields.
const MAX_SUBRESOURCE: usize = 256;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What is wrong with the metadata of an object that is created. Its name is already made.
pub fn validate_metadata(metadata: &ObjectMeta, namespaced: bool, rule: NameRule) -> Vec<FieldError> {
    let at = Path::new("metadata");
    let mut errors = Vec::new();
    if !metadata.generate_name.is_empty() {
        let field = at.child("generateName");
        errors.extend(broken(&field, &metadata.generate_name, rule(&metadata.generate_name, true)));
    }
    let field = at.child("name");
    match &*metadata.name {
        "" => errors.push(FieldError::required(&field, "name or generateName is required")),
        name => errors.extend(broken(&field, name, rule(name, false))),
    }
    errors.extend(namespace(metadata, namespaced, &at.child("namespace")));
    errors.extend(generation(metadata, &at));
    errors.extend(labels(metadata, &at));
    errors.extend(annotations(metadata, &at));
    errors.extend(owners(metadata, &at));
    errors.extend(finalizers(metadata, &at));
    errors.extend(managed_fields(metadata, &at));
    errors
}

/// What is wrong with the change from `old` to `new`. Callers check `new` by itself, too.
pub fn validate_metadata_update(new: &ObjectMeta, old: &ObjectMeta) -> Vec<FieldError> {
    let at = Path::new("metadata");
    let mut errors = Vec::new();
    if old.deletion_timestamp.is_some() {
        errors.extend(no_new_finalizers(new, old, &at));
    }
    if new.resource_version.is_empty() {
        errors.push(FieldError::invalid(&at.child("resourceVersion"), "", "must be specified for an update"));
    }
    errors.extend(generation(new, &at));
    if new.generation < old.generation {
        let detail = "must not be decremented";
        errors.push(FieldError::invalid(&at.child("generation"), new.generation, detail));
    }
    let mut immutable = |name: &str, value: Value, same: bool| {
        if !same {
            errors.push(FieldError::invalid(&at.child(name), value, "field is immutable"));
        }
    };
    immutable("name", (*new.name).into(), new.name == old.name);
    immutable("namespace", (*new.namespace).into(), new.namespace == old.namespace);
    immutable("uid", (*new.uid).into(), new.uid == old.uid);
    let time = |time: &Option<String>| time.clone().map_or(Value::Null, Value::from);
    let (created, deleted) = (&new.creation_timestamp, &new.deletion_timestamp);
    immutable("creationTimestamp", time(created), *created == old.creation_timestamp);
    immutable("deletionTimestamp", time(deleted), *deleted == old.deletion_timestamp);
    let grace = new.deletion_grace_period_seconds;
    let value = grace.map_or(Value::Null, Value::from);
    immutable("deletionGracePeriodSeconds", value, grace == old.deletion_grace_period_seconds);
    errors.extend(labels(new, &at));
    errors.extend(annotations(new, &at));
    errors.extend(owners(new, &at));
    errors.extend(managed_fields(new, &at));
    errors
}

/// What the kinds that are built into Kubernetes want besides: a finalizer without a prefix is one of three.
pub fn validate_standard_finalizers(metadata: &ObjectMeta) -> Vec<FieldError> {
    let field = Path::new("metadata").child("finalizers");
    let strange = |name: &str| !name.contains('/') && !["kubernetes", ORPHAN, FOREGROUND].contains(&name);
    let numbered = metadata.finalizers.iter().enumerate().filter(|(_, name)| strange(name));
    let detail = "name is neither a standard finalizer name nor is it fully qualified";
    numbered.map(|(number, name)| FieldError::invalid(&field.index(number), name, detail)).collect()
}

fn broken(field: &Path, value: &str, sentences: Vec<String>) -> impl Iterator<Item = FieldError> {
    sentences.into_iter().map(move |sentence| FieldError::invalid(field, value, sentence))
}

fn namespace(metadata: &ObjectMeta, namespaced: bool, field: &Path) -> Vec<FieldError> {
    match (namespaced, &*metadata.namespace) {
        (true, "") => vec![FieldError::required(field, "")],
        (true, name) => broken(field, name, names::dns_label(name, false)).collect(),
        (false, "") => Vec::new(),
        (false, _) => vec![FieldError::forbidden(field, "not allowed on this type")],
    }
}

fn generation(metadata: &ObjectMeta, at: &Path) -> Option<FieldError> {
    let detail = "must be greater than or equal to 0";
    let field = at.child("generation");
    (metadata.generation < 0).then(|| FieldError::invalid(&field, metadata.generation, detail))
}

fn labels(metadata: &ObjectMeta, at: &Path) -> Vec<FieldError> {
    let field = at.child("labels");
    let mut errors = Vec::new();
    for (key, value) in &metadata.labels {
        errors.extend(broken(&field, key, names::is_qualified_name(key)));
        errors.extend(broken(&field, value, names::is_label_value(value)));
    }
    errors
}

fn annotations(metadata: &ObjectMeta, at: &Path) -> Vec<FieldError> {
    let field = at.child("annotations");
    let mut errors = Vec::new();
    let mut bytes = 0;
    for (key, value) in &metadata.annotations {
        // Here the case of the prefix does not matter.
        errors.extend(broken(&field, key, names::is_qualified_name(&key.to_lowercase())));
        bytes += key.len() + value.len();
    }
    if bytes > MAX_ANNOTATIONS {
        errors.push(FieldError::too_long(&field, MAX_ANNOTATIONS));
    }
    errors
}

fn owners(metadata: &ObjectMeta, at: &Path) -> Vec<FieldError> {
    let field = at.child("ownerReferences");
    let mut errors = Vec::new();
    let mut controller: Option<String> = None;
    for (number, owner) in metadata.owner_references.iter().enumerate() {
        errors.extend(owner_reference(owner, &field.index(number)));
        if owner.controller != Some(true) {
            continue;
        }
        let name = format!("{}/{}", owner.kind, owner.name);
        match &controller {
            None => controller = Some(name),
            Some(first) => {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                );
                errors.push(FieldError::invalid(&field, &metadata.owner_references, detail));
            }
        }
    }
    errors
}

fn owner_reference(owner: &OwnerReference, at: &Path) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let field = at.child("apiVersion");
    match *owner.api_version.split('/').collect::<Vec<_>>() {
        [""] => errors.push(FieldError::required(&field, "must not be empty")),
        [_] => {}
        [_, version] if !version.is_empty() => {}
        _ => {
            let detail = "must be <group>/<version> or <version>";
            errors.push(FieldError::invalid(&field, &owner.api_version, detail));
        }
    }
    for (name, value) in [("kind", &owner.kind), ("name", &owner.name), ("uid", &owner.uid)] {
        if value.is_empty() {
            errors.push(FieldError::required(&at.child(name), "must not be empty"));
        }
    }
    if owner.api_version == "v1" && owner.kind == "Event" {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        errors.push(FieldError::invalid(at, owner, detail));
    }
    errors
}

fn finalizers(metadata: &ObjectMeta, at: &Path) -> Vec<FieldError> {
    let field = at.child("finalizers");
    let mut errors = Vec::new();
    for name in &metadata.finalizers {
        errors.extend(broken(&field, name, names::is_qualified_name(name)));
    }
    let has = |name: &str| metadata.finalizers.iter().any(|other| other == name);
    if has(ORPHAN) && has(FOREGROUND) {
        let detail = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        errors.push(FieldError::invalid(&field, &metadata.finalizers, detail));
    }
    errors
}

fn no_new_finalizers(new: &ObjectMeta, old: &ObjectMeta, at: &Path) -> Option<FieldError> {
    let mut extra: Vec<_> = new.finalizers.iter().filter(|name| !old.finalizers.contains(name)).collect();
    extra.sort();
    extra.dedup();
    let listed: Vec<_> = extra.iter().map(|name| format!("{name:?}")).collect();
    let detail = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
        listed.join(", ")
    );
    (!extra.is_empty()).then(|| FieldError::forbidden(&at.child("finalizers"), detail))
}

fn managed_fields(metadata: &ObjectMeta, at: &Path) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (number, entry) in metadata.managed_fields.iter().enumerate() {
        let at = at.child("managedFields").index(number);
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let field = at.child("operation");
        match text("operation") {
            "" => errors.push(FieldError::required(&field, "must not be empty")),
            "Apply" | "Update" => {}
            other => errors.push(FieldError::not_supported(&field, other, &["Apply", "Update"])),
        }
        if !matches!(text("fieldsType"), "" | "FieldsV1") {
            let field = at.child("fieldsType");
            errors.push(FieldError::invalid(&field, text("fieldsType"), "must be `FieldsV1`"));
        }
        errors.extend(manager(text("manager"), &at.child("manager")));
        if text("subresource").len() > MAX_SUBRESOURCE {
            errors.push(FieldError::too_long(&at.child("subresource"), MAX_SUBRESOURCE));
        }
    }
    errors
}

fn manager(name: &str, field: &Path) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if name.len() > MAX_MANAGER {
        errors.push(FieldError::too_long(field, MAX_MANAGER));
    }
    for (position, c) in name.char_indices().filter(|(_, c)| c.is_control()) {
        let detail = format!("invalid character U+{:04X} (at position {position})", u32::from(c));
        errors.push(FieldError::invalid(field, name, detail));
    }
    errors
}
