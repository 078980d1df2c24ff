//! The one place where registrations, the reports of the tasks and the catalog meet. A change of any of
//! them leads to the next catalog within milliseconds; changes that come close together share one. What is
//! done for a change is in proportion to the change: of hundreds of servers only those concerned are looked
//! at again.

mod effort;
mod explain;
mod managed;
mod place;
mod publish;
mod rhythm;
mod status;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::PathBuf,
    sync::{Arc, RwLock},
    time::{Duration, Instant},
};

use catalog::{Contribution, Ownership, ServerName};
use tokio::sync::{Notify, mpsc, watch};

use crate::{
    core::{CoreView, adopted_versions, core_discovery},
    disk::Writer,
    object::{Declared, ObjectKey},
    resolve::Environment,
    store::Store,
    task::{Report, Shared},
};
pub use effort::Effort;
pub(crate) use effort::Efforts;
use managed::Managed;
pub(crate) use publish::{Outputs, Statuses};
use rhythm::{Limits, Rhythm};

/// At most a third of the time goes into catalogs. In a burst of registrations several share one, and nobody
/// waits long enough to notice.
const CATALOGS: Limits =
    Limits { pauses: 2, shortest: Duration::from_millis(10), longest: Duration::from_millis(400) };
/// Nobody waits for health and status: at most a fifth of the time goes into them.
const HEALTH: Limits =
    Limits { pauses: 4, shortest: Duration::from_millis(25), longest: Duration::from_millis(400) };
/// A new server says within a few milliseconds what it has, if it says anything: what is made known of it
/// waits for that.
const NEWCOMER: Duration = Duration::from_millis(30);
/// How often files that registrations name are looked at.
const TICK: Duration = Duration::from_secs(5);
/// How often every server is looked at again: what depends on the date alone, such as the end of a
/// certificate, changes without any report.
const DATE: Duration = Duration::from_secs(60);
/// Documents that nobody refers to any more are deleted this often.
const SWEEP: Duration = Duration::from_secs(300);

/// By which name the data path and the core reach a task.
pub(crate) type Kicks = Arc<RwLock<HashMap<ServerName, Arc<Notify>>>>;
/// What the tasks tell.
pub(crate) type Reports = mpsc::UnboundedReceiver<(ServerName, u64, Report)>;

/// What the hub works with.
pub(crate) struct Means {
    pub(crate) shared: Arc<Shared>,
    pub(crate) store: Arc<Store>,
    pub(crate) writer: Writer,
    pub(crate) ownership_file: PathBuf,
    pub(crate) outputs: Outputs,
    pub(crate) kicks: Kicks,
    pub(crate) in_process: Vec<Contribution>,
    pub(crate) core: watch::Receiver<Arc<CoreView>>,
    pub(crate) efforts: Arc<Efforts>,
}

pub(crate) struct Hub {
    means: Means,
    ownership: Ownership,
    environment: Environment,
    /// The core as it was seen last; none: not yet.
    core: Option<Arc<CoreView>>,
    /// The registrations as they were seen last.
    declared: Vec<Arc<Declared>>,
    servers: BTreeMap<ServerName, Managed>,
    /// Gone since the last catalog.
    removed: BTreeSet<ServerName>,
    /// Objects without a server of their own.
    unplaced: Unplaced,
    conflicts: Vec<catalog::Conflict>,
    rejected: Vec<catalog::Rejected>,
    revisions: u64,
    incarnations: u64,
    generation: u64,
    catalogs: Rhythm,
    health: Rhythm,
}

/// Objects that no server was made of.
#[derive(Debug, Default, PartialEq, Eq)]
struct Unplaced {
    /// Their name is taken; with a sentence that says so.
    doubles: Vec<(ObjectKey, String)>,
    /// APIServices without a Service.
    local: Vec<ObjectKey>,
}

impl Hub {
    /// Reads everything that is known and builds the first catalog. Asks nobody and waits for nothing.
    pub(crate) fn restore(means: Means, ownership: Ownership) -> Self {
        let mut hub = Self {
            means,
            ownership,
            environment: Environment::default(),
            core: None,
            declared: Vec::new(),
            servers: BTreeMap::new(),
            removed: BTreeSet::new(),
            unplaced: Unplaced::default(),
            conflicts: Vec::new(),
            rejected: Vec::new(),
            revisions: 0,
            incarnations: 0,
            generation: 0,
            catalogs: Rhythm::new(CATALOGS),
            health: Rhythm::new(HEALTH),
        };
        hub.look_around();
        hub.build();
        hub.publish_health();
        hub
    }

    /// Runs until `stop`.
    pub(crate) async fn run(mut self, mut reports: Reports, mut stop: watch::Receiver<bool>) {
        let mut registrations = self.means.store.subscribe_registrations();
        registrations.mark_changed();
        let mut core = self.means.core.clone();
        let mut own_certificate = self.means.shared.config.client_certificate.clone();
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let (mut dated, mut swept) = (Instant::now(), Instant::now());
        loop {
            let due = self.catalogs.due().into_iter().chain(self.health.due()).min();
            let sleep_until = due.unwrap_or_else(|| Instant::now() + TICK);
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                changed = registrations.changed() => if changed.is_err() { return } else { self.look_around() },
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
                    if dated.elapsed() > DATE {
                        dated = Instant::now();
                        self.look_at_all_again();
                    }
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

    async fn bring_up_to_date(&mut self) {
        if self.catalogs.is_due() {
            self.build();
            // Those who wait for the catalog go first.
            tokio::task::yield_now().await;
        }
        if self.health.is_due() {
            self.publish_health();
        }
    }

    fn take(&mut self, (name, incarnation, report): (ServerName, u64, Report)) {
        let Some(managed) = self.servers.get_mut(&name).filter(|m| m.incarnation == incarnation) else {
            return;
        };
        let mut patience = Duration::ZERO;
        match report {
            Report::Discovery(discovery) => {
                managed.known.discovery = Some(Arc::clone(&discovery));
                managed.learned_at = crate::clock::now();
                let shown = if managed.is_core() {
                    let view = Arc::clone(&self.means.core.borrow());
                    core_discovery(&discovery, &view, &adopted_versions(&self.means.shared.config, &view))
                } else {
                    discovery
                };
                if managed.show(Some(shown)) {
                    self.catalogs.want();
                }
            }
            Report::OpenApi(openapi) => {
                managed.openapi = openapi;
                self.catalogs.want();
                return;
            }
            Report::Health(health) => {
                if !health.says_anything() {
                    patience = NEWCOMER;
                }
                managed.health = health;
            }
        }
        managed.is_old = true;
        self.health.want_within(patience);
    }

    fn look_at_all_again(&mut self) {
        self.servers.values_mut().for_each(|managed| managed.is_old = true);
        self.health.want();
    }

    fn sweep(&self) {
        let mut referenced = std::collections::HashSet::new();
        let in_process = self.means.in_process.iter().map(|contribution| &contribution.openapi);
        for openapi in self.servers.values().map(|managed| &managed.openapi).chain(in_process) {
            referenced.extend(openapi.v2.iter().chain(openapi.v3.values()).map(|d| Arc::clone(&d.hash)));
        }
        let documents = Arc::clone(&self.means.shared.keeper.documents);
        self.means.writer.run(move || documents.retain(&referenced));
    }
}
