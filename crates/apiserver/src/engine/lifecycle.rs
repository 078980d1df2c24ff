//! What has to happen before an object may go.

use serde_json::Value;

use crate::{
    object::{edit_metadata, metadata},
    options::{DeleteOptions, Propagation},
    resource::Fields,
};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// Whether an object that was being deleted has nothing left that holds it.
pub(super) fn is_done(fields: &Fields, old: &Fields) -> bool {
    let (new, old) = (metadata(fields), metadata(old));
    let at_once = |grace: Option<i64>| grace.unwrap_or_default() == 0;
    new.finalizers.is_empty()
        && new.deletion_timestamp.is_some()
        && old.deletion_timestamp.is_some()
        && at_once(new.deletion_grace_period_seconds)
        && at_once(old.deletion_grace_period_seconds)
}

/// The finalizers with the one that the deletion asks for, in place of those of earlier ones.
pub(super) fn finalizers(object: &Fields, options: &DeleteOptions) -> Vec<String> {
    let own = metadata(object).finalizers;
    let has =
        |name: &str| own.iter().find(|own| matches!(&***own, ORPHAN | FOREGROUND)).is_some_and(|f| f == name);
    let (orphan, foreground) = match (options.orphan_dependents, options.propagation) {
        (Some(orphan), _) => (orphan, false),
        (None, Some(propagation)) => {
            (propagation == Propagation::Orphan, propagation == Propagation::Foreground)
        }
        // What an earlier request said.
        (None, None) => (has(ORPHAN), has(FOREGROUND)),
    };
    let mut kept: Vec<_> =
        own.iter().filter(|name| !matches!(&***name, ORPHAN | FOREGROUND)).cloned().collect();
    if orphan {
        kept.push(ORPHAN.to_owned());
    }
    if foreground {
        kept.push(FOREGROUND.to_owned());
    }
    // Nothing new: in the order in which they stand there.
    let same = kept.len() == own.len() && kept.iter().all(|name| own.contains(name));
    if same { own } else { kept }
}

/// Marks an object as one that is being deleted.
pub(super) fn mark(object: &mut Fields, finalizers: Vec<String>, now: &str) {
    edit_metadata(object, |metadata| {
        metadata.insert("finalizers".to_owned(), Value::from(finalizers));
        let generation = metadata.get("generation").and_then(Value::as_i64).unwrap_or_default();
        if !metadata.contains_key("deletionTimestamp") {
            metadata.insert("deletionTimestamp".to_owned(), now.into());
            if generation > 0 {
                metadata.insert("generation".to_owned(), (generation + 1).into());
            }
        }
        metadata.insert("deletionGracePeriodSeconds".to_owned(), 0.into());
    });
}
