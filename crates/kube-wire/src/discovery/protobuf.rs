//! Discovery documents in Kubernetes' protobuf envelope. Field numbers are those of the `generated.proto`
//! files of `k8s.io/apimachinery/pkg/apis/meta/v1` and `k8s.io/api/apidiscovery/v2`; as the generated
//! code does, strings that are not pointers in Go are written even when empty.

use serde::Deserialize;

use super::{v1, v2};
use crate::protobuf::{Writer, envelope};

/// Kind and version as the document says them: upstream leaves the version out of some.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Type {
    kind: String,
    #[serde(default)]
    api_version: String,
}

/// The document in the envelope; none when it is of another kind.
pub(super) fn document(json: &[u8]) -> Option<Vec<u8>> {
    let of: Type = serde_json::from_slice(json).ok()?;
    let named = (of.api_version.as_str(), of.kind.as_str());
    Some(match named.1 {
        "APIVersions" => {
            let document: v1::APIVersions = serde_json::from_slice(json).ok()?;
            envelope(named, |raw| versions(raw, &document))
        }
        "APIGroupList" => {
            let document: v1::APIGroupList = serde_json::from_slice(json).ok()?;
            envelope(named, |raw| {
                document.groups.iter().for_each(|item| raw.message(1, |message| group(message, item)));
            })
        }
        "APIGroup" => {
            let document: v1::APIGroup = serde_json::from_slice(json).ok()?;
            envelope(named, |raw| group(raw, &document))
        }
        "APIResourceList" => {
            let document: v1::APIResourceList = serde_json::from_slice(json).ok()?;
            envelope(named, |raw| {
                raw.string(1, &document.group_version);
                document.resources.iter().for_each(|item| raw.message(2, |message| resource(message, item)));
            })
        }
        "APIGroupDiscoveryList" => {
            let document: v2::APIGroupDiscoveryList = serde_json::from_slice(json).ok()?;
            envelope(named, |raw| {
                raw.message(1, |list_meta| (1..=3).for_each(|field| list_meta.string(field, "")));
                document.items.iter().for_each(|item| raw.message(2, |message| aggregated(message, item)));
            })
        }
        _ => return None,
    })
}

fn versions(message: &mut Writer, document: &v1::APIVersions) {
    message.strings(1, &document.versions);
    addresses(message, 2, &document.server_address_by_client_cidrs);
}

fn addresses(message: &mut Writer, field: u32, addresses: &[v1::ServerAddressByClientCIDR]) {
    for address in addresses {
        message.message(field, |message| {
            message.string(1, &address.client_cidr);
            message.string(2, &address.server_address);
        });
    }
}

fn group(message: &mut Writer, group: &v1::APIGroup) {
    let version = |message: &mut Writer, version: &v1::GroupVersionForDiscovery| {
        message.string(1, &version.group_version);
        message.string(2, &version.version);
    };
    message.string(1, &group.name);
    for item in &group.versions {
        message.message(2, |message| version(message, item));
    }
    message.message(3, |message| version(message, &group.preferred_version));
    addresses(message, 4, &group.server_address_by_client_cidrs);
}

fn resource(message: &mut Writer, resource: &v1::APIResource) {
    message.string(1, &resource.name);
    message.bool(2, resource.namespaced);
    message.string(3, &resource.kind);
    message.message(4, |verbs| verbs.strings(1, &resource.verbs));
    message.strings(5, &resource.short_names);
    message.string(6, &resource.singular_name);
    message.strings(7, &resource.categories);
    message.string(8, &resource.group);
    message.string(9, &resource.version);
    message.string(10, &resource.storage_version_hash);
}

fn aggregated(message: &mut Writer, group: &v2::APIGroupDiscovery) {
    message.message(1, |object_meta| {
        object_meta.string(1, &group.metadata.name);
        (2..=6).for_each(|field| object_meta.string(field, ""));
        object_meta.int(7, 0);
        object_meta.message(8, |_no_creation_time| {});
    });
    for version in &group.versions {
        message.message(2, |message| {
            message.string(1, &version.version);
            version
                .resources
                .iter()
                .for_each(|item| message.message(2, |message| aggregated_resource(message, item)));
            message.string(3, version.freshness.as_str());
        });
    }
}

fn aggregated_resource(message: &mut Writer, resource: &v2::APIResourceDiscovery) {
    message.string(1, &resource.resource);
    if let Some(kind) = &resource.response_kind {
        message.message(2, |message| response_kind(message, kind));
    }
    message.string(3, resource.scope.as_str());
    message.string(4, &resource.singular_resource);
    message.strings(5, &resource.verbs);
    message.strings(6, &resource.short_names);
    message.strings(7, &resource.categories);
    for item in &resource.subresources {
        message.message(8, |message| subresource(message, item));
    }
}

fn subresource(message: &mut Writer, subresource: &v2::APISubresourceDiscovery) {
    message.string(1, &subresource.subresource);
    if let Some(kind) = &subresource.response_kind {
        message.message(2, |message| response_kind(message, kind));
    }
    for kind in &subresource.accepted_types {
        message.message(3, |message| response_kind(message, kind));
    }
    message.strings(4, &subresource.verbs);
}

fn response_kind(message: &mut Writer, kind: &v2::GroupVersionKind) {
    message.string(1, &kind.group);
    message.string(2, &kind.version);
    message.string(3, &kind.kind);
}
