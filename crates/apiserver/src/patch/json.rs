//! JSON patch, RFC 6902, with what kube-apiserver's library adds: negative indices count from the end, and
//! `replace` also sets a field that was not there.

mod operation;
mod pointer;

use serde_json::Value;

use super::{MAX_COPIED, MAX_DEPTH, MAX_OPERATIONS, PatchError, Patched, depth};
use operation::{Kind, Operation};
use pointer::{Missing, Place};

/// Values looked at for the depth of what operations put in, for one patch.
const MAX_LOOKED_AT: usize = 20_000_000;

/// Carries out a JSON patch. With `strictly`, operations must have members of the right type, and unknown
/// members are findings; without, they are not looked at.
///
/// # Errors
/// When it is no JSON patch, has too many operations, does not apply, or makes too large a document.
pub fn json_patch(document: Value, patch: &Value, strictly: bool) -> Result<Patched, PatchError> {
    let findings = if strictly { operation::findings(patch)? } else { Vec::new() };
    let operations = operation::read(patch)?;
    if operations.len() > MAX_OPERATIONS {
        return Err(PatchError::TooManyOperations(operations.len()));
    }
    let mut work = Work { document, copied: 0, budget: MAX_LOOKED_AT };
    for operation in &operations {
        work.carry_out(operation)?;
    }
    Ok(Patched { document: work.document, findings })
}

struct Work {
    document: Value,
    /// Bytes of all copies.
    copied: usize,
    budget: usize,
}

impl Work {
    fn carry_out(&mut self, operation: &Operation<'_>) -> Result<(), PatchError> {
        match operation.kind()? {
            Kind::Add => self.add(operation),
            Kind::Remove => self.remove(operation),
            Kind::Replace => self.replace(operation),
            Kind::Move => self.relocate(operation),
            Kind::Test => self.test(operation),
            Kind::Copy => self.copy(operation),
        }
    }

    fn add(&mut self, operation: &Operation<'_>) -> Result<(), PatchError> {
        let path = operation.path("add")?;
        let value = operation.value().cloned().unwrap_or_default();
        self.not_too_deep(path, &value)?;
        let place = Place::find(&mut self.document, path).ok_or_else(|| {
            does_not_apply(format!(
                "add operation does not apply: doc is missing path: \"{path}\": {Missing}"
            ))
        })?;
        place.add(value).map_err(|why| does_not_apply(format!("error in add for path: '{path}': {why}")))
    }

    fn remove(&mut self, operation: &Operation<'_>) -> Result<(), PatchError> {
        let path = operation.path("remove")?;
        let place = Place::find(&mut self.document, path).ok_or_else(|| {
            does_not_apply(format!(
                "remove operation does not apply: doc is missing path: \"{path}\": {Missing}"
            ))
        })?;
        let removed = place.remove();
        removed.map(drop).map_err(|why| does_not_apply(format!("error in remove for path: '{path}': {why}")))
    }

    fn replace(&mut self, operation: &Operation<'_>) -> Result<(), PatchError> {
        let path = operation.path("replace")?;
        let value = operation.value().cloned().unwrap_or_default();
        self.not_too_deep(path, &value)?;
        if path.is_empty() {
            if !value.is_object() && !value.is_array() {
                return Err(does_not_apply("replace operation value must be object or array"));
            }
            self.document = value;
            return Ok(());
        }
        let mut place = Place::find(&mut self.document, path).ok_or_else(|| {
            does_not_apply(format!(
                "replace operation does not apply: doc is missing path: {path}: {Missing}"
            ))
        })?;
        if place.get().is_err() {
            let why = format!("replace operation does not apply: doc is missing key: {path}: {Missing}");
            return Err(does_not_apply(why));
        }
        place.set(value).map_err(|why| does_not_apply(format!("error in remove for path: '{path}': {why}")))
    }

    fn relocate(&mut self, operation: &Operation<'_>) -> Result<(), PatchError> {
        let from = operation.from("move")?;
        let place = Place::find(&mut self.document, from).ok_or_else(|| {
            does_not_apply(format!(
                "move operation does not apply: doc is missing from path: {from}: {Missing}"
            ))
        })?;
        let key = place.key().to_owned();
        let failed = |why| does_not_apply(format!("error in move for path: '{key}': {why}"));
        let value = place.remove().map_err(failed)?;
        let path = operation.path("move")?;
        self.not_too_deep(path, &value)?;
        let place = Place::find(&mut self.document, path).ok_or_else(|| {
            let why =
                format!("move operation does not apply: doc is missing destination path: {path}: {Missing}");
            does_not_apply(why)
        })?;
        let key = place.key().to_owned();
        place.add(value).map_err(|why| does_not_apply(format!("error in move for path: '{key}': {why}")))
    }

    fn test(&mut self, operation: &Operation<'_>) -> Result<(), PatchError> {
        let path = operation.path("test")?;
        let expected = operation.value().unwrap_or(&Value::Null);
        let failed = || does_not_apply(format!("testing value {path} failed: test failed"));
        if path.is_empty() {
            return if self.document == *expected { Ok(()) } else { Err(failed()) };
        }
        let mut place = Place::find(&mut self.document, path).ok_or_else(|| {
            does_not_apply(format!("test operation does not apply: is missing path: {path}: {Missing}"))
        })?;
        let value =
            place.get().map_err(|why| does_not_apply(format!("error in test for path: '{path}': {why}")))?;
        // What is not there is as good as null.
        if value.unwrap_or(&Value::Null) == expected { Ok(()) } else { Err(failed()) }
    }

    fn copy(&mut self, operation: &Operation<'_>) -> Result<(), PatchError> {
        let from = operation.from("copy")?;
        let mut place = Place::find(&mut self.document, from).ok_or_else(|| {
            does_not_apply(format!(
                "copy operation does not apply: doc is missing from path: {from}: {Missing}"
            ))
        })?;
        let value = place
            .get()
            .map_err(|why| does_not_apply(format!("error in copy for from: '{from}': {why}")))?
            .cloned()
            .unwrap_or_default();
        let path = operation.path("copy")?;
        self.copied += serde_json::to_vec(&value).map_or(usize::MAX, |bytes| bytes.len());
        if self.copied > MAX_COPIED {
            return Err(PatchError::CopiesTooMuch(self.copied));
        }
        self.not_too_deep(path, &value)?;
        let place = Place::find(&mut self.document, path).ok_or_else(|| {
            let why =
                format!("copy operation does not apply: doc is missing destination path: {path}: {Missing}");
            does_not_apply(why)
        })?;
        place.add(value).map_err(|why| does_not_apply(format!("error while adding value during copy: {why}")))
    }

    /// A document that is too deep could not be read again.
    fn not_too_deep(&mut self, path: &str, value: &Value) -> Result<(), PatchError> {
        let above = path.matches('/').count();
        let below = depth(value, MAX_DEPTH.saturating_sub(above), &mut self.budget);
        if above + below > MAX_DEPTH || self.budget == 0 { Err(PatchError::TooDeep) } else { Ok(()) }
    }
}

fn does_not_apply(why: impl Into<String>) -> PatchError {
    PatchError::DoesNotApply(why.into())
}
