//! What others have set.

use std::{collections::BTreeMap, fmt};

use kube_wire::{
    Reason, Status,
    status::{StatusCause, StatusDetails},
};

use super::{
    fields::{FieldSet, PathElement, shown},
    managed::ManagerId,
};
use crate::patch::quoted;

/// A field that an applier would change and somebody else has set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub(super) manager: ManagerId,
    /// The field.
    pub path: Vec<PathElement>,
}

/// All of them, by manager; never none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts(pub(super) Vec<Conflict>);

impl Conflicts {
    pub(super) fn new(sets: BTreeMap<ManagerId, FieldSet>) -> Self {
        let conflicts = sets.into_iter().flat_map(|(manager, set)| {
            set.paths().into_iter().map(move |path| Conflict { manager: manager.clone(), path })
        });
        Self(conflicts.collect())
    }

    pub(super) fn fields(&self) -> FieldSet {
        let mut set = FieldSet::new();
        self.0.iter().for_each(|conflict| set.insert(&conflict.path));
        set
    }

    /// The conflicts.
    pub fn iter(&self) -> impl Iterator<Item = &Conflict> {
        self.0.iter()
    }

    /// 409, with a cause for each.
    pub fn status(&self) -> Status {
        let cause = |conflict: &Conflict| StatusCause {
            reason: "FieldManagerConflict".to_owned(),
            message: format!("conflict with {}", conflict.manager()),
            field: shown(&conflict.path),
        };
        let details =
            StatusDetails { causes: self.0.iter().map(cause).collect(), ..StatusDetails::default() };
        Status::failure(409, Reason::Conflict, self.to_string()).with_details(details)
    }
}

impl Conflict {
    /// Who has set it, as in `"kubectl" using v1`.
    pub fn manager(&self) -> String {
        let manager = &self.manager;
        let mut text = quoted(&manager.manager);
        if !manager.subresource.is_empty() {
            text.push_str(&format!(" with subresource {}", quoted(&manager.subresource)));
        }
        if !manager.applies() {
            text.push_str(&format!(" using {}", manager.api_version));
        }
        text
    }
}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = &self.0[..] {
            let path = shown(&one.path);
            return write!(f, "Apply failed with 1 conflict: conflict with {}: {path}", one.manager());
        }
        write!(f, "Apply failed with {} conflicts: ", self.0.len())?;
        let mut before: Option<&ManagerId> = None;
        for conflict in &self.0 {
            if before != Some(&conflict.manager) {
                let separator = if before.is_some() { "\n" } else { "" };
                write!(f, "{separator}conflicts with {}:", conflict.manager())?;
                before = Some(&conflict.manager);
            }
            write!(f, "\n- {}", shown(&conflict.path))?;
        }
        Ok(())
    }
}
