//! One backend in the hub's books.

use std::{collections::HashSet, sync::Arc, time::Duration};

use catalog::{
    Catalog, Condition, Contribution, Discovery, EndpointHealth, Moment, OpenApi, Route, Selection, Server,
    ServerHealth, ServerName,
};
use tokio::sync::{Notify, watch};

use super::{explain::Circumstances, status};
use crate::{
    candidate::Candidate,
    conditions,
    discovery::{Named, same},
    last_good::LastGood,
    object::ObjectKey,
    registration::{DEFAULT_GROUP_PRIORITY, DEFAULT_VERSION_PRIORITY, OpenApiPaths},
    resolve::{Trouble, same_revision},
    task::{self, Assignment, Health, Shared},
};

/// Under which the core's last good copy is kept: there is only one.
const CORE_UID: &str = "core";

pub(crate) struct Managed {
    /// None: the core.
    pub(super) candidate: Option<Candidate>,
    pub(super) server: Arc<Server>,
    pub(super) trouble: Option<Trouble>,
    pub(super) incarnation: u64,
    pub(super) kick: Arc<Notify>,
    /// As the server itself gave it.
    pub(super) known: LastGood,
    /// When it last gave something new, seconds since the Unix epoch.
    pub(super) learned_at: i64,
    /// As it goes into the catalog.
    shown: Option<Arc<Discovery>>,
    pub(super) openapi: Arc<OpenApi>,
    pub(super) health: Health,
    /// Whether anything changed that conditions, report and statuses depend on.
    pub(super) is_old: bool,
    pub(super) conditions: Vec<Condition>,
    pub(super) report: Arc<ServerHealth>,
    /// Of the objects that it comes from, JSON text.
    pub(super) statuses: Vec<(ObjectKey, Arc<str>)>,
    assignments: watch::Sender<Arc<Assignment>>,
}

impl Managed {
    /// Restores what is known of the server and starts its task.
    pub(super) fn new(
        shared: &Arc<Shared>,
        incarnation: u64,
        candidate: Option<Candidate>,
        server: Server,
        trouble: Option<Trouble>,
    ) -> Self {
        let uid = candidate.as_ref().map_or(CORE_UID, |candidate| candidate.uid.as_str()).to_owned();
        let known = shared.last_good.load(&server.name, &uid);
        let name = server.name.clone();
        let server = Arc::new(server);
        let last_discovery = Moment::at(known.at);
        let assignment = assignment(candidate.as_ref(), &server, uid);
        let (assignments, receiver) = watch::channel(Arc::new(assignment));
        let kick = Arc::new(Notify::new());
        task::start(Arc::clone(shared), incarnation, receiver, Arc::clone(&kick), known.clone());
        Self {
            candidate,
            server,
            trouble,
            incarnation,
            kick,
            shown: known.discovery.clone(),
            openapi: Arc::new(known.openapi.references()),
            learned_at: 0,
            known,
            health: Health { last_discovery, ..Health::default() },
            is_old: true,
            conditions: Vec::new(),
            report: Arc::new(ServerHealth::unknown(name)),
            statuses: Vec::new(),
            assignments,
        }
    }

    pub(super) fn is_core(&self) -> bool {
        self.candidate.is_none()
    }

    pub(super) fn uid(&self) -> &str {
        self.candidate.as_ref().map_or(CORE_UID, |candidate| &candidate.uid)
    }

    /// Takes a changed registration; tells whether the catalog is concerned.
    pub(super) fn change(&mut self, candidate: Candidate, server: Server, trouble: Option<Trouble>) -> bool {
        let old = self.candidate.replace(candidate);
        let claims_changed = old.as_ref().map(|c| (&c.selection, c.registered_at))
            != self.candidate.as_ref().map(|c| (&c.selection, c.registered_at));
        let server_changed = self.take_server(server, trouble);
        claims_changed | server_changed
    }

    /// The same for the core.
    pub(super) fn change_core(&mut self, server: Server, trouble: Option<Trouble>) -> bool {
        self.take_server(server, trouble)
    }

    fn take_server(&mut self, mut server: Server, trouble: Option<Trouble>) -> bool {
        self.is_old = true;
        self.trouble = trouble;
        if same_revision(&self.server, &server) {
            server.revision = self.server.revision;
        }
        let unchanged = server.revision == self.server.revision && server.endpoints == self.server.endpoints;
        if !unchanged {
            self.server = Arc::new(server);
        }
        let uid = self.uid().to_owned();
        let next = assignment(self.candidate.as_ref(), &self.server, uid);
        self.assignments.send_if_modified(|current| {
            let same = Arc::ptr_eq(&current.server, &next.server)
                && current.paths == next.paths
                && current.named == next.named;
            if !same {
                *current = Arc::new(next);
            }
            !same
        });
        !unchanged
    }

    /// Whether the server is where `server` says, with the same trouble.
    pub(super) fn is_at(&self, server: &Server, trouble: Option<&Trouble>) -> bool {
        same_revision(&self.server, server)
            && self.server.endpoints == server.endpoints
            && self.trouble.as_ref() == trouble
    }

    /// Sets what goes into the catalog; tells whether it is something else than before.
    pub(super) fn show(&mut self, discovery: Option<Arc<Discovery>>) -> bool {
        let same = match (&self.shown, &discovery) {
            (Some(shown), Some(new)) => Arc::ptr_eq(shown, new) || same(shown, new),
            (None, None) => true,
            _ => false,
        };
        if !same {
            self.shown = discovery;
        }
        !same
    }

    pub(super) fn contribution(&self) -> Contribution {
        let (registered_at, selection) = match &self.candidate {
            Some(candidate) => (candidate.registered_at, candidate.selection.clone()),
            None => (
                0,
                Selection::All {
                    group_priority: DEFAULT_GROUP_PRIORITY,
                    version_priority: DEFAULT_VERSION_PRIORITY,
                },
            ),
        };
        Contribution {
            server: Arc::clone(&self.server),
            registered_at,
            selection,
            discovery: self.shown.clone(),
            openapi: Arc::clone(&self.openapi),
        }
    }

    /// The discovery that is in the catalog.
    pub(super) fn shown(&self) -> Option<&Arc<Discovery>> {
        self.shown.as_ref()
    }

    /// Whether it is new, and likely to say at once what it has.
    pub(super) fn is_expected_to_answer(&self) -> bool {
        self.shown.is_none() && self.trouble.is_none()
    }

    pub(super) fn comes_from_any(&self, objects: &HashSet<ObjectKey>) -> bool {
        self.candidate.iter().flat_map(|candidate| &candidate.objects).any(|(key, _)| objects.contains(key))
    }

    /// Whether a catalog routes to it exactly what the report says.
    pub(super) fn serves_what_it_did(&self, catalog: &Catalog) -> bool {
        let mut reported = self.report.group_versions.iter();
        let same = routed(catalog, &self.server.name, self.shown.as_deref())
            .all(|(group, version)| reported.next().is_some_and(|text| is_written(text, group, version)));
        same && reported.next().is_none()
    }

    /// Finds its conditions, and with them its entry in the health report and the status of its objects.
    pub(super) fn look_again(&mut self, of: &Circumstances<'_>, warning: Duration) {
        let name = &self.server.name;
        let group_versions = routed(of.catalog, name, self.shown.as_deref())
            .map(
                |(group, version)| {
                    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
                },
            )
            .collect();
        let findings = of.findings(name, self, warning);
        conditions::apply(&mut self.conditions, findings);
        let endpoint = |state: &task::EndpointState| EndpointHealth {
            address: state.address.clone(),
            failure: state.outcome.clone().and_then(Result::err),
            last_probe: state.last_probe.clone(),
        };
        let report = ServerHealth {
            name: self.server.name.clone(),
            source: self.candidate.as_ref().map_or("Core", |candidate| candidate.source),
            conditions: self.conditions.clone(),
            endpoints: self.health.endpoints.iter().map(endpoint).collect(),
            group_versions,
            last_discovery: self.health.last_discovery.clone(),
        };
        if *self.report != report {
            self.report = Arc::new(report);
        }
        let objects = self.candidate.iter().flat_map(|candidate| &candidate.objects);
        self.statuses = objects
            .map(|(key, generation)| {
                let status = status::of(key.resource, self, *generation);
                (key.clone(), status.to_string().into())
            })
            .collect();
        self.is_old = false;
    }
}

/// Everything in `discovery` that the catalog routes to this server.
fn routed<'a>(
    catalog: &'a Catalog,
    name: &'a ServerName,
    discovery: Option<&'a Discovery>,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let core = discovery.into_iter().flat_map(|d| d.core.iter().map(|v| ("", v.version.as_str())));
    let named = discovery.into_iter().flat_map(|d| {
        d.groups.iter().flat_map(|group| group.versions.iter().map(|v| (&*group.name, &*v.version)))
    });
    core.chain(named).filter(|(group, version)| match catalog.route(group, version) {
        Route::Server(server) | Route::Core(server) => server.name == *name,
        Route::None => false,
    })
}

/// Whether `text` is this group version as it is written.
fn is_written(text: &str, group: &str, version: &str) -> bool {
    match text.split_once('/') {
        Some(parts) => parts == (group, version),
        None => group.is_empty() && text == version,
    }
}

fn assignment(candidate: Option<&Candidate>, server: &Arc<Server>, uid: String) -> Assignment {
    let named: Named = candidate.and_then(|candidate| match &candidate.selection {
        Selection::Only(versions) => {
            Some(versions.iter().map(|v| (v.group.clone(), v.version.clone())).collect())
        }
        Selection::All { .. } => None,
    });
    Assignment {
        server: Arc::clone(server),
        uid,
        paths: candidate.map_or_else(OpenApiPaths::default, |candidate| candidate.spec.openapi.clone()),
        named,
    }
}
