//! What is known of the core at one moment, and what that means for its discovery.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use catalog::{Credentials, Discovery, GroupOffer, Origin, Server};

use crate::{
    config::Config,
    object::{Declared, DeclaredSpec},
    registration::{SecretReference, ServiceReference},
    resolve::{ServiceState, Trouble},
};

/// Everything that the core told.
#[derive(Clone, Debug, Default)]
pub(crate) struct CoreView {
    /// The core itself; none without a core.
    pub(crate) server: Option<Server>,
    /// Why it cannot be reached as configured.
    pub(crate) trouble: Option<Trouble>,
    /// Its registrations: `APIServer`s, and APIServices when they are adopted.
    pub(crate) declared: Vec<Arc<Declared>>,
    /// Where its group versions come from, by `group/version`; empty as long as nobody knows.
    pub(crate) origins: HashMap<(String, String), Origin>,
    /// Services that registrations name.
    pub(crate) services: HashMap<ServiceReference, ServiceState>,
    /// Secrets that registrations name.
    pub(crate) secrets: HashMap<SecretReference, Result<Credentials, String>>,
}

/// The versions that the door serves itself although the core knows of them.
pub(crate) fn adopted_versions(config: &Config, view: &CoreView) -> HashSet<(String, String)> {
    if !config.core.as_ref().is_some_and(|core| core.adopt_api_services) {
        return HashSet::new();
    }
    let adopted = |declared: &Arc<Declared>| match &declared.spec {
        DeclaredSpec::ApiService(spec) if spec.service.is_some() => {
            Some((spec.group.clone(), spec.version.clone()))
        }
        _ => None,
    };
    view.declared.iter().filter_map(adopted).collect()
}

/// The core's discovery as the catalog wants it: without what the door serves itself, and with the
/// origin of each group.
pub(crate) fn core_discovery(
    found: &Arc<Discovery>,
    view: &CoreView,
    adopted: &HashSet<(String, String)>,
) -> Arc<Discovery> {
    let kept = |group: &GroupOffer| {
        let mut group = group.clone();
        group.versions.retain(|v| !adopted.contains(&(group.name.clone(), v.version.clone())));
        group.origin = origin(&group, view);
        (!group.versions.is_empty()).then_some(group)
    };
    Arc::new(Discovery { core: found.core.clone(), groups: found.groups.iter().filter_map(kept).collect() })
}

/// The strongest claim of any of the group's versions.
fn origin(group: &GroupOffer, view: &CoreView) -> Origin {
    let known = group
        .versions
        .iter()
        .filter_map(|v| view.origins.get(&(group.name.clone(), v.version.clone())).copied())
        .min_by_key(|origin| match origin {
            Origin::BuiltIn => 0,
            Origin::CustomResource => 1,
            Origin::Server => 2,
        });
    known.unwrap_or_else(|| guess(&group.name))
}

/// As long as the core's APIServices are not known. A name that only looks like one of Kubernetes' own is
/// not taken for built in: that would take the group away from the server that has it.
fn guess(group: &str) -> Origin {
    if catalog::is_built_in_group(group) { Origin::BuiltIn } else { Origin::CustomResource }
}
