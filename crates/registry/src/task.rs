//! One task for each server: probes its endpoints, follows its discovery and its OpenAPI documents, and
//! tells the hub. Nothing that a server does reaches another server's task.

mod endpoint;
mod pace;

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use catalog::{Cause, Discovery, Failure, IdentityMode, OpenApi, Role, Server, ServerName};
use futures_util::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use tokio::sync::{Notify, mpsc, watch};

use crate::{
    asker::{Asker, identity_headers},
    clock,
    config::{Config, Polling},
    discovery::{Found, Named, discover, lists_of},
    last_good::{LastGood, LastGoodStore},
    openapi::{self, Keeper, Known, Wanted},
    registration::OpenApiPaths,
};
use endpoint::{Probe, Probed};
pub(crate) use pace::Pace;

/// For how long after a hint of a change the documents are looked at as often as discovery: servers
/// describe what is new some time after they serve it.
const RESTLESS: Duration = Duration::from_secs(4);

/// What all tasks share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) polling: Arc<Polling>,
    pub(crate) keeper: Keeper,
    pub(crate) last_good: LastGoodStore,
    pub(crate) pace: Pace,
    pub(crate) reports: mpsc::UnboundedSender<(ServerName, u64, Report)>,
}

/// What a task works on; a new one replaces the old at once.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) server: Arc<Server>,
    pub(crate) uid: String,
    pub(crate) paths: OpenApiPaths,
    pub(crate) named: Named,
}

/// What a task tells the hub.
#[derive(Clone, Debug)]
pub(crate) enum Report {
    Discovery(Arc<Discovery>),
    OpenApi(Arc<OpenApi>),
    Health(Health),
}

/// How a server is. Equal values need not be told again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health {
    pub(crate) endpoints: Vec<EndpointState>,
    /// Why its OpenAPI documents are not as they should be.
    pub(crate) openapi: Option<Failure>,
    /// What it said when it refused the door's identity although it can be reached.
    pub(crate) identity: Option<Failure>,
    /// End of the certificate that it showed, seconds since the Unix epoch.
    pub(crate) certificate_end: Option<i64>,
    /// The last discovery that succeeded, seconds since the Unix epoch; 0: never.
    pub(crate) last_discovery: Arc<AtomicI64>,
}

/// How an endpoint is.
#[derive(Clone, Debug)]
pub(crate) struct EndpointState {
    pub(crate) address: String,
    /// None: it has not been asked yet.
    pub(crate) outcome: Option<Result<(), Failure>>,
    pub(crate) last_probe: Arc<AtomicI64>,
}

impl PartialEq for Health {
    fn eq(&self, other: &Self) -> bool {
        self.openapi == other.openapi
            && self.identity == other.identity
            && self.certificate_end == other.certificate_end
            && self.endpoints == other.endpoints
    }
}

impl PartialEq for EndpointState {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address && self.outcome == other.outcome
    }
}

/// Starts a task; it ends when the sender of its assignments is dropped.
pub(crate) fn start(
    shared: Arc<Shared>,
    incarnation: u64,
    assignments: watch::Receiver<Arc<Assignment>>,
    kick: Arc<Notify>,
    known: LastGood,
) {
    let mut assignments = assignments;
    let assignment = Arc::clone(&assignments.borrow_and_update());
    let last_discovery = Arc::new(AtomicI64::new(known.at));
    let task = Task {
        shared,
        incarnation,
        assignment,
        known,
        probes: Vec::new(),
        asking: FuturesUnordered::new(),
        refreshing: None,
        refresh: Refresh { lists: false, next: None, next_v2: None, failures: 0, restless_until: None },
        failure_openapi: None,
        failure_identity: None,
        last_discovery,
        told: None,
    };
    tokio::spawn(task.run(assignments, kick));
}

type Refreshed = (Option<Discovery>, Known, Option<Failure>, bool);

struct Task {
    shared: Arc<Shared>,
    incarnation: u64,
    assignment: Arc<Assignment>,
    known: LastGood,
    probes: Vec<Probe>,
    asking: FuturesUnordered<BoxFuture<'static, Probed>>,
    refreshing: Option<BoxFuture<'static, Refreshed>>,
    refresh: Refresh,
    failure_openapi: Option<Failure>,
    failure_identity: Option<Failure>,
    last_discovery: Arc<AtomicI64>,
    told: Option<Health>,
}

/// When OpenAPI documents and legacy lists are looked at next; none: not before discovery has succeeded.
struct Refresh {
    /// Whether the legacy lists are wanted too.
    lists: bool,
    next: Option<Instant>,
    next_v2: Option<Instant>,
    failures: u32,
    /// Until then changes are expected.
    restless_until: Option<Instant>,
}

impl Task {
    async fn run(mut self, mut assignments: watch::Receiver<Arc<Assignment>>, kick: Arc<Notify>) {
        self.begin();
        loop {
            self.ask_those_due();
            self.refresh_if_due();
            self.tell_health();
            let wake = self.next_due();
            tokio::select! {
                changed = assignments.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let assignment = Arc::clone(&assignments.borrow_and_update());
                    self.reassign(assignment);
                }
                () = kick.notified() => self.hurry(),
                Some(probed) = self.asking.next() => self.take(probed),
                refreshed = wait(&mut self.refreshing) => self.take_refreshed(refreshed),
                () = sleep_until(wake) => {}
            }
        }
    }

    /// Makes probes for the endpoints of the assignment.
    fn begin(&mut self) {
        let server = &self.assignment.server;
        self.asking = FuturesUnordered::new();
        self.refreshing = None;
        self.failure_identity = None;
        let headers = Arc::new(identity_headers(server, &self.shared.config.probe_user));
        self.probes = Probe::all(server, &headers, &self.shared.polling);
    }

    fn reassign(&mut self, assignment: Arc<Assignment>) {
        let known = self.assignment.named == assignment.named && self.assignment.paths == assignment.paths;
        if !known {
            self.known.mark = None;
            self.known.openapi.index_etag = None;
            self.known.openapi.index_hash.clear();
        }
        self.assignment = assignment;
        self.begin();
    }

    /// Something happened to the server: look now. What changed with a change of its groups may take it
    /// a moment to describe.
    fn hurry(&mut self) {
        let now = Instant::now();
        for probe in &mut self.probes {
            probe.due = probe.due.min(self.shared.pace.earliest(now, probe.asked));
        }
        self.refresh.next = self.refresh.next.map(|next| next.min(now));
        self.refresh.restless_until = Some(now + RESTLESS);
    }

    fn ask_those_due(&mut self) {
        let now = Instant::now();
        for (index, probe) in self.probes.iter_mut().enumerate() {
            if probe.in_flight || probe.due > now {
                continue;
            }
            probe.in_flight = true;
            probe.asked = Some(now);
            let asker = probe.asker.clone();
            let (named, mark) = (self.assignment.named.clone(), self.known.mark.clone());
            self.asking.push(Box::pin(async move {
                let outcome = match &asker {
                    Ok(asker) => ask(asker, &named, mark.as_ref()).await,
                    Err(failure) => Err(failure.clone()),
                };
                Probed { index, outcome }
            }));
        }
    }

    fn take(&mut self, probed: Probed) {
        let now = clock::now();
        let leader = self.leader();
        let Some(probe) = self.probes.get_mut(probed.index) else { return };
        probe.state.last_probe.store(now, Ordering::Relaxed);
        let outcome = probed.outcome.map(|(found, identity)| {
            self.failure_identity = identity;
            found
        });
        match outcome {
            Ok(found) => {
                probe.succeeded(&self.shared.pace, leader.is_none_or(|leader| leader == probed.index));
                self.last_discovery.store(now, Ordering::Relaxed);
                self.known.at = now;
                self.learn(found);
            }
            Err(failure) => {
                let was_well = probe.is_well();
                probe.failed(failure, &self.shared.pace);
                if was_well {
                    // Another endpoint takes over at once.
                    self.hurry();
                }
            }
        }
    }

    /// The endpoint that is asked for changes: the first that is well.
    fn leader(&self) -> Option<usize> {
        self.probes.iter().position(Probe::is_well)
    }

    fn learn(&mut self, found: Found) {
        let now = Instant::now();
        if let Found::New(discovery, mark) = found {
            let discovery = Arc::new(keep_what_went_stale(discovery, self.known.discovery.as_deref()));
            self.known.mark = Some(mark);
            self.known.discovery = Some(Arc::clone(&discovery));
            self.save();
            self.tell(Report::Discovery(discovery));
            self.refresh.lists = true;
            self.refresh.next = Some(now);
            self.refresh.next_v2 = Some(now);
            // What runs was begun with the groups of before.
            self.refreshing = None;
        }
        self.refresh.next.get_or_insert(now);
        self.refresh.next_v2.get_or_insert(now);
    }

    fn refresh_if_due(&mut self) {
        let now = Instant::now();
        if self.refreshing.is_some() || self.refresh.next.is_none_or(|next| next > now) {
            return;
        }
        let Some(leader) = self.leader() else { return };
        let Ok(asker) = self.probes[leader].asker.clone() else { return };
        let asker = if self.failure_identity.is_some() { asker.as_oneself() } else { asker };
        let v2 = self.refresh.next_v2.is_some_and(|next| next <= now);
        let wanted = Wanted { paths: self.assignment.paths.clone(), own: self.own_paths(), v2 };
        let lists = self.refresh.lists;
        let (known, discovery) = (self.known.openapi.clone(), self.known.discovery.clone());
        let keeper = self.shared.keeper.clone();
        self.refreshing = Some(Box::pin(async move {
            let with_lists = async {
                match discovery {
                    Some(discovery) if lists => lists_of(&asker, &discovery).await,
                    _ => None,
                }
            };
            let documents = openapi::refresh(&asker, &keeper, &wanted, known);
            let (discovery, (known, failure)) = tokio::join!(with_lists, documents);
            (discovery, known, failure, v2)
        }));
    }

    /// The paths of OpenAPI v3 documents that a federated server may bring.
    fn own_paths(&self) -> Option<BTreeSet<String>> {
        if self.assignment.server.role == Role::Core {
            return None;
        }
        let discovery = self.known.discovery.as_deref()?;
        let named = discovery
            .groups
            .iter()
            .flat_map(|group| group.versions.iter().map(|v| format!("apis/{}/{}", group.name, v.version)));
        Some(named.chain(discovery.core.iter().map(|v| format!("api/{}", v.version))).collect())
    }

    fn take_refreshed(&mut self, (discovery, known, failure, v2): Refreshed) {
        self.refreshing = None;
        let now = Instant::now();
        let polling = &self.shared.polling;
        self.refresh.lists = false;
        self.refresh.failures = if failure.is_some() { self.refresh.failures.saturating_add(1) } else { 0 };
        let restless = self.refresh.restless_until.is_some_and(|until| now < until);
        let pause = match self.refresh.failures {
            0 if restless => polling.openapi.min(polling.discovery),
            0 => polling.openapi,
            failures => self.shared.pace.after_failures(failures).max(polling.discovery).min(polling.openapi),
        };
        self.refresh.next = Some(now + pause);
        if v2 && failure.is_none() {
            self.refresh.next_v2 = Some(now + polling.openapi_v2);
        }
        self.failure_openapi = failure;
        let new_documents = known.references() != self.known.openapi.references();
        let worth_saving = known != self.known.openapi || discovery.is_some();
        self.known.openapi = known;
        if let Some(discovery) = discovery.map(Arc::new) {
            self.known.discovery = Some(Arc::clone(&discovery));
            self.tell(Report::Discovery(discovery));
        }
        if new_documents {
            self.tell(Report::OpenApi(Arc::new(self.known.openapi.references())));
        }
        if worth_saving {
            self.save();
        }
    }

    fn next_due(&self) -> Instant {
        let probes = self.probes.iter().filter(|probe| !probe.in_flight).map(|probe| probe.due);
        let refresh = self.refresh.next.filter(|_| self.refreshing.is_none() && self.leader().is_some());
        let idle = Instant::now() + Duration::from_secs(3600);
        probes.chain(refresh).min().unwrap_or(idle)
    }

    fn tell_health(&mut self) {
        let health = Health {
            endpoints: self.probes.iter().map(|probe| probe.state.clone()).collect(),
            openapi: self.failure_openapi.clone(),
            identity: self.failure_identity.clone(),
            certificate_end: self.probes.iter().filter_map(Probe::certificate_end).min(),
            last_discovery: Arc::clone(&self.last_discovery),
        };
        if self.told.as_ref() != Some(&health) {
            self.told = Some(health.clone());
            self.tell(Report::Health(health));
        }
    }

    fn tell(&self, report: Report) {
        let name = self.assignment.server.name.clone();
        // Without a hub there is nobody to tell, and the task ends with its assignments.
        let _ = self.shared.reports.send((name, self.incarnation, report));
    }

    fn save(&self) {
        self.shared.last_good.save(&self.assignment.server.name, &self.assignment.uid, &self.known);
    }
}

/// Asks an endpoint for its discovery. One that refuses to be asked for another user is asked under the
/// door's own credentials, so that discovery stays whole; the refusal comes with the answer.
async fn ask(
    asker: &Asker,
    named: &Named,
    mark: Option<&crate::discovery::Mark>,
) -> Result<(Found, Option<Failure>), Failure> {
    match discover(asker, named, mark).await {
        Err(refused)
            if refused.cause == Cause::Forbidden && asker.identity() == IdentityMode::Impersonate =>
        {
            let found = discover(&asker.as_oneself(), named, mark).await?;
            Ok((found, Some(refused)))
        }
        other => other.map(|found| (found, None)),
    }
}

/// A version of which a server itself cannot say at the moment what is in it keeps what was in it.
fn keep_what_went_stale(mut new: Discovery, old: Option<&Discovery>) -> Discovery {
    let Some(old) = old else { return new };
    for group in &mut new.groups {
        let Some(before) = old.groups.iter().find(|before| before.name == group.name) else { continue };
        for version in group.versions.iter_mut().filter(|version| !version.current) {
            if let Some(before) = before.versions.iter().find(|b| b.version == version.version && b.current) {
                *version = before.clone();
            }
        }
    }
    new
}

async fn wait(future: &mut Option<BoxFuture<'static, Refreshed>>) -> Refreshed {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(when: Instant) {
    tokio::time::sleep_until(when.into()).await;
}
