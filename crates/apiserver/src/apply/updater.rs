//! Fields change hands: the rules of ownership.

mod prune;

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    ApplyError, Conflicts,
    fields::FieldSet,
    managed::{ManagerId, Owned},
    typed::{Comparison, Typed},
};
use crate::schema::types::Types;

/// Objects in other versions.
pub trait Conversion {
    /// The object in this version.
    ///
    /// # Errors
    /// When there is no such version, or the object cannot be in it.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ConversionError>;
}

/// Why an object cannot be had in another version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversionError {
    /// There is no such version any more: what was said in it is forgotten.
    #[error("there is no version {0}")]
    NoVersion(String),
    /// It cannot be converted.
    #[error("{0}")]
    Failed(String),
}

/// Versions that differ in nothing but their name.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoConversion;

impl Conversion for NoConversion {
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ConversionError> {
        let mut object = object.clone();
        if let Some(object) = object.as_object_mut() {
            object.insert("apiVersion".to_owned(), Value::from(api_version));
        }
        Ok(object)
    }
}

/// What each manager has.
pub(super) type Owners = BTreeMap<ManagerId, Owned>;

pub(super) struct Updater<'a> {
    pub(super) types: &'a Types,
    pub(super) conversion: &'a dyn Conversion,
    /// Fields that writes do not reach, by version.
    pub(super) ignored: &'a BTreeMap<String, FieldSet>,
    /// The version of the request.
    pub(super) api_version: &'a str,
}

impl<'a> Updater<'a> {
    /// Who owns what after `new` has taken the place of `live`.
    pub(super) fn update(
        &self,
        live: &Typed<'a>,
        new: &Typed<'a>,
        owners: Owners,
        manager: &ManagerId,
    ) -> Result<Owners, ApplyError> {
        let owners = self.reconcile(live, owners)?;
        let (mut owners, compared) = self.change(live, new, owners, manager, true)?;
        let before = owners.remove(manager).map(|owned| owned.fields).unwrap_or_default();
        let fields = before.difference(&compared.removed).union(&compared.modified).union(&compared.added);
        let fields = self.reachable(fields);
        if !fields.is_empty() {
            let api_version = self.api_version.to_owned();
            owners.insert(manager.clone(), Owned { fields, api_version, applied: false });
        }
        Ok(owners)
    }

    /// `live` with everything from `configuration`, without what the manager no longer names; and who owns
    /// what then. None when nothing is different.
    pub(super) fn apply(
        &self,
        live: &Typed<'a>,
        configuration: &Typed<'a>,
        owners: Owners,
        manager: &ManagerId,
        force: bool,
    ) -> Result<(Option<Typed<'a>>, Owners), ApplyError> {
        let mut owners = self.reconcile(live, owners)?;
        let merged =
            live.merge(configuration).map_err(|why| ApplyError::step("failed to merge config", why))?;
        let fields =
            configuration.fields().map_err(|why| ApplyError::step("failed to get field set", why))?;
        let (fields, api_version) = (self.reachable(fields), self.api_version.to_owned());
        let last = owners.insert(manager.clone(), Owned { fields, api_version, applied: true });
        let new = self.prune(merged, &owners, last.as_ref())?;
        let (owners, _) = self.change(live, &new, owners, manager, force)?;
        let same = super::value::equal(&live.value, &new.value);
        Ok(((!same).then_some(new), owners))
    }

    /// Takes from the others what changes. Without force it must be nothing that they have.
    fn change(
        &self,
        live: &Typed<'a>,
        new: &Typed<'a>,
        mut owners: Owners,
        manager: &ManagerId,
        force: bool,
    ) -> Result<(Owners, Comparison), ApplyError> {
        let compare = |left: &Typed<'_>, right: &Typed<'_>| {
            left.compare(right).map_err(|why| ApplyError::step("failed to compare objects", why))
        };
        let own = compare(live, new)?.without(self.ignored.get(self.api_version));
        let mut versions: BTreeMap<String, Option<Comparison>> = BTreeMap::new();
        versions.insert(self.api_version.to_owned(), Some(own.clone()));
        let (mut conflicts, mut removed) = (BTreeMap::new(), Vec::new());
        let mut forgotten = Vec::new();
        for (id, owned) in owners.iter().filter(|(id, _)| *id != manager) {
            if !versions.contains_key(&owned.api_version) {
                let compared = match (
                    self.converted(live, &owned.api_version)?,
                    self.converted(new, &owned.api_version)?,
                ) {
                    (Some(live), Some(new)) => {
                        Some(compare(&live, &new)?.without(self.ignored.get(&owned.api_version)))
                    }
                    _ => None,
                };
                versions.insert(owned.api_version.clone(), compared);
            }
            let Some(compared) = versions.get(&owned.api_version).and_then(Option::as_ref) else {
                forgotten.push(id.clone());
                continue;
            };
            let taken = owned.fields.intersection(&compared.modified.union(&compared.added));
            if !taken.is_empty() {
                conflicts.insert(id.clone(), taken);
            }
            if !compared.removed.is_empty() {
                removed.push((id.clone(), compared.removed.clone()));
            }
        }
        if !force && !conflicts.is_empty() {
            return Err(ApplyError::Conflicts(Conflicts::new(conflicts)));
        }
        for id in forgotten {
            owners.remove(&id);
        }
        for (id, taken) in conflicts.into_iter().chain(removed) {
            if let Some(owned) = owners.get_mut(&id) {
                owned.fields = owned.fields.difference(&taken);
            }
        }
        owners.retain(|_, owned| !owned.fields.is_empty());
        Ok((owners, own))
    }

    fn reachable(&self, fields: FieldSet) -> FieldSet {
        match self.ignored.get(self.api_version) {
            Some(ignored) => fields.without_below(ignored),
            None => fields,
        }
    }

    /// Owners as the types of today see them; those of versions that are gone are forgotten.
    fn reconcile(&self, live: &Typed<'a>, owners: Owners) -> Result<Owners, ApplyError> {
        let mut reconciled = Owners::new();
        for (id, mut owned) in owners {
            let Some(live) = self.converted(live, &owned.api_version)? else { continue };
            if let Some(fields) = live.reconcile(&owned.fields) {
                owned.fields = fields;
            }
            reconciled.insert(id, owned);
        }
        Ok(reconciled)
    }

    /// The object in another version; none when there is no such version.
    fn converted(&self, object: &Typed<'a>, api_version: &str) -> Result<Option<Typed<'a>>, ApplyError> {
        if object.value["apiVersion"].as_str() == Some(api_version) {
            return Ok(Some(object.clone()));
        }
        let failed = |why: String| ApplyError::step("failed to convert object", why);
        let value = match self.conversion.convert(&object.value, api_version) {
            Ok(value) => value,
            Err(ConversionError::NoVersion(_)) => return Ok(None),
            Err(error) => return Err(failed(error.to_string())),
        };
        let kind = value["kind"].as_str().unwrap_or_default();
        let Some(root) = self.types.kind(api_version, kind) else { return Ok(None) };
        Typed::new(value, self.types, root, false).map(Some).map_err(|errors| failed(errors.to_string()))
    }
}
