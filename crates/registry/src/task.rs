//! One task for each server: probes its endpoints, follows its discovery and its OpenAPI documents, and
//! tells the hub. Nothing that a server does reaches another server's task.

mod endpoint;
mod pace;
mod refresh;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::{Cause, Discovery, Failure, IdentityMode, Moment, OpenApi, Server, ServerName};
use futures_util::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use tokio::sync::{Notify, mpsc, watch};

use crate::{
    asker::{Asker, identity_headers},
    clock,
    config::{Config, Polling},
    discovery::{Found, Named, discover, same},
    last_good::{LastGood, LastGoodStore},
    openapi::Keeper,
    registration::OpenApiPaths,
};
use endpoint::{Probe, Probed};
pub(crate) use pace::Pace;
use refresh::{Refresh, Refreshed};

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
    /// The last discovery that succeeded.
    pub(crate) last_discovery: Moment,
}

/// How an endpoint is.
#[derive(Clone, Debug)]
pub(crate) struct EndpointState {
    pub(crate) address: String,
    /// None: it has not been asked yet.
    pub(crate) outcome: Option<Result<(), Failure>>,
    pub(crate) last_probe: Moment,
}

impl Health {
    /// Whether there is more to it than that nobody has been asked yet.
    pub(crate) fn says_anything(&self) -> bool {
        self.endpoints.iter().any(|state| state.outcome.is_some())
    }
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
    let last_discovery = Moment::at(known.at);
    let task = Task {
        shared,
        incarnation,
        assignment,
        known,
        probes: Vec::new(),
        asking: FuturesUnordered::new(),
        refreshing: None,
        refresh: Refresh::default(),
        failure_openapi: None,
        failure_identity: None,
        last_discovery,
        told: None,
    };
    tokio::spawn(task.run(assignments, kick));
}

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
    last_discovery: Moment,
    told: Option<Health>,
}

impl Task {
    async fn run(mut self, mut assignments: watch::Receiver<Arc<Assignment>>, kick: Arc<Notify>) {
        let now = Instant::now();
        let restored = self.known.mark.is_some();
        let name = &self.assignment.server.name;
        self.begin(false, if restored { self.shared.pace.after_restart(now, name) } else { now });
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
                refreshed = refresh::wait(&mut self.refreshing) => self.take_refreshed(refreshed),
                () = sleep_until(wake) => {}
            }
        }
    }

    /// Makes probes for the endpoints of the assignment, to be asked from `first` on.
    fn begin(&mut self, same_revision: bool, first: Instant) {
        let server = &self.assignment.server;
        self.asking = FuturesUnordered::new();
        self.refreshing = None;
        self.refresh.outdated = false;
        self.failure_identity = None;
        let headers = Arc::new(identity_headers(server, &self.shared.config.probe_user));
        let before = std::mem::take(&mut self.probes);
        self.probes = Probe::all(server, &headers, &self.shared.polling, before, same_revision, first);
    }

    fn reassign(&mut self, assignment: Arc<Assignment>) {
        let known = self.assignment.named == assignment.named && self.assignment.paths == assignment.paths;
        if !known {
            self.known.mark = None;
            self.known.openapi.index_etag = None;
            self.known.openapi.index_hash.clear();
        }
        let same_revision = self.assignment.server.revision == assignment.server.revision;
        self.assignment = assignment;
        self.begin(same_revision, Instant::now());
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
        probe.state.last_probe.set(now);
        let outcome = probed.outcome.map(|(found, identity)| {
            self.failure_identity = identity;
            found
        });
        match outcome {
            Ok(found) => {
                probe.succeeded(&self.shared.pace, leader.is_none_or(|leader| leader == probed.index));
                self.last_discovery.set(now);
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
            if self.known.discovery.as_deref().is_some_and(|known| same(known, &discovery)) {
                // Other bytes that say the same.
                self.known.mark = Some(mark);
                return;
            }
            self.known.mark = Some(mark);
            self.known.discovery = Some(Arc::clone(&discovery));
            // The index has perhaps been read already with the groups of before in mind.
            self.known.openapi.index_etag = None;
            self.save();
            self.tell(Report::Discovery(discovery));
            self.refresh.lists = true;
            self.refresh.next = Some(now);
            self.refresh.next_v2 = Some(now);
            // What runs was begun with the groups of before, and has to be done again when it is done.
            self.refresh.outdated = self.refreshing.is_some();
        }
        self.refresh.next.get_or_insert(now);
        self.refresh.next_v2.get_or_insert(now);
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
            last_discovery: self.last_discovery.clone(),
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
            if matches!(refused.cause, Cause::Forbidden | Cause::IdentityRejected)
                && asker.identity() == IdentityMode::Impersonate =>
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

async fn sleep_until(when: Instant) {
    tokio::time::sleep_until(when.into()).await;
}
