//! From what is registered to the servers in the hub's books.

use std::sync::{Arc, PoisonError};

use catalog::ServerName;

use super::{Hub, managed::Managed};
use crate::{
    candidate::{Candidate, Candidates},
    core::{CoreView, adopted_versions, core_discovery},
    object::Source,
    resolve::{Environment, resolve},
};

impl Hub {
    /// Takes in registrations, the core's objects and the environment as they are now.
    pub(super) fn look_around(&mut self) {
        let core = Arc::clone(&self.core.borrow_and_update());
        let own = self.shared.config.client_certificate.borrow().clone();
        self.environment = Environment {
            client_certificate: own,
            services: core.services.clone(),
            secrets: core.secrets.clone(),
            has_core: self.shared.config.core.is_some(),
        };
        let mut declared = self.store.declared();
        if self.environment.has_core {
            // With a core, objects live there; those of a time without one are not seen by anybody.
            declared.retain(|object| matches!(object.source, Source::File { .. }));
        }
        declared.extend(core.declared.iter().cloned());
        let candidates = Candidates::of(&declared);
        let gone: Vec<ServerName> = self
            .servers
            .iter()
            .filter(|(name, managed)| !managed.is_core() && !candidates.servers.contains_key(*name))
            .map(|(name, _)| name.clone())
            .collect();
        for name in gone {
            self.remove(&name);
        }
        for candidate in candidates.servers.into_values() {
            self.place(candidate);
        }
        self.place_core(&core);
        (self.doubles, self.local) = (candidates.doubles, candidates.local);
        self.health_is_old = true;
    }

    /// A registration as it is now: new, changed, or the same as before.
    fn place(&mut self, candidate: Candidate) {
        let name = candidate.name.clone();
        let same_server = self.servers.get(&name).is_some_and(|managed| managed.uid() == candidate.uid);
        if !same_server {
            self.remove(&name);
        }
        if !same_server && self.removed.contains(&name) {
            // Another server under an old name is no heir: its groups are free for a moment.
            self.build();
        }
        let unchanged = self.servers.get(&name).is_some_and(|m| m.candidate.as_ref() == Some(&candidate));
        if unchanged && !self.environment_matters(&candidate) {
            return;
        }
        self.revisions += 1;
        let (server, trouble) = resolve(&candidate, &self.environment, self.revisions);
        match self.servers.get_mut(&name) {
            Some(managed) => {
                self.catalog_is_old |= managed.change(candidate, server, trouble);
            }
            None => {
                self.incarnations += 1;
                let managed = Managed::new(&self.shared, self.incarnations, Some(candidate), server, trouble);
                self.register_kick(&name, &managed);
                self.servers.insert(name, managed);
                self.catalog_is_old = true;
            }
        }
    }

    /// Whether the server may be another one although its registration is the same.
    fn environment_matters(&self, candidate: &Candidate) -> bool {
        let Some(managed) = self.servers.get(&candidate.name) else { return true };
        let (server, trouble) = resolve(candidate, &self.environment, managed.server.revision);
        !managed.is_at(&server, trouble.as_ref())
    }

    /// Looks again at what registrations refer to outside of themselves.
    pub(super) fn resolve_again(&mut self) {
        let candidates: Vec<Candidate> = self
            .servers
            .values()
            .filter_map(|managed| managed.candidate.clone())
            .filter(|candidate| !candidate.spec.files().is_empty())
            .collect();
        for candidate in candidates {
            self.place(candidate);
        }
    }

    fn place_core(&mut self, view: &Arc<CoreView>) {
        let Some(server) = &view.server else { return };
        let name = server.name.clone();
        let mut server = server.clone();
        match self.servers.get_mut(&name) {
            Some(managed) => {
                self.revisions += 1;
                server.revision = self.revisions;
                self.catalog_is_old |= managed.change_core(server, view.trouble.clone());
            }
            None => {
                self.incarnations += 1;
                self.revisions += 1;
                server.revision = self.revisions;
                let managed =
                    Managed::new(&self.shared, self.incarnations, None, server, view.trouble.clone());
                self.register_kick(&name, &managed);
                self.servers.insert(name.clone(), managed);
                self.catalog_is_old = true;
            }
        }
        if let Some(managed) = self.servers.get_mut(&name) {
            let adopted = adopted_versions(&self.shared.config, view);
            let shown = managed.known.discovery.as_ref().map(|found| core_discovery(found, view, &adopted));
            self.catalog_is_old |= managed.show(shown);
        }
    }

    fn remove(&mut self, name: &ServerName) {
        if self.servers.remove(name).is_none() {
            return;
        }
        self.removed.insert(name.clone());
        self.kicks.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        self.shared.last_good.forget(name);
        self.catalog_is_old = true;
    }

    fn register_kick(&self, name: &ServerName, managed: &Managed) {
        let kick = Arc::clone(&managed.kick);
        self.kicks.write().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), kick);
    }
}
