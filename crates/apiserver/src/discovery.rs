//! Discovery documents of a set of resources, made once.

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kube_wire::{
    discovery::{
        from_legacy,
        v1::{APIGroup, APIGroupList, APIResource, APIResourceList, APIVersions, GroupVersionForDiscovery},
        v2::{APIGroupDiscoveryList, Freshness},
    },
    etag,
    version::cmp_kube_aware,
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::resource::{Definition, Version};

/// A document with its entity tag.
#[derive(Clone, Debug)]
pub struct Tagged {
    /// JSON.
    pub json: Vec<u8>,
    /// With its quotes.
    pub etag: String,
}

/// All discovery documents, as JSON.
#[derive(Clone, Debug)]
pub struct Documents {
    /// `/api`.
    pub core: Vec<u8>,
    /// `/api` in the aggregated form.
    pub core_aggregated: Tagged,
    /// `/apis`.
    pub groups: Vec<u8>,
    /// `/apis` in the aggregated form.
    pub groups_aggregated: Tagged,
    /// By path: `/api/v1`, `/apis/G`, `/apis/G/V`.
    others: BTreeMap<String, Vec<u8>>,
}

/// The versions of a group, the preferred one first, with their resources.
type Group<'d> = Vec<(&'d str, Vec<APIResource>)>;

impl Documents {
    /// The documents of these resources.
    pub fn new(definitions: &[Arc<Definition>]) -> Self {
        let mut groups: BTreeMap<&str, Group<'_>> = BTreeMap::new();
        for definition in definitions {
            let group = groups.entry(&definition.group).or_default();
            for version in &definition.versions {
                let own = resources(definition, version);
                match group.iter_mut().find(|(name, _)| *name == version.name) {
                    Some((_, resources)) => resources.extend(own),
                    None => group.push((&version.name, own)),
                }
            }
        }
        let mut others = BTreeMap::new();
        for (name, group) in &mut groups {
            group.sort_by(|(a, _), (b, _)| cmp_kube_aware(b, a));
            for (version, resources) in group.iter_mut() {
                resources.sort_by(|a, b| a.name.cmp(&b.name));
                let (path, list) = version_list(name, version, resources);
                others.insert(path, json(&list));
            }
            if !name.is_empty() {
                let mut own = legacy(name, group);
                (own.kind, own.api_version) = ("APIGroup".to_owned(), "v1".to_owned());
                others.insert(format!("/apis/{name}"), json(&own));
            }
        }
        let named = || groups.iter().filter(|(name, _)| !name.is_empty());
        let legacy_groups = named().map(|(name, group)| legacy(name, group)).collect();
        let core = groups.get("");
        let core_versions = core.into_iter().flatten().map(|(version, _)| (*version).to_owned()).collect();
        Self {
            core: json(&APIVersions { versions: core_versions, ..APIVersions::default() }),
            core_aggregated: aggregated(core.map(|group| ("", group)).into_iter()),
            groups: json(&APIGroupList { groups: legacy_groups, ..APIGroupList::default() }),
            groups_aggregated: aggregated(named().map(|(name, group)| (*name, group))),
            others,
        }
    }

    /// The document at `/apis/G`, `/apis/G/V` or `/api/V`.
    pub fn of(&self, path: &str) -> Option<&Vec<u8>> {
        self.others.get(path)
    }

    /// The paths of all documents.
    pub fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.others.keys().cloned().collect();
        if paths.iter().any(|path| path.starts_with("/api/")) {
            paths.push("/api".to_owned());
        }
        paths.push("/apis".to_owned());
        paths
    }
}

fn json(document: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(document).unwrap_or_default()
}

fn version_list(group: &str, version: &str, resources: &[APIResource]) -> (String, APIResourceList) {
    let mut list = APIResourceList { resources: resources.to_vec(), ..APIResourceList::default() };
    if group.is_empty() {
        // As upstream, the legacy group's list says no version of its own.
        list.api_version.clear();
        version.clone_into(&mut list.group_version);
        return (format!("/api/{version}"), list);
    }
    list.group_version = format!("{group}/{version}");
    (format!("/apis/{group}/{version}"), list)
}

fn legacy(name: &str, group: &Group<'_>) -> APIGroup {
    let versions: Vec<_> =
        group.iter().map(|(version, _)| GroupVersionForDiscovery::new(name, version)).collect();
    let preferred_version = versions.first().cloned().unwrap_or_default();
    APIGroup { name: name.to_owned(), versions, preferred_version, ..APIGroup::default() }
}

fn aggregated<'g, 'd: 'g>(groups: impl Iterator<Item = (&'g str, &'g Group<'d>)>) -> Tagged {
    let mut list = APIGroupDiscoveryList::default();
    for (name, group) in groups {
        let mut item = kube_wire::discovery::v2::APIGroupDiscovery::default();
        name.clone_into(&mut item.metadata.name);
        for (version, resources) in group {
            let (_, legacy) = version_list(name, version, resources);
            let resources = from_legacy(&legacy).unwrap_or_default();
            let version = (*version).to_owned();
            let found = kube_wire::discovery::v2::APIVersionDiscovery {
                version,
                resources,
                freshness: Freshness::Current,
            };
            item.versions.push(found);
        }
        list.items.push(item);
    }
    let json = json(&list);
    Tagged { etag: etag::strong(&json), json }
}

/// A resource and its subresources.
fn resources(definition: &Definition, version: &Version) -> Vec<APIResource> {
    let names = &definition.names;
    let own = APIResource {
        name: names.plural.clone(),
        singular_name: names.singular.clone(),
        namespaced: definition.namespaced(),
        kind: names.kind.clone(),
        verbs: definition.verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        short_names: names.short_names.clone(),
        categories: names.categories.clone(),
        // Nothing is stored of what is answered.
        storage_version_hash: match definition.answers {
            Some(_) => String::new(),
            None => storage_version_hash(definition),
        },
        ..APIResource::default()
    };
    let subresource = |name: &str| APIResource {
        name: format!("{}/{name}", names.plural),
        namespaced: definition.namespaced(),
        kind: names.kind.clone(),
        verbs: ["get", "patch", "update"].map(str::to_owned).to_vec(),
        ..APIResource::default()
    };
    let mut all = vec![own];
    if definition.status {
        all.push(subresource("status"));
    }
    if definition.scale.is_some() {
        let (group, version, kind) = ("autoscaling".to_owned(), "v1".to_owned(), "Scale".to_owned());
        all.push(APIResource { group, version, kind, ..subresource("scale") });
    }
    for action in &definition.actions {
        let mut own = APIResource { verbs: vec![action.verb().to_owned()], ..subresource(&action.name) };
        if let Some(kind) = &action.kind {
            own.group.clone_from(&kind.group);
            own.version.clone_from(&kind.stored_version().name);
            own.kind.clone_from(&kind.names.kind);
        }
        all.push(own);
    }
    let _ = version;
    all
}

/// Changes when objects are stored in another version; upstream's way to make it.
fn storage_version_hash(definition: &Definition) -> String {
    let version = &definition.stored_version().name;
    let text = format!("{}/{version}/{}", definition.group, definition.names.kind);
    STANDARD.encode(&Sha256::digest(text)[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As kube-apiserver says it of config maps.
    #[test]
    fn the_storage_version_hash_is_upstreams() {
        let definition = Definition::new("", "v1", "ConfigMap", "configmaps");
        assert_eq!(storage_version_hash(&definition), "qFsyl6wFWjQ=");
    }
}
