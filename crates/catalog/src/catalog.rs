//! The catalog itself: one immutable value, read by every request.

use std::{collections::HashMap, sync::Arc};

use kube_wire::Encoding;

use crate::{
    Document, DocumentRef, Form, Route, Server, ServerName,
    build::{Parts, Specs},
    encoded::Encoded,
    routes::Routes,
};

/// Which server answers for which group, and every discovery document, ready to be sent.
///
/// Cheap to clone. Look-ups allocate nothing.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub(crate) generation: u64,
    /// By name.
    pub(crate) servers: Vec<Arc<Server>>,
    pub(crate) routes: Arc<Routes>,
    /// By path without a trailing slash.
    pub(crate) documents: Arc<HashMap<Box<str>, Forms>>,
    pub(crate) specs: Arc<Specs>,
    /// For the next build.
    pub(crate) parts: Arc<Parts>,
}

/// The forms of one path.
#[derive(Debug)]
pub(crate) struct Forms {
    pub(crate) legacy: Arc<Encoded>,
    /// Only `/api` and `/apis` have it, as upstream.
    pub(crate) aggregated: Option<Arc<Encoded>>,
}

impl Forms {
    fn encoded(&self, form: Form) -> &Encoded {
        match (form, &self.aggregated) {
            (Form::Aggregated, Some(aggregated)) => aggregated,
            _ => &self.legacy,
        }
    }
}

impl Catalog {
    /// A catalog without backends: `/api` and `/apis` are there, and empty.
    pub fn empty() -> Self {
        Self {
            generation: 0,
            servers: Vec::new(),
            routes: Arc::default(),
            documents: Arc::default(),
            specs: Arc::default(),
            parts: Arc::default(),
        }
        .rebuild(&crate::Ownership::default(), 0, &[])
        .catalog
    }

    /// The number of this catalog; each build has a higher one.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// All backends, by name; those without any group too.
    pub fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    /// The backend with this name.
    pub fn server(&self, name: &ServerName) -> Option<&Arc<Server>> {
        let found = self.servers.binary_search_by(|server| server.name.cmp(name)).ok()?;
        self.servers.get(found)
    }

    /// The core, when there is one.
    pub fn core(&self) -> Option<&Arc<Server>> {
        self.routes.core.as_ref()
    }

    /// Who answers for this group version; the empty group is the legacy one (`/api`). What nobody
    /// registered goes to the core.
    pub fn route(&self, group: &str, version: &str) -> Route<'_> {
        self.routes.find(group, version)
    }

    /// Who answers for a path that is no resource: the owner of the group for `/apis/G`, `/apis/G/V` and
    /// `/api/V`, the core for everything else.
    pub fn route_path(&self, path: &str) -> Route<'_> {
        self.routes.find_path(path)
    }

    /// The discovery document at a path as sent by the client (`/api`, `/api/V`, `/apis`, `/apis/G`,
    /// `/apis/G/V`, each with or without one trailing slash).
    ///
    /// Where a path has no aggregated form (all but `/api` and `/apis`, as upstream) the legacy document
    /// answers both; its content type then is [`Document::JSON`], which the client must accept.
    /// None: not known here, so the request goes where [`route_path`](Self::route_path) says.
    pub fn discovery(&self, path: &str, form: Form) -> Option<&Document> {
        Some(self.forms(path)?.encoded(form).json())
    }

    /// The same document in another encoding, made when the first client asks and kept as long as the
    /// document. None also when what a server gave cannot be written in it.
    pub fn discovery_in(&self, path: &str, form: Form, encoding: Encoding) -> Option<&Document> {
        self.forms(path)?.encoded(form).encoding(encoding)
    }

    fn forms(&self, path: &str) -> Option<&Forms> {
        self.documents.get(path.strip_suffix('/').unwrap_or(path))
    }

    /// The index of OpenAPI v3 documents (`/openapi/v3`).
    pub fn openapi_v3_index(&self) -> &Document {
        &self.specs.index
    }

    /// The OpenAPI v3 document with this path below `/openapi/v3/`, for example `apis/apps/v1`.
    pub fn openapi_v3(&self, path: &str) -> Option<&DocumentRef> {
        self.specs.documents.get(path)
    }
}

impl Default for Catalog {
    fn default() -> Self {
        Self::empty()
    }
}
