//! The pieces of one version, serialised once for each change of what the backend says about it.

use std::sync::Arc;

use bytes::Bytes;
use kube_wire::{
    discovery::{to_legacy, v1, v2},
    etag,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{Document, VersionOffer, bounds::MAX_VERSION_BYTES, encoded::Encoded};

/// One version of a group, ready to be put into documents.
#[derive(Debug)]
pub(crate) struct Fragment {
    pub(crate) version: String,
    /// What it was made from; none for a version that was never seen.
    source: Option<VersionOffer>,
    /// `APIVersionDiscovery` as JSON.
    pub(crate) aggregated: String,
    /// SHA-512 of `aggregated`.
    pub(crate) tag: String,
    /// `APIResourceList`; none when nothing is known, so that the backend must be asked.
    pub(crate) legacy: Option<Arc<Encoded>>,
    /// Why the backend's resources cannot be shown, when they cannot.
    pub(crate) unusable: Option<Unusable>,
}

/// Why the resources of a version are not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    TooLarge,
    NotResources,
}

#[derive(Serialize)]
struct Aggregated<'a> {
    version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<&'a RawValue>,
    freshness: &'static str,
}

impl Fragment {
    /// Serialises what the backend says of this version; the group may be the legacy one (empty name).
    pub(crate) fn new(group: &str, offer: &VersionOffer) -> Self {
        match readable(offer) {
            // The backend itself does not know what is in it: as if it was never seen.
            Ok(resources) if resources.is_empty() && !offer.current => {
                Self { source: Some(offer.clone()), ..Self::unseen(&offer.version) }
            }
            Ok(resources) => Self {
                source: Some(offer.clone()),
                legacy: Some(Arc::new(Encoded::new(legacy(group, offer, &resources)))),
                ..Self::with(&offer.version, Some(&offer.resources))
            },
            Err(unusable) => {
                Self { source: Some(offer.clone()), unusable: Some(unusable), ..Self::unseen(&offer.version) }
            }
        }
    }

    /// A version that was promised but never seen.
    pub(crate) fn unseen(version: &str) -> Self {
        Self::with(version, None)
    }

    fn with(version: &str, resources: Option<&RawValue>) -> Self {
        let freshness = if resources.is_some() { "Current" } else { "Stale" };
        let aggregated = json(&Aggregated { version, resources, freshness });
        Self {
            tag: etag::sha512_hex(aggregated.as_bytes()),
            version: version.to_owned(),
            source: None,
            aggregated,
            legacy: None,
            unusable: None,
        }
    }

    /// Whether it was made from exactly this offer.
    pub(crate) fn is_of(&self, offer: Option<&VersionOffer>) -> bool {
        match (&self.source, offer) {
            (None, None) => true,
            (Some(source), Some(offer)) => same(source, offer),
            _ => false,
        }
    }
}

fn same(a: &VersionOffer, b: &VersionOffer) -> bool {
    let resources = Arc::ptr_eq(&a.resources, &b.resources) || a.resources.get() == b.resources.get();
    resources && a.version == b.version && a.current == b.current && a.legacy == b.legacy
}

fn readable(offer: &VersionOffer) -> Result<Vec<v2::APIResourceDiscovery>, Unusable> {
    let text = offer.resources.get();
    if text.len() > MAX_VERSION_BYTES || offer.legacy.as_ref().is_some_and(|l| l.len() > MAX_VERSION_BYTES) {
        return Err(Unusable::TooLarge);
    }
    serde_json::from_str(text).map_err(|_| Unusable::NotResources)
}

/// The backend's own list when it is one; else derived from the aggregated form.
fn legacy(group: &str, offer: &VersionOffer, resources: &[v2::APIResourceDiscovery]) -> Document {
    let group_version = v1::group_version(group, &offer.version);
    let own = offer.legacy.as_ref().filter(|bytes| is_list_of(&group_version, bytes));
    let body = own.cloned().unwrap_or_else(|| line(&derived(group, &offer.version, resources)));
    Document::new(body, Document::JSON)
}

fn is_list_of(group_version: &str, bytes: &[u8]) -> bool {
    let list = serde_json::from_slice::<v1::APIResourceList>(bytes);
    list.is_ok_and(|list| list.kind == "APIResourceList" && list.group_version == group_version)
}

fn derived(group: &str, version: &str, resources: &[v2::APIResourceDiscovery]) -> v1::APIResourceList {
    let list = to_legacy(group, version, resources);
    // As upstream, the legacy group's list has no `apiVersion`.
    let api_version = if group.is_empty() { String::new() } else { list.api_version };
    v1::APIResourceList { api_version, ..list }
}

/// JSON text of a value that has only text keys, and so can always be written.
pub(crate) fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// JSON with the line end that upstream writes.
pub(crate) fn line<T: Serialize>(value: &T) -> Bytes {
    let mut text = json(value);
    text.push('\n');
    text.into()
}
