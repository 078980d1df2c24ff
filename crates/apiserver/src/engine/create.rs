//! New objects.

use kube_wire::{Reason, Status, StatusDetails};
use serde_json::Value;

use super::{Call, Engine, generate_name, now, storage_failure};
use crate::{
    hooks::{Operation, refused_by_namespace},
    object::{self, Stored, edit_metadata, metadata, text},
    resource::{Definition, Fields, Generation, Writer},
    storage::{Error, Key, Revision, Write},
    validation::{FieldError, invalid, validate_metadata, validate_standard_finalizers},
};

impl Engine {
    /// Stores a new object, which is in the stored version. Warnings are added to `warnings`.
    ///
    /// # Errors
    /// 400, 403, 404, 409 and 422 in upstream's words.
    pub async fn create(
        &self,
        call: &Call<'_>,
        mut fields: Fields,
        dry_run: bool,
        warnings: &mut Vec<String>,
    ) -> Result<Stored, Status> {
        refuse_version(&fields)?;
        wipe(&mut fields);
        place(call, &mut fields)?;
        let sent = text(&fields, "metadata.name").to_owned();
        let attributes = call.attributes(Operation::Create, call.name, dry_run);
        let prefix = text(&fields, "metadata.generateName").to_owned();
        let generated = sent.is_empty() && !prefix.is_empty();
        self.check_namespace(call, &sent).await?;
        call.definition.strategy.set_defaults(&mut fields);
        if !call.tracked {
            crate::managed::on_create(call, &mut fields, &now());
        }
        self.admit(attributes, &mut fields, None).await?;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let mut fields = fields.clone();
            if generated {
                let name = Value::from(generate_name::generate(&prefix));
                edit_metadata(&mut fields, |metadata| metadata.insert("name".to_owned(), name));
            }
            match self.create_once(call, fields, dry_run, warnings).await {
                Err(taken) if generated && taken.reason == Reason::AlreadyExists => {
                    if attempt == generate_name::ATTEMPTS {
                        return Err(no_name_left(call.definition, taken));
                    }
                }
                outcome => return outcome,
            }
        }
    }

    pub(super) async fn create_once(
        &self,
        call: &Call<'_>,
        mut fields: Fields,
        dry_run: bool,
        warnings: &mut Vec<String>,
    ) -> Result<Stored, Status> {
        let definition = call.definition;
        let now = now();
        let writer = Writer { user: call.user, now: &now };
        fill(&mut fields, &now);
        prepare(definition, &mut fields, writer);
        let name = text(&fields, "metadata.name").to_owned();
        let errors = mistakes(definition, &fields);
        if !errors.is_empty() {
            return Err(invalid(&definition.names.kind, &definition.group, &name, &errors));
        }
        warnings.extend(definition.strategy.warnings(&fields, None));
        let call = Call { name: &name, ..*call };
        let attributes = call.attributes(Operation::Create, &name, dry_run);
        self.judge(attributes, Some(&fields), None).await?;
        let key = call.key().ok_or_else(|| Status::bad_request("the name cannot be stored"))?;
        let revision = self.store_new(&call, key, &fields, dry_run).await?;
        Ok(Stored { fields, revision })
    }

    async fn store_new(
        &self,
        call: &Call<'_>,
        key: Key,
        fields: &Fields,
        dry_run: bool,
    ) -> Result<Revision, Status> {
        let exists =
            || Status::already_exists(&call.definition.names.plural, &call.definition.group, call.name);
        if dry_run {
            let found = self.store.get(&key).await.map_err(|error| storage_failure(&error))?.content;
            return if found.is_some() { Err(exists()) } else { Ok(Revision(0)) };
        }
        let mut write = Write::create(key, object::encode(fields));
        write.ttl = call.definition.strategy.time_to_live(fields);
        match self.store.write(write).await {
            Ok(revision) => Ok(revision),
            Err(Error::Conflict(_)) => Err(exists()),
            Err(other) => Err(storage_failure(&other)),
        }
    }

    async fn check_namespace(&self, call: &Call<'_>, name: &str) -> Result<(), Status> {
        if !call.definition.namespaced() {
            return Ok(());
        }
        let state = self.hooks.namespaces.state(call.namespace).await.map_err(|error| {
            tracing::warn!(error, namespace = call.namespace, "cannot ask for the namespace");
            Status::internal("the namespace could not be looked up")
        })?;
        refused_by_namespace(state, call.definition, call.namespace, name).map_or(Ok(()), Err)
    }
}

/// A resource version has no place in what is new; one that is no number is not seen, as upstream.
fn refuse_version(fields: &Fields) -> Result<(), Status> {
    let version = text(fields, "metadata.resourceVersion");
    match version.parse::<u64>() {
        Ok(version) if version > 0 => Err(Status::failure(
            500,
            Reason::Unknown,
            "resourceVersion should not be set on objects to be created",
        )),
        _ => Ok(()),
    }
}

/// Takes out what only the server sets.
fn wipe(fields: &mut Fields) {
    edit_metadata(fields, |metadata| {
        for name in [
            "resourceVersion",
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "selfLink",
        ] {
            metadata.remove(name);
        }
    });
}

fn fill(fields: &mut Fields, now: &str) {
    edit_metadata(fields, |metadata| {
        metadata.insert("uid".to_owned(), uuid::Uuid::new_v4().to_string().into());
        metadata.insert("creationTimestamp".to_owned(), now.into());
    });
}

/// Puts the namespace of the request in.
pub(super) fn place(call: &Call<'_>, fields: &mut Fields) -> Result<(), Status> {
    let sent = text(fields, "metadata.namespace");
    let expected = if call.definition.namespaced() { call.namespace } else { "" };
    if !sent.is_empty() && sent != expected {
        return Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    if !expected.is_empty() {
        edit_metadata(fields, |metadata| metadata.insert("namespace".to_owned(), expected.into()));
    }
    Ok(())
}

fn prepare(definition: &Definition, fields: &mut Fields, writer: Writer<'_>) {
    if definition.status {
        fields.remove("status");
    }
    if definition.generation == Generation::Counted {
        edit_metadata(fields, |metadata| metadata.insert("generation".to_owned(), 1.into()));
    }
    definition.strategy.set_defaults(fields);
    definition.strategy.prepare_for_create(fields, writer);
}

/// What is wrong with a new object.
fn mistakes(definition: &Definition, fields: &Fields) -> Vec<FieldError> {
    let metadata = metadata(fields);
    let mut errors = validate_metadata(&metadata, definition.namespaced(), definition.name_rule);
    if definition.qualified_finalizers {
        errors.extend(validate_standard_finalizers(&metadata));
    }
    errors.extend(definition.strategy.validate(fields));
    errors
}

fn no_name_left(definition: &Definition, taken: Status) -> Status {
    let name = taken.details.map(|details| details.name).unwrap_or_default();
    let message = format!(
        "{} {name:?} already exists, the server was not able to generate a unique name for the object",
        definition.qualified_name()
    );
    let details = StatusDetails {
        name,
        group: definition.group.clone(),
        kind: definition.names.plural.clone(),
        retry_after_seconds: 1,
        ..StatusDetails::default()
    };
    Status::failure(409, Reason::AlreadyExists, message).with_details(details)
}
