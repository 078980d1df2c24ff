//! `/`: the paths that the door serves.

use std::collections::BTreeSet;

use catalog::{Catalog, Form};
use http::{HeaderValue, Response};
use kube_wire::discovery::v1::{APIGroupList, APIVersions};
use serde::Serialize;

use super::{SERVERS, with_type};
use crate::{body::Body, health::Checks};

#[derive(Serialize)]
struct RootPaths {
    paths: BTreeSet<String>,
}

/// The list, as upstream writes it.
pub(super) fn answer(catalog: &Catalog, checks: &Checks) -> Response<Body> {
    let own = ["/api", "/apis", "/apis/", "/metrics", "/openapi/v2", "/openapi/v3", "/version", SERVERS];
    let mut paths: BTreeSet<String> =
        own.iter().map(|path| (*path).to_owned()).chain(checks.paths()).collect();
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
