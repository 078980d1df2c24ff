//! Who owns which group, as remembered across builds and restarts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ServerName;

/// The owners of all groups, as the last build decided. Kept on disk by whoever builds catalogs, and given
/// to the next build: a group never changes hands while its owner is registered and still offers it.
///
/// As JSON: `{"groups":{"a.example.com":"one","b.example.com":{"v1":"two","v2":"three"}}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ownership {
    /// By group; the empty name is the legacy group.
    pub(crate) groups: BTreeMap<String, Owner>,
}

/// The owner of one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Owner {
    /// One backend has the group with all its versions.
    Whole(ServerName),
    /// APIServices gave its versions to several backends, or some of them to one.
    Versions(BTreeMap<String, ServerName>),
}

impl Ownership {
    /// Who owns this version of the group; none when that is not decided.
    pub fn owner(&self, group: &str, version: &str) -> Option<&ServerName> {
        match self.groups.get(group)? {
            Owner::Whole(name) => Some(name),
            Owner::Versions(versions) => versions.get(version),
        }
    }

    /// True when nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}
