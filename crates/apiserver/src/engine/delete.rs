//! Objects that go.

use kube_wire::Status;

use super::{Call, Engine, lifecycle, now, storage_failure, unreadable};
use crate::{
    hooks::Operation,
    object::{self, Stored, metadata, text},
    options::DeleteOptions,
    storage::{Error, Write},
};

/// As often a deletion is tried again because the object has changed meanwhile.
const ATTEMPTS: usize = 32;

/// What a deletion came to.
#[derive(Debug)]
pub struct Deleted {
    /// The object, as it was last, or as it waits for its finalizers.
    pub object: Stored,
    /// Whether it is gone.
    pub gone: bool,
}

impl Engine {
    /// Deletes an object, or marks it when finalizers hold it.
    ///
    /// # Errors
    /// 404 and 409 in upstream's words, and what an admission says.
    pub async fn delete(&self, call: &Call<'_>, options: &DeleteOptions) -> Result<Deleted, Status> {
        let Some(key) = call.key() else { return Err(call.not_found()) };
        for _ in 0..ATTEMPTS {
            let read = self.store.get(&key).await.map_err(|error| storage_failure(&error))?;
            let item = read.content.ok_or_else(|| call.not_found())?;
            let old = Stored::read(&item).map_err(|error| unreadable(key.as_str(), &error))?;
            preconditions(call, &old, options)?;
            let attributes = call.attributes(Operation::Delete, call.name, options.dry_run);
            self.judge(attributes, None, Some(&old.fields)).await?;
            let finalizers = lifecycle::finalizers(&old.fields, options);
            let gone = finalizers.is_empty();
            let mut fields = old.fields.clone();
            let write = if gone {
                Write::delete(key.clone(), old.revision)
            } else {
                lifecycle::mark(&mut fields, finalizers, &now());
                if fields == old.fields {
                    return Ok(Deleted { object: old, gone });
                }
                Write::update(key.clone(), object::encode(&fields), old.revision)
            };
            if options.dry_run {
                return Ok(Deleted { object: Stored { fields, ..old }, gone });
            }
            match self.store.write(write).await {
                Ok(revision) => {
                    let revision = if gone { old.revision } else { revision };
                    return Ok(Deleted { object: Stored { fields, revision }, gone });
                }
                Err(Error::Conflict(_)) => {}
                Err(other) => return Err(storage_failure(&other)),
            }
        }
        Err(call.modified(call.name))
    }
}

fn preconditions(call: &Call<'_>, object: &Stored, options: &DeleteOptions) -> Result<(), Status> {
    let (wanted, uid) = (&options.preconditions, text(&object.fields, "metadata.uid"));
    let conflict = |why: String| {
        let definition = call.definition;
        Err(Status::conflict(&definition.names.kind, &definition.group, call.name, &why))
    };
    if let Some(wanted) = wanted.uid.as_deref().filter(|wanted| *wanted != uid) {
        return conflict(format!(
            "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). The object might have been deleted and then recreated"
        ));
    }
    let version = object.revision.to_string();
    if let Some(wanted) = wanted.resource_version.as_deref().filter(|wanted| *wanted != version) {
        return conflict(format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({version}). The object might have been modified"
        ));
    }
    Ok(())
}

impl Deleted {
    /// The answer when the object is gone.
    pub fn status(&self, call: &Call<'_>) -> Status {
        let metadata = metadata(&self.object.fields);
        let definition = call.definition;
        Status::deleted(&definition.names.plural, &definition.group, &metadata.name, &metadata.uid)
    }
}
