//! From what is registered to the servers in the hub's books.

use std::{
    collections::HashSet,
    sync::{Arc, PoisonError},
};

use catalog::ServerName;

use super::{Efforts, Hub, NEWCOMER, Unplaced, managed::Managed};
use crate::{
    candidate::{Candidate, Candidates},
    core::{CoreView, adopted_versions, core_discovery},
    object::{Declared, ObjectKey, Source},
    resolve::{Environment, Trouble, resolve},
};

impl Hub {
    /// Takes in registrations, the core's objects and the environment as they are now.
    pub(super) fn look_around(&mut self) {
        let view = Arc::clone(&self.means.core.borrow_and_update());
        let environment = Environment {
            client_certificate: self.means.shared.config.client_certificate.borrow().clone(),
            services: view.services.clone(),
            secrets: view.secrets.clone(),
            has_core: self.means.shared.config.core.is_some(),
        };
        let moved = environment != self.environment;
        self.environment = environment;
        let declared = self.declared(&view);
        let new = new_objects(&self.declared, &declared);
        let candidates = Candidates::of(&declared);
        self.declared = declared;
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
            self.place(candidate, moved);
        }
        self.place_core(&view);
        let unplaced = Unplaced { doubles: candidates.doubles, local: candidates.local };
        if unplaced != self.unplaced || !new.is_empty() {
            self.unplaced = unplaced;
            self.tell_again(&new);
        }
    }

    /// All objects that count.
    fn declared(&self, view: &CoreView) -> Vec<Arc<Declared>> {
        let mut declared = self.means.store.declared();
        if self.environment.has_core {
            // With a core, objects live there; those of a time without one are not seen by anybody.
            declared.retain(|object| matches!(object.source, Source::File { .. }));
        }
        declared.extend(view.declared.iter().cloned());
        declared
    }

    /// These objects may have no status yet, although nothing about their servers changed.
    fn tell_again(&mut self, new: &HashSet<ObjectKey>) {
        for managed in self.servers.values_mut().filter(|managed| managed.comes_from_any(new)) {
            managed.is_old = true;
        }
        self.health.want_within(NEWCOMER);
    }

    /// A registration as it is now: new, changed, or the same as before. `moved`: what registrations refer
    /// to may be elsewhere.
    fn place(&mut self, candidate: Candidate, moved: bool) {
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
        if unchanged && !moved {
            return;
        }
        Efforts::add(&self.means.efforts.resolved, 1);
        let (server, trouble) = resolve(&candidate, &self.environment, self.revisions + 1);
        match self.servers.get_mut(&name) {
            Some(managed) if unchanged && managed.is_at(&server, trouble.as_ref()) => {}
            Some(managed) => {
                self.revisions += 1;
                if managed.change(candidate, server, trouble) {
                    self.catalogs.want();
                }
                self.health.want();
            }
            None => {
                self.revisions += 1;
                self.add(Some(candidate), server, trouble);
            }
        }
    }

    /// Looks again at what registrations refer to outside of themselves.
    pub(super) fn resolve_again(&mut self) {
        let candidates: Vec<Candidate> = self
            .servers
            .values()
            .filter_map(|managed| managed.candidate.as_ref())
            .filter(|candidate| !candidate.spec.files().is_empty())
            .cloned()
            .collect();
        for candidate in candidates {
            self.place(candidate, true);
        }
    }

    fn place_core(&mut self, view: &Arc<CoreView>) {
        if self.core.as_ref().is_some_and(|seen| Arc::ptr_eq(seen, view)) {
            return;
        }
        self.core = Some(Arc::clone(view));
        let Some(mut server) = view.server.clone() else { return };
        let name = server.name.clone();
        self.revisions += 1;
        server.revision = self.revisions;
        let changed = match self.servers.get_mut(&name) {
            Some(managed) => managed.change_core(server, view.trouble.clone()),
            None => {
                self.add(None, server, view.trouble.clone());
                true
            }
        };
        let Some(managed) = self.servers.get_mut(&name) else { return };
        let adopted = adopted_versions(&self.means.shared.config, view);
        let shown = managed.known.discovery.as_ref().map(|found| core_discovery(found, view, &adopted));
        if managed.show(shown) || changed {
            self.catalogs.want();
        }
        managed.is_old = true;
        self.health.want();
    }

    /// Starts a server that was not there before.
    fn add(&mut self, candidate: Option<Candidate>, server: catalog::Server, trouble: Option<Trouble>) {
        self.incarnations += 1;
        let name = server.name.clone();
        let managed = Managed::new(&self.means.shared, self.incarnations, candidate, server, trouble);
        let kick = Arc::clone(&managed.kick);
        self.means.kicks.write().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), kick);
        let patience = if managed.is_expected_to_answer() { NEWCOMER } else { std::time::Duration::ZERO };
        self.servers.insert(name, managed);
        self.catalogs.want_within(patience);
        self.health.want_within(patience);
    }

    fn remove(&mut self, name: &ServerName) {
        if self.servers.remove(name).is_none() {
            return;
        }
        self.removed.insert(name.clone());
        self.means.kicks.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        self.means.shared.last_good.forget(name);
        self.catalogs.want();
        self.health.want();
    }
}

/// The objects of `now` that were not there `before`, or are others than then. Those that are the same are
/// the same allocation.
fn new_objects(before: &[Arc<Declared>], now: &[Arc<Declared>]) -> HashSet<ObjectKey> {
    let known: HashSet<*const Declared> = before.iter().map(Arc::as_ptr).collect();
    let new = now.iter().filter(|object| !known.contains(&Arc::as_ptr(object)));
    new.map(|object| object.key.clone()).collect()
}
