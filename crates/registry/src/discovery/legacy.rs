//! Servers without aggregated discovery: one list of resources for each version.

use std::sync::Arc;

use bytes::Bytes;
use catalog::{Cause, Discovery, Failure, GroupOffer, Origin, VersionOffer};
use futures_util::{StreamExt as _, stream};
use http::StatusCode;
use kube_wire::discovery::{from_legacy, v1};
use serde_json::value::RawValue;

use super::{ACCEPT_LEGACY, PARALLEL, parse::empty_list, parse::too_many};
use crate::asker::{Asker, Kind, json_body};

/// Versions of a server without aggregated discovery; each costs a request.
const MAX_LISTS: usize = 512;

/// Every group of a legacy list with its resources.
pub(super) async fn groups(asker: &Asker, list: &v1::APIGroupList) -> Result<Vec<GroupOffer>, Failure> {
    if let Some(failure) = too_many(list.groups.len(), asker.role()) {
        return Err(failure);
    }
    let wanted: Vec<(String, String)> = list
        .groups
        .iter()
        .flat_map(|group| group.versions.iter().map(|v| (group.name.clone(), v.version.clone())))
        .collect();
    let offers = fetch(asker, &wanted).await?;
    Ok(gather(offers))
}

/// Only what is named.
pub(super) async fn named(asker: &Asker, named: &[(String, String)]) -> Result<Discovery, Failure> {
    let offers = fetch(asker, named).await?;
    if offers.iter().all(|(_, offer)| !offer.current) {
        let detail = "it answers for none of the versions that its APIServices name";
        return Err(Failure::new(Cause::UnexpectedStatus, detail));
    }
    let (core, rest): (Vec<_>, Vec<_>) = offers.into_iter().partition(|(group, _)| group.is_empty());
    Ok(Discovery { core: core.into_iter().map(|(_, offer)| offer).collect(), groups: gather(rest) })
}

async fn fetch(asker: &Asker, wanted: &[(String, String)]) -> Result<Vec<(String, VersionOffer)>, Failure> {
    if wanted.len() > MAX_LISTS {
        let detail =
            format!("it has {} versions and no aggregated discovery; {MAX_LISTS} are read", wanted.len());
        return Err(Failure::new(Cause::TooMany, detail));
    }
    let fetched = stream::iter(wanted.to_vec())
        .map(|(group, version)| async move {
            let offer = self::version(asker, &group, &version).await;
            (group, offer)
        })
        .buffered(PARALLEL);
    Ok(fetched.collect().await)
}

fn gather(offers: Vec<(String, VersionOffer)>) -> Vec<GroupOffer> {
    let mut groups: Vec<GroupOffer> = Vec::new();
    for (name, offer) in offers {
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.versions.push(offer),
            None => groups.push(GroupOffer { name, versions: vec![offer], origin: Origin::Server }),
        }
    }
    groups
}

/// One version; not current when the server cannot say what is in it.
pub(super) async fn version(asker: &Asker, group: &str, version: &str) -> VersionOffer {
    let read = match legacy_list(asker, group, version).await {
        Some(body) => resources(&body).map(|resources| (resources, body)),
        None => None,
    };
    let version = version.to_owned();
    match read {
        Some((resources, body)) => VersionOffer { version, resources, legacy: Some(body), current: true },
        None => VersionOffer { version, resources: empty_list(), legacy: None, current: false },
    }
}

fn resources(body: &[u8]) -> Option<Arc<RawValue>> {
    let list: v1::APIResourceList = serde_json::from_slice(body).ok()?;
    let aggregated = from_legacy(&list).ok()?;
    serde_json::value::to_raw_value(&aggregated).ok().map(Arc::from)
}

/// The server's own `APIResourceList` of a version, when it gives one.
async fn legacy_list(asker: &Asker, group: &str, version: &str) -> Option<Bytes> {
    let path = match group {
        "" => format!("/api/{version}"),
        group => format!("/apis/{group}/{version}"),
    };
    let answer = asker.get(Kind::Discovery, &path, ACCEPT_LEGACY, None).await.ok()?;
    let body = (answer.status == StatusCode::OK).then(|| json_body(&path, &answer).ok()).flatten()?;
    let list: v1::APIResourceList = serde_json::from_slice(&body).ok()?;
    (list.kind == "APIResourceList").then_some(body)
}

/// `discovery` with the server's own legacy lists in it, if any is another one than before. With
/// `resources_too` they also say what resources there are.
pub(crate) async fn lists_of(asker: &Asker, discovery: &Discovery, resources_too: bool) -> Option<Discovery> {
    let core = discovery.core.iter().map(|offer| ("", offer));
    let named = discovery.groups.iter().flat_map(|g| g.versions.iter().map(move |v| (g.name.as_str(), v)));
    let wanted: Vec<(String, String)> = core
        .chain(named)
        .filter(|(_, offer)| offer.current)
        .take(MAX_LISTS)
        .map(|(group, offer)| (group.to_owned(), offer.version.clone()))
        .collect();
    let mut lists = stream::iter(wanted)
        .map(|(group, version)| async move {
            let list = legacy_list(asker, &group, &version).await;
            ((group, version), list)
        })
        .buffer_unordered(PARALLEL)
        .collect::<std::collections::HashMap<_, _>>()
        .await;
    let mut changed = false;
    let mut complete = discovery.clone();
    let mut take = |group: &str, offer: &mut VersionOffer| {
        let found = lists.remove(&(group.to_owned(), offer.version.clone())).flatten();
        if found.is_some() && found != offer.legacy {
            if let Some(resources) = found.as_deref().filter(|_| resources_too).and_then(resources) {
                offer.resources = resources;
            }
            offer.legacy = found;
            changed = true;
        }
    };
    for offer in &mut complete.core {
        take("", offer);
    }
    for group in &mut complete.groups {
        for offer in &mut group.versions {
            take(&group.name, offer);
        }
    }
    changed.then_some(complete)
}
