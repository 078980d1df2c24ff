//! `/`: the paths that the door serves, and those that the core serves behind it.

use std::{collections::BTreeSet, sync::Arc};

use catalog::{Catalog, Form};
use http::{HeaderValue, Response};
use kube_wire::discovery::v1::{APIGroupList, APIVersions};
use serde::{Deserialize, Serialize};

use super::{SERVERS, of_core::OfCore, with_type};
use crate::{authn::CoreClient, body::Body, health::Checks};

#[derive(Default, Serialize, Deserialize)]
struct RootPaths {
    paths: BTreeSet<String>,
}

/// Where the list comes from.
pub(super) struct Paths(OfCore);

impl Paths {
    pub(super) fn new(core: Arc<dyn CoreClient>) -> Self {
        Self(OfCore::new(core, "/"))
    }

    /// The core's paths when there is a core; none while it was never heard of.
    pub(super) async fn of_core(&self, catalog: &Catalog) -> Vec<u8> {
        match catalog.core() {
            Some(_) => self.0.get().await.map(Vec::from).unwrap_or_default(),
            None => Vec::new(),
        }
    }
}

/// The list, as upstream writes it; `of_core` is the core's.
pub(super) fn answer(catalog: &Catalog, checks: &Checks, of_core: &[u8]) -> Response<Body> {
    let own = ["/api", "/apis", "/apis/", "/metrics", "/openapi/v2", "/openapi/v3", "/version", SERVERS];
    let mut paths = serde_json::from_slice::<RootPaths>(of_core).unwrap_or_default().paths;
    paths.extend(own.iter().map(|path| (*path).to_owned()).chain(checks.paths()));
    if let Some(list) = read::<APIVersions>(catalog, "/api") {
        paths.extend(list.versions.iter().map(|version| format!("/api/{version}")));
    }
    if let Some(list) = read::<APIGroupList>(catalog, "/apis") {
        for group in &list.groups {
            paths.insert(format!("/apis/{}", group.name));
            paths.extend(group.versions.iter().map(|version| format!("/apis/{}", version.group_version)));
        }
    }
    let json = serde_json::to_vec_pretty(&RootPaths { paths }).unwrap_or_default();
    with_type(json, HeaderValue::from_static("application/json"))
}

fn read<T: serde::de::DeserializeOwned>(catalog: &Catalog, path: &str) -> Option<T> {
    serde_json::from_slice(&catalog.discovery(path, Form::Legacy)?.body).ok()
}
