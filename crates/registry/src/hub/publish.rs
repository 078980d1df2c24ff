//! What the hub makes known: the catalog, the health report, and the status of every registration.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Instant,
};

use catalog::{Catalog, HealthReport, ServerName};
use tokio::sync::watch;

use super::{Efforts, Hub, Unplaced, explain::Circumstances, managed::Managed, status};
use crate::{clock, object::ObjectKey};

/// Objects with their status, JSON text.
pub(crate) type Statuses = HashMap<ObjectKey, Arc<str>>;

/// Where it is made known.
#[derive(Debug)]
pub(crate) struct Outputs {
    pub(crate) catalog: watch::Sender<Arc<Catalog>>,
    pub(crate) health: watch::Sender<Arc<HealthReport>>,
    /// Status of objects that the core keeps, to be written back to it.
    pub(crate) core_statuses: watch::Sender<Arc<Statuses>>,
    /// The time at which an object without a server of its own got its condition.
    pub(crate) since: HashMap<ObjectKey, String>,
}

impl Outputs {
    /// Nothing is known yet.
    pub(crate) fn empty() -> Self {
        Self {
            catalog: watch::channel(Arc::new(Catalog::empty())).0,
            health: watch::channel(Arc::default()).0,
            core_statuses: watch::channel(Arc::default()).0,
            since: HashMap::new(),
        }
    }

    /// Status of objects that no server was made of.
    fn unplaced(&mut self, unplaced: &Unplaced, placed: &Statuses) -> Statuses {
        self.since.retain(|key, _| unplaced.holds(key));
        let mut since = |key: &ObjectKey| {
            self.since.entry(key.clone()).or_insert_with(|| clock::format(clock::now())).clone()
        };
        let mut statuses = Statuses::new();
        for key in &unplaced.local {
            let status = status::one("True", "Local", "Local APIServices are always available", &since(key));
            statuses.insert(key.clone(), status.to_string().into());
        }
        for (key, why) in unplaced.doubles.iter().filter(|(key, _)| !placed.contains_key(key)) {
            let status = status::one("False", "NameTaken", why, &since(key));
            statuses.insert(key.clone(), status.to_string().into());
        }
        statuses
    }
}

impl Unplaced {
    fn holds(&self, key: &ObjectKey) -> bool {
        self.local.contains(key) || self.doubles.iter().any(|(double, _)| double == key)
    }
}

impl Hub {
    /// Builds and publishes the next catalog.
    pub(super) fn build(&mut self) {
        let begun = Instant::now();
        let mut contributions = self.means.in_process.clone();
        contributions.extend(self.servers.values().map(Managed::contribution));
        self.generation += 1;
        let before: Arc<Catalog> = Arc::clone(&self.means.outputs.catalog.borrow());
        let built = before.rebuild(&self.ownership, self.generation, &contributions);
        Efforts::add(&self.means.efforts.catalogs, 1);
        Efforts::add(&self.means.efforts.pieces, built.made);
        self.means.outputs.catalog.send_replace(Arc::new(built.catalog));
        if built.ownership != self.ownership {
            self.ownership = built.ownership;
            match serde_json::to_vec(&self.ownership) {
                Ok(bytes) => self.means.writer.write(self.means.ownership_file.clone(), bytes),
                Err(error) => tracing::error!(%error, "cannot note who owns which group"),
            }
        }
        self.removed.clear();
        self.catalogs.done(begun);
        self.notice(built.conflicts, built.rejected);
    }

    /// Of whom the new catalog says something else than the one before.
    fn notice(&mut self, conflicts: Vec<catalog::Conflict>, rejected: Vec<catalog::Rejected>) {
        let mut concerned: BTreeSet<&ServerName> = BTreeSet::new();
        if conflicts != self.conflicts {
            let both = conflicts.iter().chain(&self.conflicts);
            concerned.extend(both.flat_map(|conflict| [&conflict.claimant, &conflict.owner]));
        }
        if rejected != self.rejected {
            concerned.extend(rejected.iter().chain(&self.rejected).map(|rejected| &rejected.server));
        }
        let catalog = Arc::clone(&self.means.outputs.catalog.borrow());
        let mut any = false;
        for (name, managed) in &mut self.servers {
            managed.is_old |= concerned.contains(name) || !managed.serves_what_it_did(&catalog);
            any |= managed.is_old;
        }
        (self.conflicts, self.rejected) = (conflicts, rejected);
        if any && self.health.due().is_none() {
            self.health.want();
        }
    }

    /// Finds the conditions of every server of which something changed, and makes them known.
    pub(super) fn publish_health(&mut self) {
        let begun = Instant::now();
        let catalog = Arc::clone(&self.means.outputs.catalog.borrow());
        let warning = self.means.shared.polling.expiry_warning;
        let of = Circumstances { catalog: &catalog, conflicts: &self.conflicts, rejected: &self.rejected };
        for managed in self.servers.values_mut().filter(|managed| managed.is_old) {
            Efforts::add(&self.means.efforts.conditions, 1);
            managed.look_again(&of, warning);
            for (key, status) in &managed.statuses {
                self.means.store.set_status(key, status);
            }
        }
        self.publish_statuses();
        let servers: Vec<_> = self.servers.values().map(|managed| Arc::clone(&managed.report)).collect();
        self.means.outputs.health.send_if_modified(|current| {
            let changed = !same(current, &servers);
            if changed {
                *current = Arc::new(HealthReport { servers });
            }
            changed
        });
        self.health.done(begun);
    }

    /// Makes known the status of objects without a server, and to the core that of all.
    fn publish_statuses(&mut self) {
        let has_core = self.environment.has_core;
        if !has_core && self.unplaced.doubles.is_empty() && self.unplaced.local.is_empty() {
            return;
        }
        let mut statuses: Statuses =
            self.servers.values().flat_map(|managed| managed.statuses.iter().cloned()).collect();
        let unplaced = self.means.outputs.unplaced(&self.unplaced, &statuses);
        for (key, status) in &unplaced {
            self.means.store.set_status(key, status);
        }
        statuses.extend(unplaced);
        if has_core {
            self.means.outputs.core_statuses.send_replace(Arc::new(statuses));
        }
    }
}

/// Whether a report consists of these very entries.
fn same(report: &HealthReport, servers: &[Arc<catalog::ServerHealth>]) -> bool {
    report.servers.len() == servers.len()
        && report.servers.iter().zip(servers).all(|(a, b)| Arc::ptr_eq(a, b))
}
