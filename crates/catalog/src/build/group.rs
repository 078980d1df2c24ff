//! One group with its versions in order, ready to be put into documents.

use std::sync::Arc;

use kube_wire::{
    discovery::v1::{APIGroup, GroupVersionForDiscovery, ServerAddressByClientCIDR},
    etag,
};

use crate::{Document, encoded::Encoded};

use super::fragment::{Fragment, json, line};

/// One group, serialised once for each change of its versions.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    /// Best first.
    pub(crate) versions: Vec<Arc<Fragment>>,
    /// Where clients may go directly, `host:port`.
    pub(crate) address: Option<String>,
    /// `APIGroupDiscovery` as JSON.
    pub(crate) aggregated: String,
    /// Names the content of `aggregated`: the group and the tags of its versions.
    pub(crate) tag: String,
    /// `APIGroup` as it stands in a list.
    pub(crate) listed: String,
    /// `/apis/GROUP`, an object of its own.
    pub(crate) document: Arc<Encoded>,
}

impl Group {
    /// Serialises the group; `versions` is not empty.
    pub(crate) fn new(name: &str, versions: Vec<Arc<Fragment>>, address: Option<&str>) -> Self {
        let group = api_group(name, &versions, address);
        let listed = json(&group);
        let single = APIGroup { kind: "APIGroup".into(), api_version: "v1".into(), ..group };
        Self {
            aggregated: aggregated(name, &versions),
            tag: etag::sha512_hex(tags(name, &versions).as_bytes()),
            listed,
            document: Arc::new(Encoded::new(Document::new(line(&single), Document::JSON))),
            name: name.to_owned(),
            versions,
            address: address.map(str::to_owned),
        }
    }

    /// Whether it was made from exactly these parts.
    pub(crate) fn is_of(&self, versions: &[Arc<Fragment>], address: Option<&str>) -> bool {
        self.address.as_deref() == address
            && self.versions.len() == versions.len()
            && self.versions.iter().zip(versions).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

fn api_group(name: &str, versions: &[Arc<Fragment>], address: Option<&str>) -> APIGroup {
    let version = |fragment: &Arc<Fragment>| GroupVersionForDiscovery::new(name, &fragment.version);
    let versions: Vec<_> = versions.iter().map(version).collect();
    APIGroup {
        name: name.to_owned(),
        preferred_version: versions.first().cloned().unwrap_or_default(),
        versions,
        server_address_by_client_cidrs: addresses(address),
        ..APIGroup::default()
    }
}

/// The direct address for clients of both IP families, or nothing.
pub(crate) fn addresses(address: Option<&str>) -> Vec<ServerAddressByClientCIDR> {
    let entry = |cidr: &str, address: &str| ServerAddressByClientCIDR {
        client_cidr: cidr.to_owned(),
        server_address: address.to_owned(),
    };
    address.map(|a| vec![entry("0.0.0.0/0", a), entry("::/0", a)]).unwrap_or_default()
}

fn tags(name: &str, versions: &[Arc<Fragment>]) -> String {
    let parts = std::iter::once(name).chain(versions.iter().map(|fragment| &*fragment.tag));
    parts.flat_map(|part| [part, " "]).collect()
}

/// The versions are joined as text: each is JSON already.
fn aggregated(name: &str, versions: &[Arc<Fragment>]) -> String {
    let metadata = if name.is_empty() { "{}".to_owned() } else { format!("{{\"name\":{}}}", json(&name)) };
    let versions: Vec<&str> = versions.iter().map(|fragment| fragment.aggregated.as_str()).collect();
    format!("{{\"metadata\":{metadata},\"versions\":[{}]}}", versions.join(","))
}
