//! From one form of a version's resources to the other.

use std::collections::HashMap;

use super::{
    ConvertError,
    v1::{self, APIResource, APIResourceList},
    v2::{APIResourceDiscovery, APISubresourceDiscovery, GroupVersionKind, Scope},
};

/// The legacy list of a version's resources, in the order in which client-go unfolds them: each
/// resource, then its subresources. What has no kind has no place in the legacy form.
pub fn to_legacy(group: &str, version: &str, resources: &[APIResourceDiscovery]) -> APIResourceList {
    let own = (group, version);
    let mut list = APIResourceList { group_version: v1::group_version(group, version), ..Default::default() };
    for resource in resources {
        list.resources.extend(legacy_resource(own, resource));
        let subresources = resource.subresources.iter();
        list.resources.extend(subresources.filter_map(|sub| legacy_subresource(own, resource, sub)));
    }
    list
}

fn legacy_resource(own: (&str, &str), resource: &APIResourceDiscovery) -> Option<APIResource> {
    Some(APIResource {
        name: resource.resource.clone(),
        singular_name: resource.singular_resource.clone(),
        namespaced: resource.scope == Scope::Namespaced,
        verbs: resource.verbs.clone(),
        short_names: resource.short_names.clone(),
        categories: resource.categories.clone(),
        ..of_kind(own, resource.response_kind.as_ref())?
    })
}

fn legacy_subresource(
    own: (&str, &str),
    parent: &APIResourceDiscovery,
    subresource: &APISubresourceDiscovery,
) -> Option<APIResource> {
    Some(APIResource {
        name: format!("{}/{}", parent.resource, subresource.subresource),
        // Upstream's servers give subresources no singular name.
        namespaced: parent.scope == Scope::Namespaced,
        verbs: subresource.verbs.clone(),
        ..of_kind(own, subresource.response_kind.as_ref())?
    })
}

/// A resource of this kind; group and version stand in it only when they are not the list's own.
fn of_kind(own: (&str, &str), kind: Option<&GroupVersionKind>) -> Option<APIResource> {
    let kind = kind.filter(|kind| !kind.is_empty())?;
    let mut resource = APIResource { kind: kind.kind.clone(), ..Default::default() };
    if (&*kind.group, &*kind.version) != own && !kind.version.is_empty() {
        resource.group.clone_from(&kind.group);
        resource.version.clone_from(&kind.version);
    }
    Some(resource)
}

/// The aggregated form of a legacy list, subresources nested in their resources. A subresource without
/// a resource gets one with an empty kind, because older clients break on an absent one.
///
/// # Errors
/// When a subresource and its resource differ in scope.
pub fn from_legacy(list: &APIResourceList) -> Result<Vec<APIResourceDiscovery>, ConvertError> {
    let own = list.group_version.split_once('/').unwrap_or(("", &list.group_version));
    let (parents, subresources): (Vec<_>, Vec<_>) =
        list.resources.iter().partition(|resource| !resource.name.contains('/'));
    let mut resources: Vec<_> = parents.into_iter().map(|parent| aggregated(own, parent)).collect();
    let mut index: HashMap<String, usize> =
        resources.iter().enumerate().map(|(index, parent)| (parent.resource.clone(), index)).collect();
    for legacy in subresources {
        let Some((parent, name)) = legacy.name.split_once('/') else { continue };
        let parent = *index.entry(parent.to_owned()).or_insert_with(|| {
            resources.push(orphan(parent, legacy.namespaced));
            resources.len() - 1
        });
        nest(own, &mut resources[parent], name, legacy)?;
    }
    Ok(resources)
}

fn aggregated(own: (&str, &str), legacy: &APIResource) -> APIResourceDiscovery {
    APIResourceDiscovery {
        resource: legacy.name.clone(),
        response_kind: Some(kind_of(own, legacy)),
        scope: scope(legacy.namespaced),
        singular_resource: legacy.singular_name.clone(),
        verbs: legacy.verbs.clone(),
        short_names: legacy.short_names.clone(),
        categories: legacy.categories.clone(),
        subresources: Vec::new(),
    }
}

fn orphan(name: &str, namespaced: bool) -> APIResourceDiscovery {
    APIResourceDiscovery {
        resource: name.to_owned(),
        response_kind: Some(GroupVersionKind::default()),
        scope: scope(namespaced),
        ..Default::default()
    }
}

fn nest(
    own: (&str, &str),
    parent: &mut APIResourceDiscovery,
    name: &str,
    legacy: &APIResource,
) -> Result<(), ConvertError> {
    if parent.scope != scope(legacy.namespaced) {
        return Err(ConvertError::Scope { parent: parent.resource.clone(), subresource: name.to_owned() });
    }
    parent.subresources.push(APISubresourceDiscovery {
        subresource: name.to_owned(),
        response_kind: Some(kind_of(own, legacy)),
        accepted_types: Vec::new(),
        verbs: legacy.verbs.clone(),
    });
    Ok(())
}

/// The kind of a legacy resource, with the list's group and version where it says none.
fn kind_of(own: (&str, &str), legacy: &APIResource) -> GroupVersionKind {
    let (group, version) = match &*legacy.version {
        "" if legacy.group.is_empty() => own,
        "" => (&*legacy.group, own.1),
        version => (&*legacy.group, version),
    };
    match &*legacy.kind {
        "" => GroupVersionKind::default(),
        kind => GroupVersionKind { group: group.into(), version: version.into(), kind: kind.into() },
    }
}

fn scope(namespaced: bool) -> Scope {
    if namespaced { Scope::Namespaced } else { Scope::Cluster }
}
