//! `x-kubernetes-group-version-kind`: which kinds a definition describes. kubectl looks definitions up
//! by it, so a server may only name kinds of its own groups.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Claim, Owner};

pub(super) const KEY: &str = "x-kubernetes-group-version-kind";

/// Kinds by `group/version.kind`, the order in which upstream writes them.
pub(super) type Kinds = BTreeMap<String, Value>;

/// The kinds of a definition.
pub(super) fn read(definition: &Value) -> Kinds {
    let Some(Value::Array(kinds)) = definition.get(KEY) else { return Kinds::new() };
    kinds.iter().map(|kind| (key(kind), kind.clone())).collect()
}

/// The kinds that are the server's own.
pub(super) fn owned(kinds: Kinds, owner: &dyn Owner) -> Kinds {
    let own = |kind: &Value| owner.owns(Claim::Version(text(kind, "group"), text(kind, "version")));
    kinds.into_iter().filter(|(_, kind)| own(kind)).collect()
}

/// Puts the kinds into a definition.
pub(super) fn write(definition: &mut Map<String, Value>, kinds: Kinds) {
    if kinds.is_empty() {
        definition.remove(KEY);
    } else {
        definition.insert(KEY.to_owned(), Value::Array(kinds.into_values().collect()));
    }
}

fn key(kind: &Value) -> String {
    format!("{}/{}.{}", text(kind, "group"), text(kind, "version"), text(kind, "kind"))
}

fn text<'v>(kind: &'v Value, field: &str) -> &'v str {
    kind.get(field).and_then(Value::as_str).unwrap_or_default()
}
