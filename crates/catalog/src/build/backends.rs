//! The backends of one build, in order of age.

use std::{collections::HashMap, collections::HashSet, sync::Arc};

use crate::{Contribution, Rejected, Rejection, Role, Server, ServerName};

use super::claim::is_silent;

/// The contributions that count, oldest registration first; an index into them stands for a backend.
pub(crate) struct Backends<'a> {
    contributions: Vec<&'a Contribution>,
    by_name: HashMap<&'a ServerName, usize>,
    core: Option<usize>,
}

impl<'a> Backends<'a> {
    /// Sorts, and leaves out all but the first of those with the same name.
    pub(crate) fn new(contributions: &'a [Contribution]) -> (Self, Vec<Rejected>) {
        let mut sorted: Vec<&Contribution> = contributions.iter().collect();
        sorted.sort_by(|a, b| (a.registered_at, &a.server.name).cmp(&(b.registered_at, &b.server.name)));
        let mut seen = HashSet::new();
        let (unique, doubles): (Vec<_>, Vec<_>) =
            sorted.into_iter().partition(|c| seen.insert(&c.server.name));
        let rejected = doubles
            .into_iter()
            .map(|c| Rejected {
                server: c.server.name.clone(),
                group: String::new(),
                why: Rejection::Duplicate,
            })
            .collect();
        let by_name = unique.iter().enumerate().map(|(i, c)| (&c.server.name, i)).collect();
        let core = unique.iter().position(|c| c.server.role == Role::Core);
        (Self { contributions: unique, by_name, core }, rejected)
    }

    pub(crate) fn contributions(&self) -> &[&'a Contribution] {
        &self.contributions
    }

    pub(crate) fn get(&self, who: usize) -> Option<&'a Contribution> {
        self.contributions.get(who).copied()
    }

    pub(crate) fn server(&self, who: usize) -> Option<&'a Arc<Server>> {
        self.get(who).map(|c| &c.server)
    }

    pub(crate) fn name(&self, who: usize) -> Option<&'a ServerName> {
        self.get(who).map(|c| &c.server.name)
    }

    pub(crate) fn index(&self, name: &ServerName) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The core; the oldest when several contributions have this role.
    pub(crate) fn core(&self) -> Option<usize> {
        self.core
    }

    /// The core is registered, but what it serves was never seen.
    pub(crate) fn core_unseen(&self) -> bool {
        self.core.and_then(|core| self.get(core)).is_some_and(|core| core.discovery.is_none())
    }

    /// Whether it cannot say at present what it claims.
    pub(crate) fn is_silent(&self, who: usize) -> bool {
        self.get(who).is_some_and(is_silent)
    }
}
