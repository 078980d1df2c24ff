//! Which resource a request is about, and the documents that tell clients what there is.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use kube_wire::{RequestInfo, Status};

use super::respond;
use crate::{
    answer::Served,
    discovery::Documents,
    openapi,
    resource::{Definition, InvalidDefinition},
};

/// All resources at one time.
pub(super) struct Resources {
    definitions: Vec<Arc<Definition>>,
    /// By group, version and plural name.
    served: HashMap<(String, String), HashMap<String, Arc<Served>>>,
    pub(super) discovery: Documents,
    /// Made for the first who asks: most clients never do, and resources may change often.
    openapi: OnceLock<openapi::Documents>,
}

impl Resources {
    pub(super) fn new(definitions: Vec<Arc<Definition>>) -> Result<Self, InvalidDefinition> {
        let mut served: HashMap<_, HashMap<_, _>> = HashMap::new();
        for definition in &definitions {
            definition.check()?;
            for (place, version) in definition.versions.iter().enumerate() {
                let group = (definition.group.clone(), version.name.clone());
                let names = served.entry(group).or_default();
                let own = Arc::new(Served::new(Arc::clone(definition), place));
                if names.insert(definition.names.plural.clone(), own).is_some() {
                    return Err(InvalidDefinition {
                        resource: definition.qualified_name(),
                        problem: format!("version {} is defined twice", version.name),
                    });
                }
            }
        }
        let discovery = Documents::new(&definitions);
        Ok(Self { definitions, served, discovery, openapi: OnceLock::new() })
    }

    pub(super) fn definitions(&self) -> &[Arc<Definition>] {
        &self.definitions
    }

    /// The resource that a request names.
    pub(super) fn find(&self, info: &RequestInfo<'_>) -> Result<&Arc<Served>, Status> {
        let key = (info.group.to_string(), info.version.to_string());
        let names = self.served.get(&key).filter(|_| (info.api_prefix == "api") == info.group.is_empty());
        let found = names.and_then(|names| names.get(&*info.resource));
        found.ok_or_else(respond::no_such_resource)
    }

    /// The OpenAPI documents.
    pub(super) fn openapi(&self, title: &str, release: &str) -> &openapi::Documents {
        self.openapi.get_or_init(|| openapi::Documents::new(&self.definitions, title, release))
    }

    /// Whether the version of this request is served.
    pub(super) fn serves(&self, group: &str, version: &str) -> bool {
        self.served.contains_key(&(group.to_owned(), version.to_owned()))
    }
}
