//! Changed objects.

use kube_wire::{Reason, RequestInfo, Status};
use serde_json::Value;

use super::{Call, Engine, Subresource, create::place, now, storage_failure, unreadable};
use crate::{
    hooks::{Decision, Operation},
    object::{self, Stored, edit_metadata, metadata, text},
    options::not_a_version,
    resource::{Definition, Fields, Generation, Writer},
    storage::{Error, Key, Revision, Write},
    validation::{
        FieldError, Path, invalid, validate_metadata, validate_metadata_update, validate_standard_finalizers,
    },
};

/// As often a change is computed anew because the object has changed meanwhile. Of those who write the same
/// object somebody always gets on, and whoever waits too long has a timeout; so this only ends what has neither.
const ATTEMPTS: usize = 10_000;

/// What an object is to become.
pub struct Change<'c> {
    /// Computes it from what is there; none when nothing is there. The outcome is in the stored version. A
    /// resource version in it must be that of the object.
    pub compute: Compute<'c>,
    /// Whether it may be created.
    pub may_create: bool,
    /// Whether nothing is kept.
    pub dry_run: bool,
}

/// See [`Change`].
pub type Compute<'c> = Box<dyn FnMut(Option<&Stored>) -> Result<Fields, Status> + Send + 'c>;

/// What an update came to.
#[derive(Debug)]
pub struct Updated {
    /// The object; when it is gone, as it was last.
    pub object: Stored,
    /// Whether it is new.
    pub created: bool,
}

impl Engine {
    /// Changes an object.
    ///
    /// # Errors
    /// 404, 409 and 422 in upstream's words, and what the change says.
    pub async fn update(
        &self,
        call: &Call<'_>,
        mut change: Change<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Updated, Status> {
        let Some(key) = call.key() else { return Err(call.not_found()) };
        let before = warnings.len();
        for _ in 0..ATTEMPTS {
            warnings.truncate(before);
            let read = self.store.get(&key).await.map_err(|error| storage_failure(&error))?;
            let old = read.content.as_ref().map(Stored::read).transpose();
            let old = old.map_err(|error| unreadable(key.as_str(), &error))?;
            let Some(old) = old else {
                if !change.may_create {
                    return Err(call.not_found());
                }
                let fields = (change.compute)(None)?;
                match self.create_by_update(call, fields, change.dry_run, warnings).await {
                    Err(taken) if taken.reason == Reason::AlreadyExists => continue,
                    outcome => return outcome.map(|object| Updated { object, created: true }),
                }
            };
            let fields = (change.compute)(Some(&old))?;
            if let Some(object) = self.replace(call, &key, fields, old, change.dry_run, warnings).await? {
                return Ok(Updated { object, created: false });
            }
        }
        Err(call.modified(call.name))
    }

    async fn create_by_update(
        &self,
        call: &Call<'_>,
        mut fields: Fields,
        dry_run: bool,
        warnings: &mut Vec<String>,
    ) -> Result<Stored, Status> {
        edit_metadata(&mut fields, |metadata| metadata.remove("resourceVersion"));
        self.may_create(call).await?;
        self.create(call, fields, dry_run, warnings).await
    }

    /// Whoever may update need not be allowed to create.
    async fn may_create(&self, call: &Call<'_>) -> Result<(), Status> {
        let definition = call.definition;
        let info = RequestInfo {
            is_resource: true,
            verb: "create".into(),
            api_prefix: if definition.group.is_empty() { "api" } else { "apis" }.into(),
            group: (&*definition.group).into(),
            version: (&*call.version.name).into(),
            namespace: call.namespace.into(),
            resource: (&*definition.names.plural).into(),
            name: call.name.into(),
            ..RequestInfo::default()
        };
        match self.hooks().authorizer.authorize(call.user, &info).await {
            Ok(Decision::Allow) => Ok(()),
            Ok(Decision::Deny(reason)) => Err(Status::forbidden(&call.user.name, &info, &reason)),
            Err(problem) => {
                tracing::warn!(problem, "authorization failed");
                Err(Status::internal("the request could not be authorized"))
            }
        }
    }

    /// None: it has changed meanwhile, and the caller did not say which one it meant.
    async fn replace(
        &self,
        call: &Call<'_>,
        key: &Key,
        mut fields: Fields,
        old: Stored,
        dry_run: bool,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Stored>, Status> {
        let definition = call.definition;
        same_object(call, key, &fields, &old)?;
        place(call, &mut fields)?;
        let now = now();
        part(call.subresource, definition, &mut fields, &old.fields);
        if call.subresource != Subresource::Status {
            definition.strategy.set_defaults(&mut fields);
        }
        if !call.tracked {
            crate::managed::on_update(call, &mut fields, &old.fields, &now);
        }
        let attributes = call.attributes(Operation::Update, call.name, dry_run);
        self.admit(attributes, &mut fields, Some(&old.fields)).await?;
        let meant = meant(call, &fields, &old)?;
        prepare(call, &mut fields, &old.fields, Writer { user: call.user, now: &now });
        let errors = mistakes(call, &fields, &old);
        if !errors.is_empty() {
            return Err(invalid(&definition.names.kind, &definition.group, call.name, &errors));
        }
        edit_metadata(&mut fields, |metadata| metadata.remove("resourceVersion"));
        warnings.extend(definition.strategy.warnings(&fields, Some(&old.fields)));
        self.judge(attributes, Some(&fields), Some(&old.fields)).await?;
        if super::lifecycle::is_done(&fields, &old.fields) {
            return self.delete_now(call, key, old.revision, fields, dry_run).await;
        }
        if dry_run || crate::managed::same(&mut fields, &old.fields) {
            let fields = if dry_run { fields } else { old.fields };
            return Ok(Some(Stored { fields, revision: old.revision }));
        }
        let mut write = Write::update(key.clone(), object::encode(&fields), old.revision);
        write.ttl = definition.strategy.time_to_live(&fields);
        match self.store.write(write).await {
            Ok(revision) => Ok(Some(Stored { fields, revision })),
            Err(Error::Conflict(_)) if meant => Err(call.modified(call.name)),
            Err(Error::Conflict(_)) => Ok(None),
            Err(other) => Err(storage_failure(&other)),
        }
    }

    /// The last finalizer of an object that is being deleted is gone.
    async fn delete_now(
        &self,
        call: &Call<'_>,
        key: &Key,
        revision: Revision,
        fields: Fields,
        dry_run: bool,
    ) -> Result<Option<Stored>, Status> {
        if !dry_run {
            match self.store.write(Write::delete(key.clone(), revision)).await {
                Ok(_) => {}
                Err(Error::Conflict(conflict)) if conflict.current.is_none() => return Err(call.not_found()),
                Err(Error::Conflict(_)) => return Ok(None),
                Err(other) => return Err(storage_failure(&other)),
            }
        }
        Ok(Some(Stored { fields, revision }))
    }
}

/// A UID in what is sent must be that of the object.
fn same_object(call: &Call<'_>, key: &Key, fields: &Fields, old: &Stored) -> Result<(), Status> {
    let (sent, own) = (text(fields, "metadata.uid"), text(&old.fields, "metadata.uid"));
    if sent.is_empty() || sent == own {
        return Ok(());
    }
    // The key as etcd has it there.
    let names = &call.definition.names;
    let folder = match &*call.definition.group {
        "" => names.plural.clone(),
        group => format!("{group}/{}", names.plural),
    };
    let path = key.as_str().split_once('/').map_or("", |(_, path)| path);
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{folder}/{path}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {sent}, UID in object meta: {own}"
    );
    Err(Status::conflict(&names.plural, &call.definition.group, call.name, &why))
}

/// Whether the caller said which state it has changed; an error when that is no longer the one there is.
fn meant(call: &Call<'_>, fields: &Fields, old: &Stored) -> Result<bool, Status> {
    let version = text(fields, "metadata.resourceVersion");
    let number = match version {
        "" => 0,
        text => {
            text.parse::<u64>().map_err(|_| Status::failure(500, Reason::Unknown, not_a_version(text)))?
        }
    };
    if number == 0 {
        if call.any_version || call.definition.unconditional_update {
            return Ok(false);
        }
        let field = Path::new("metadata").child("resourceVersion");
        let error = FieldError::invalid(&field, 0, "must be specified for an update");
        let (plural, group) = (&call.definition.names.plural, &call.definition.group);
        return Err(invalid(plural, group, call.name, &[error]));
    }
    match number == old.revision.0 {
        true => Ok(true),
        false => Err(call.modified(call.name)),
    }
}

/// Keeps what the subresource, or the object itself, may not change.
fn part(subresource: Subresource, definition: &Definition, fields: &mut Fields, old: &Fields) {
    match subresource {
        Subresource::Status => {
            let status = fields.remove("status");
            let sent = fields.get("metadata").and_then(Value::as_object);
            let taken = ["resourceVersion", "managedFields"]
                .map(|name| (name, sent.and_then(|metadata| metadata.get(name)).cloned()));
            let mut kept = old.clone();
            put_or_remove(&mut kept, "status", status);
            edit_metadata(&mut kept, |metadata| {
                for (name, value) in taken {
                    if let Some(value) = value {
                        metadata.insert(name.to_owned(), value);
                    }
                }
            });
            *fields = kept;
        }
        _ if definition.status => put_or_remove(fields, "status", old.get("status").cloned()),
        _ => {}
    }
}

fn put_or_remove(fields: &mut Fields, name: &str, value: Option<Value>) {
    match value {
        Some(value) => fields.insert(name.to_owned(), value),
        None => fields.remove(name),
    };
}

/// Sets what only the server sets.
fn prepare(call: &Call<'_>, fields: &mut Fields, old: &Fields, writer: Writer<'_>) {
    let definition = call.definition;
    let known = |name: &str| old.get("metadata").and_then(|metadata| metadata.get(name)).cloned();
    edit_metadata(fields, |metadata| {
        put_or_remove(metadata, "generation", known("generation"));
        if !metadata.contains_key("uid") {
            put_or_remove(metadata, "uid", known("uid"));
        }
        put_or_remove(metadata, "creationTimestamp", known("creationTimestamp"));
        for name in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
            if let Some(value) = known(name) {
                metadata.insert(name.to_owned(), value);
            }
        }
    });
    if call.subresource != Subresource::Status {
        definition.strategy.set_defaults(fields);
        definition.strategy.prepare_for_update(fields, old, writer);
    }
    if definition.generation == Generation::Counted && wanted_changed(fields, old) {
        let generation = known("generation").and_then(|value| value.as_i64()).unwrap_or_default();
        edit_metadata(fields, |metadata| metadata.insert("generation".to_owned(), (generation + 1).into()));
    }
}

/// Whether anything but metadata and status differs.
fn wanted_changed(fields: &Fields, old: &Fields) -> bool {
    fn wanted(fields: &Fields) -> impl Iterator<Item = (&String, &Value)> {
        fields.iter().filter(|(name, _)| !matches!(&***name, "metadata" | "status" | "apiVersion" | "kind"))
    }
    !wanted(fields).eq(wanted(old))
}

fn mistakes(call: &Call<'_>, fields: &Fields, old: &Stored) -> Vec<FieldError> {
    let definition = call.definition;
    let (mut new, before) = (metadata(fields), metadata(&old.fields));
    new.resource_version = old.revision.to_string();
    let mut errors = validate_metadata(&new, definition.namespaced(), definition.name_rule);
    if definition.qualified_finalizers {
        errors.extend(validate_standard_finalizers(&new));
    }
    errors.extend(validate_metadata_update(&new, &before));
    errors.extend(definition.strategy.validate(fields));
    errors.extend(definition.strategy.validate_update(fields, &old.fields));
    let mut once = Vec::with_capacity(errors.len());
    for error in errors {
        if !once.contains(&error) {
            once.push(error);
        }
    }
    once
}
