//! The Swagger document of a catalog.

use super::{Claim, MergedV2, OpenApiError, Owner, Source, merge_v2};
use crate::{Catalog, Documents, Role, Server, routes::Routes};

/// What one server owns in a catalog.
struct Owned<'a> {
    server: &'a Server,
    routes: &'a Routes,
}

impl Owner for Owned<'_> {
    fn owns(&self, claim: Claim<'_>) -> bool {
        match claim {
            Claim::Version(group, version) => self.routes.owns(self.server, group, version),
            Claim::Group(group) => self.routes.owns_all(self.server, group),
            Claim::Other => self.is_core(),
        }
    }

    fn is_core(&self) -> bool {
        self.server.role == Role::Core
    }
}

impl Catalog {
    /// Whether any server has a Swagger document.
    pub fn has_openapi_v2(&self) -> bool {
        !self.specs.v2.is_empty()
    }

    /// Names the content of [`merge_openapi_v2`](Self::merge_openapi_v2): as long as it stays, the result
    /// of another merge would be the same, however many catalogs were built in between.
    pub fn openapi_v2_edition(&self) -> u64 {
        self.specs.v2_edition
    }

    /// The Swagger document of all servers, the core's before the others'. Takes time and blocks on the
    /// disk: make it once per edition, and not on the async hot path.
    ///
    /// # Errors
    /// See [`merge_v2`].
    pub fn merge_openapi_v2(&self, documents: &dyn Documents) -> Result<MergedV2, OpenApiError> {
        let owners: Vec<_> =
            self.specs.v2.iter().map(|(server, _)| Owned { server, routes: &self.routes }).collect();
        let sources: Vec<_> = (self.specs.v2.iter().zip(&owners))
            .map(|((server, document), owner)| Source { server: &server.name, document, owner })
            .collect();
        merge_v2(&sources, documents)
    }
}
