//! What this backend brings to the catalog.

use std::{collections::BTreeMap, sync::Arc};

use catalog::{
    Body, Contribution, Credentials, Discovery, Endpoint, GroupOffer, IdentityMode, Limits, OpenApi, Origin,
    Role, Roots, SelectedVersion, Selection, Server, ServerName, Trust, VersionOffer,
};
use http::{Response, StatusCode, request::Parts};
use kube_wire::discovery::{
    to_legacy,
    v2::{APIResourceDiscovery, APISubresourceDiscovery, GroupVersionKind, Scope},
};

use super::{RegistrationApi, answer, openapi};
use crate::{documents::DocumentStore, object::Resource, store::Store, validation::RESERVED_NAME};

/// Rank of kube-aggregator's own group, before everything else; ours comes after the ordinary ones.
const API_SERVICE_PRIORITY: i32 = 20_001;
const API_SERVER_PRIORITY: i32 = 1000;
/// Rank of the versions.
const VERSION_PRIORITY: i32 = 18;

/// The registration API as one backend among others.
pub(crate) fn contribution(store: &Arc<Store>, documents: &Arc<DocumentStore>) -> Contribution {
    let service = Arc::new(RegistrationApi::new(Arc::clone(store)));
    let server = Server {
        name: ServerName::new(RESERVED_NAME),
        revision: 0,
        role: Role::Federated,
        endpoints: vec![Endpoint::InProcess(service)],
        base_path: String::new(),
        trust: Trust { roots: Roots::System, server_name: None, skip_verification: false },
        identity: IdentityMode::RequestHeader,
        credentials: Credentials::default(),
        limits: Limits::default(),
        direct_address: None,
    };
    let selected = |resource: Resource| SelectedVersion {
        group: resource.group().to_owned(),
        version: resource.version().to_owned(),
        group_priority: match resource {
            Resource::ApiServer => API_SERVER_PRIORITY,
            Resource::ApiService => API_SERVICE_PRIORITY,
        },
        version_priority: VERSION_PRIORITY,
    };
    Contribution {
        server: Arc::new(server),
        // Older than anything that can be registered.
        registered_at: 0,
        selection: Selection::Only(Resource::ALL.map(selected).to_vec()),
        discovery: Some(Arc::new(discovery())),
        openapi: Arc::new(documents_of(documents)),
    }
}

/// The legacy list of a version, for whoever asks this backend itself.
pub(super) fn document(parts: &Parts) -> Option<Response<Body>> {
    let path = parts.uri.path().trim_end_matches('/');
    let resource = Resource::ALL.into_iter().find(|r| path == format!("/apis/{}", r.api_version()))?;
    let list = to_legacy(resource.group(), resource.version(), &[description(resource)]);
    Some(answer::json(parts, StatusCode::OK, &list))
}

fn discovery() -> Discovery {
    let group = |resource: Resource| {
        let resources = serde_json::value::to_raw_value(&[description(resource)]).unwrap_or_default();
        GroupOffer {
            name: resource.group().to_owned(),
            versions: vec![VersionOffer {
                version: resource.version().to_owned(),
                resources: resources.into(),
                legacy: None,
                current: true,
            }],
            origin: Origin::Server,
        }
    };
    Discovery { core: Vec::new(), groups: Resource::ALL.map(group).to_vec() }
}

fn description(resource: Resource) -> APIResourceDiscovery {
    let kind = GroupVersionKind {
        group: resource.group().to_owned(),
        version: resource.version().to_owned(),
        kind: resource.kind().to_owned(),
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    APIResourceDiscovery {
        resource: resource.plural().to_owned(),
        response_kind: Some(kind.clone()),
        scope: Scope::Cluster,
        singular_resource: resource.kind().to_lowercase(),
        verbs: words(&["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]),
        short_names: match resource {
            Resource::ApiServer => words(&["apisrv"]),
            Resource::ApiService => Vec::new(),
        },
        categories: words(&["api-extensions"]),
        subresources: vec![APISubresourceDiscovery {
            subresource: "status".to_owned(),
            response_kind: Some(kind),
            accepted_types: Vec::new(),
            verbs: words(&["get"]),
        }],
    }
}

fn documents_of(documents: &DocumentStore) -> OpenApi {
    let keep = |value: &serde_json::Value| {
        let bytes = serde_json::to_vec(value).unwrap_or_default();
        documents
            .put(&bytes)
            .inspect_err(|error| tracing::error!(%error, "cannot keep the OpenAPI document of registrations"))
            .ok()
    };
    let v3 = |resource: Resource| {
        Some((format!("apis/{}", resource.api_version()), keep(&openapi::document(resource))?))
    };
    OpenApi {
        v2: keep(&openapi::swagger()),
        v3: Resource::ALL.into_iter().filter_map(v3).collect::<BTreeMap<_, _>>(),
    }
}
