//! What an applier no longer names goes, unless somebody else owns it.

use std::collections::BTreeMap;

use super::{
    super::{ApplyError, fields::FieldSet, managed::Owned, typed::Typed},
    Owners, Updater,
};

impl<'a> Updater<'a> {
    /// `merged` without what was in the last set of the applier and belongs to nobody now.
    pub(super) fn prune(
        &self,
        merged: Typed<'a>,
        owners: &Owners,
        last: Option<&Owned>,
    ) -> Result<Typed<'a>, ApplyError> {
        let Some(last) = last.filter(|last| !last.fields.is_empty()) else { return Ok(merged) };
        let Some(converted) = self.converted(&merged, &last.api_version)? else { return Ok(merged) };
        let named = |fields: &FieldSet| fields.with_named_fields(converted.types, Some(converted.root));
        let pruned = converted.without(&named(&last.fields));
        let pruned = self.add_back_owned(&converted, pruned, &last.api_version, owners)?;
        let pruned = self.add_back_dangling(&converted, &pruned, last)?;
        let back = self.converted(&pruned, self.api_version)?;
        back.ok_or_else(|| ApplyError::step("failed to convert pruned object", "its version is gone"))
    }

    fn add_back_owned(
        &self,
        merged: &Typed<'a>,
        pruned: Typed<'a>,
        first: &str,
        owners: &Owners,
    ) -> Result<Typed<'a>, ApplyError> {
        let mut by_version: BTreeMap<&str, FieldSet> = BTreeMap::new();
        for owned in owners.values() {
            let fields = by_version.entry(&owned.api_version).or_default();
            *fields = fields.union(&owned.fields);
        }
        let first = by_version.remove_entry(first);
        let (mut merged, mut pruned) = (merged.clone(), pruned);
        for (version, fields) in first.into_iter().chain(by_version) {
            let both = (self.converted(&merged, version)?, self.converted(&pruned, version)?);
            let (Some(merged_there), Some(pruned_there)) = both else { continue };
            let (in_merged, in_pruned) = (fields_of(&merged_there)?, fields_of(&pruned_there)?);
            let named =
                |fields: &FieldSet| fields.with_named_fields(merged_there.types, Some(merged_there.root));
            let kept = named(&in_pruned).union(&named(&fields));
            pruned = merged_there.without(&named(&in_merged).difference(&kept));
            merged = merged_there;
        }
        Ok(pruned)
    }

    /// What lies in something that is gone is not of the applier, and stays.
    fn add_back_dangling(
        &self,
        merged: &Typed<'a>,
        pruned: &Typed<'a>,
        last: &Owned,
    ) -> Result<Typed<'a>, ApplyError> {
        let Some(pruned) = self.converted(pruned, &last.api_version)? else { return Ok(merged.clone()) };
        let named = |fields: &FieldSet| fields.with_named_fields(merged.types, Some(merged.root));
        let gone = named(&fields_of(merged)?).difference(&named(&fields_of(&pruned)?));
        Ok(merged.without(&gone.intersection(&named(&last.fields))))
    }
}

fn fields_of(typed: &Typed<'_>) -> Result<FieldSet, ApplyError> {
    typed.fields().map_err(|why| ApplyError::step("failed to create field set", why))
}
