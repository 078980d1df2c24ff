//! What one backend brings to the catalog.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::Server;

/// Everything one backend offers, with the claim it has on its groups.
#[derive(Clone, Debug)]
pub struct Contribution {
    /// The backend.
    pub server: Arc<Server>,
    /// When it was registered, seconds since the Unix epoch: the older claim on a group wins, then the name.
    pub registered_at: i64,
    /// Which of its group versions are exposed, and how they rank.
    pub selection: Selection,
    /// Its last good discovery; none when it was never seen.
    pub discovery: Option<Arc<Discovery>>,
    /// Its last good OpenAPI documents.
    pub openapi: Arc<OpenApi>,
}

/// Which group versions of a backend are exposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All that it offers, with the registration's priorities.
    All {
        /// `groupPriorityMinimum`; upstream's default is 1000.
        group_priority: i32,
        /// `versionPriority`; upstream's default is 15.
        version_priority: i32,
    },
    /// Only those that APIServices name, each with its own priorities. For the core this list never
    /// hides anything: it gives the priorities of the versions that it names, and those of the others
    /// follow from the core's own order.
    Only(Vec<SelectedVersion>),
}

/// One APIService's claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedVersion {
    /// API group.
    pub group: String,
    /// API version.
    pub version: String,
    /// `groupPriorityMinimum`.
    pub group_priority: i32,
    /// `versionPriority`.
    pub version_priority: i32,
}

/// A backend's discovery, normalised to the aggregated form.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// The legacy group's versions (`/api`); empty for nearly every federated server.
    pub core: Vec<VersionOffer>,
    /// The named groups (`/apis`), in the order in which the backend gave them.
    pub groups: Vec<GroupOffer>,
}

/// One group of a backend.
#[derive(Clone, Debug)]
pub struct GroupOffer {
    /// Name, never empty.
    pub name: String,
    /// Versions in the backend's order of preference.
    pub versions: Vec<VersionOffer>,
    /// Where it comes from, when the backend is the core; [`Origin::Server`] for all other backends.
    pub origin: Origin,
}

/// Where a group of the core comes from; decides who owns it against a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Built into the core: the core owns it always.
    BuiltIn,
    /// From a CustomResourceDefinition: a registration that owns the group keeps it.
    CustomResource,
    /// A federated server's own; in the core's discovery: what its aggregation layer serves for an
    /// APIService, or not known. An APIService with a selection takes it over without a conflict, because
    /// both are the same object seen from two sides.
    Server,
}

/// One version of a group.
#[derive(Clone, Debug)]
pub struct VersionOffer {
    /// For example `v1beta1`.
    pub version: String,
    /// JSON array of `APIResourceDiscovery`, as the backend gave it (unknown fields kept).
    pub resources: Arc<RawValue>,
    /// The backend's own `APIResourceList` for this version, when it was fetched; else derived.
    pub legacy: Option<Bytes>,
    /// False when the backend itself could not say what is in it.
    pub current: bool,
}

/// OpenAPI documents of a backend, by reference: the bytes are behind [`Documents`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenApi {
    /// The Swagger 2.0 document.
    pub v2: Option<DocumentRef>,
    /// OpenAPI v3 documents by path below `/openapi/v3/`, for example `apis/wardle.example.com/v1`.
    pub v3: BTreeMap<String, DocumentRef>,
}

/// A stored document.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentRef {
    /// SHA-512 of the bytes, upper-case hexadecimal, as upstream's ETags.
    pub hash: Arc<str>,
    /// Length in bytes.
    pub len: u64,
}

/// Where document bytes are kept. Calls may read a file: not for the async hot path.
pub trait Documents: Send + Sync {
    /// The bytes with this hash.
    ///
    /// # Errors
    /// When the store lost the document or cannot read it.
    fn get(&self, document: &DocumentRef) -> std::io::Result<Bytes>;
}
