//! The one place where registrations, the reports of the tasks and the catalog meet. A change of any of
//! them leads to the next catalog within milliseconds; changes that come close together share one.

mod explain;
mod managed;
mod place;
mod publish;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, RwLock},
    time::{Duration, Instant},
};

use catalog::{Catalog, Contribution, HealthReport, Ownership, ServerName};
use tokio::sync::{Notify, mpsc, watch};

use crate::{
    core::{CoreView, adopted_versions, core_discovery},
    disk::Writer,
    object::ObjectKey,
    resolve::Environment,
    store::Store,
    task::{Report, Shared},
};
use managed::Managed;
pub(crate) use publish::Outputs;

/// Changes this close together share a catalog.
const COALESCE: Duration = Duration::from_millis(2);
/// With many servers a catalog takes longer to build; a third of the time goes into it at most.
const LONGEST_COALESCE: Duration = Duration::from_millis(400);
/// Health and status concern all servers at once and nobody waits for them: at most a fifth of the time
/// goes into them.
const HEALTH_SHARE: u32 = 4;
const HEALTH_COALESCE: Duration = Duration::from_millis(10);
/// How often files that registrations name are looked at, and times in the health report are renewed.
const TICK: Duration = Duration::from_secs(5);
/// Documents that nobody refers to any more are deleted this often.
const SWEEP: Duration = Duration::from_secs(300);

/// By which name the data path and the core reach a task.
pub(crate) type Kicks = Arc<RwLock<HashMap<ServerName, Arc<Notify>>>>;

/// What the hub starts from.
pub(crate) struct Start {
    pub(crate) shared: Arc<Shared>,
    pub(crate) store: Arc<Store>,
    pub(crate) writer: Writer,
    pub(crate) ownership: Ownership,
    pub(crate) ownership_file: std::path::PathBuf,
    pub(crate) outputs: Outputs,
    pub(crate) kicks: Kicks,
    pub(crate) in_process: Vec<Contribution>,
    pub(crate) core: watch::Receiver<Arc<CoreView>>,
    pub(crate) reports: mpsc::UnboundedReceiver<(ServerName, u64, Report)>,
}

pub(crate) struct Hub {
    shared: Arc<Shared>,
    store: Arc<Store>,
    writer: Writer,
    ownership: Ownership,
    ownership_file: std::path::PathBuf,
    outputs: Outputs,
    kicks: Kicks,
    in_process: Vec<Contribution>,
    core: watch::Receiver<Arc<CoreView>>,
    environment: Environment,
    servers: BTreeMap<ServerName, Managed>,
    /// Gone since the last catalog.
    removed: BTreeSet<ServerName>,
    doubles: Vec<(ObjectKey, String)>,
    local: Vec<ObjectKey>,
    conflicts: Vec<catalog::Conflict>,
    rejected: Vec<catalog::Rejected>,
    revisions: u64,
    incarnations: u64,
    generation: u64,
    catalog_is_old: bool,
    health_is_old: bool,
    built: Instant,
    build_took: Duration,
    published: Instant,
    publish_took: Duration,
}

impl Hub {
    /// Reads everything that is known and builds the first catalog. Asks nobody and waits for nothing.
    pub(crate) fn restore(start: Start) -> (Self, mpsc::UnboundedReceiver<(ServerName, u64, Report)>) {
        let Start {
            shared,
            store,
            writer,
            ownership,
            ownership_file,
            outputs,
            kicks,
            in_process,
            core,
            reports,
        } = start;
        let mut hub = Self {
            shared,
            store,
            writer,
            ownership,
            ownership_file,
            outputs,
            kicks,
            in_process,
            core,
            environment: Environment::default(),
            servers: BTreeMap::new(),
            removed: BTreeSet::new(),
            doubles: Vec::new(),
            local: Vec::new(),
            conflicts: Vec::new(),
            rejected: Vec::new(),
            revisions: 0,
            incarnations: 0,
            generation: 0,
            catalog_is_old: true,
            health_is_old: true,
            built: Instant::now(),
            build_took: Duration::ZERO,
            published: Instant::now(),
            publish_took: Duration::ZERO,
        };
        hub.look_around();
        hub.build();
        hub.publish_health();
        (hub, reports)
    }

    /// Runs until `stop`.
    pub(crate) async fn run(
        mut self,
        mut reports: mpsc::UnboundedReceiver<(ServerName, u64, Report)>,
        mut stop: watch::Receiver<bool>,
    ) {
        let mut stored = self.store.subscribe();
        stored.mark_changed();
        let mut core = self.core.clone();
        let mut own_certificate = self.shared.config.client_certificate.clone();
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let mut swept = Instant::now();
        loop {
            let due = self.due();
            let sleep_until = due.unwrap_or_else(|| Instant::now() + TICK);
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                changed = stored.changed() => if changed.is_err() { return } else { self.look_around() },
                Ok(()) = core.changed() => self.look_around(),
                Ok(()) = own_certificate.changed() => self.look_around(),
                report = reports.recv() => {
                    let Some(report) = report else { return };
                    self.take(report);
                    while let Ok(report) = reports.try_recv() {
                        self.take(report);
                    }
                }
                _ = tick.tick() => {
                    self.resolve_again();
                    self.health_is_old = true;
                    if swept.elapsed() > SWEEP {
                        swept = Instant::now();
                        self.sweep();
                    }
                }
                () = tokio::time::sleep_until(sleep_until.into()), if due.is_some() => {}
            }
            self.bring_up_to_date().await;
        }
    }

    /// When something is to be made known; none when all is. After a quiet time that is at once.
    fn due(&self) -> Option<Instant> {
        let catalog = self.catalog_is_old.then(|| self.catalog_due());
        let health = self.health_is_old.then(|| self.health_due());
        catalog.into_iter().chain(health).min()
    }

    fn catalog_due(&self) -> Instant {
        self.built + (self.build_took * 2).clamp(COALESCE, LONGEST_COALESCE)
    }

    fn health_due(&self) -> Instant {
        self.published + (self.publish_took * HEALTH_SHARE).max(HEALTH_COALESCE)
    }

    async fn bring_up_to_date(&mut self) {
        if self.catalog_is_old && self.catalog_due() <= Instant::now() {
            self.build();
            // Those who wait for the catalog go first.
            tokio::task::yield_now().await;
        }
        if self.health_is_old && self.health_due() <= Instant::now() {
            self.publish_health();
        }
    }

    fn take(&mut self, (name, incarnation, report): (ServerName, u64, Report)) {
        let Some(managed) = self.servers.get_mut(&name).filter(|m| m.incarnation == incarnation) else {
            return;
        };
        match report {
            Report::Discovery(discovery) => {
                managed.known.discovery = Some(Arc::clone(&discovery));
                managed.learned_at = crate::clock::now();
                let shown = if managed.is_core() {
                    let view = Arc::clone(&self.core.borrow());
                    core_discovery(&discovery, &view, &adopted_versions(&self.shared.config, &view))
                } else {
                    discovery
                };
                self.catalog_is_old |= managed.show(Some(shown));
            }
            Report::OpenApi(openapi) => {
                managed.openapi = openapi;
                self.catalog_is_old = true;
            }
            Report::Health(health) => managed.health = health,
        }
        self.health_is_old = true;
    }

    /// Builds and publishes the next catalog.
    fn build(&mut self) {
        let begun = Instant::now();
        let mut contributions = self.in_process.clone();
        contributions.extend(self.servers.values().map(Managed::contribution));
        self.generation += 1;
        let before: Arc<Catalog> = Arc::clone(&self.outputs.catalog.borrow());
        let built = before.rebuild(&self.ownership, self.generation, &contributions);
        self.outputs.catalog.send_replace(Arc::new(built.catalog));
        if built.ownership != self.ownership {
            self.ownership = built.ownership;
            match serde_json::to_vec_pretty(&self.ownership) {
                Ok(bytes) => self.writer.write(self.ownership_file.clone(), bytes),
                Err(error) => tracing::error!(%error, "cannot note who owns which group"),
            }
        }
        (self.conflicts, self.rejected) = (built.conflicts, built.rejected);
        self.catalog_is_old = false;
        self.health_is_old = true;
        self.removed.clear();
        self.built = Instant::now();
        self.build_took = begun.elapsed();
    }

    fn publish_health(&mut self) {
        let begun = Instant::now();
        let catalog = Arc::clone(&self.outputs.catalog.borrow());
        let warning = self.shared.polling.expiry_warning;
        let mut report = HealthReport::default();
        for (name, managed) in &mut self.servers {
            let of = explain::Circumstances {
                catalog: &catalog,
                conflicts: &self.conflicts,
                rejected: &self.rejected,
            };
            report.servers.push(managed.health_report(name, &of, warning));
        }
        self.outputs.statuses(&self.store, &self.servers, &self.doubles, &self.local);
        self.outputs.health.send_if_modified(|current| {
            let changed = **current != report;
            if changed {
                *current = Arc::new(report);
            }
            changed
        });
        self.health_is_old = false;
        self.published = Instant::now();
        self.publish_took = begun.elapsed();
    }

    fn sweep(&self) {
        let mut referenced = std::collections::HashSet::new();
        for openapi in
            self.servers.values().map(|m| &m.openapi).chain(self.in_process.iter().map(|c| &c.openapi))
        {
            referenced.extend(openapi.v2.iter().chain(openapi.v3.values()).map(|d| Arc::clone(&d.hash)));
        }
        let documents = Arc::clone(&self.shared.keeper.documents);
        self.writer.run(move || documents.retain(&referenced));
    }
}
