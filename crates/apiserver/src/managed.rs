//! Who set which field: `metadata.managedFields`.

use crate::{engine::Call, object::edit_metadata, resource::Fields};

/// Notes who made a new object.
pub(crate) fn on_create(_: &Call<'_>, fields: &mut Fields, _: &str) {
    edit_metadata(fields, |metadata| metadata.remove("managedFields"));
}

/// Notes who changed what of an object.
pub(crate) fn on_update(_: &Call<'_>, fields: &mut Fields, old: &Fields, _: &str) {
    let known = old.get("metadata").and_then(|metadata| metadata.get("managedFields")).cloned();
    edit_metadata(fields, |metadata| match known {
        Some(known) => metadata.insert("managedFields".to_owned(), known),
        None => metadata.remove("managedFields"),
    });
}

/// Whether nothing has changed that would be worth a write.
pub(crate) fn same(fields: &Fields, old: &Fields) -> bool {
    fields == old
}
