//! OpenAPI documents and legacy lists: looked at when the groups change, and now and then.

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use catalog::{Discovery, Failure, Role};
use futures_util::future::BoxFuture;

use super::{Report, Task};
use crate::{
    discovery::lists_of,
    openapi::{self, Known, Wanted},
};

/// So much more rarely a server is asked for its v2 document that has none, but v3 documents.
const V3_ALONE: u32 = 10;

/// New lists, when there are any; the documents; what went wrong; whether the v2 document was looked at.
pub(super) type Refreshed = (Option<Discovery>, Known, Option<Failure>, bool);

/// When OpenAPI documents and legacy lists are looked at next; none: not before discovery has succeeded.
#[derive(Default)]
pub(super) struct Refresh {
    /// Whether the legacy lists are wanted too.
    pub(super) lists: bool,
    pub(super) next: Option<Instant>,
    pub(super) next_v2: Option<Instant>,
    pub(super) failures: u32,
    /// Whether the groups have changed since what runs was begun.
    pub(super) outdated: bool,
    /// Until then changes are expected.
    pub(super) restless_until: Option<Instant>,
}

impl Task {
    pub(super) fn refresh_if_due(&mut self) {
        let now = Instant::now();
        if self.refreshing.is_some() || self.refresh.next.is_none_or(|next| next > now) {
            return;
        }
        let Some(leader) = self.leader() else { return };
        let Ok(asker) = self.probes[leader].asker.clone() else { return };
        let asker = if self.failure_identity.is_some() { asker.as_oneself() } else { asker };
        let v2 = self.refresh.next_v2.is_some_and(|next| next <= now);
        let wanted = Wanted { paths: self.assignment.paths.clone(), own: self.own_paths(), v2 };
        // Without aggregated discovery the lists are all that tells of resources.
        let legacy = self.known.mark.as_ref().is_some_and(|mark| mark.legacy);
        let lists = self.refresh.lists || legacy;
        let (known, discovery) = (self.known.openapi.clone(), self.known.discovery.clone());
        let keeper = self.shared.keeper.clone();
        self.refreshing = Some(Box::pin(async move {
            if !lists && openapi::unchanged(&asker, &wanted, &known).await {
                return (None, known, None, v2);
            }
            let with_lists = async {
                match discovery {
                    Some(discovery) if lists => lists_of(&asker, &discovery, legacy).await,
                    _ => None,
                }
            };
            let documents = openapi::refresh(&asker, &keeper, &wanted, known);
            let (discovery, (known, failure)) = tokio::join!(with_lists, documents);
            if known.index_etag.is_some() && failure.is_none() {
                // From here on a glance will do for a long time.
                asker.client.disconnect();
            }
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

    pub(super) fn take_refreshed(&mut self, (mut discovery, mut known, failure, v2): Refreshed) {
        self.refreshing = None;
        let outdated = std::mem::take(&mut self.refresh.outdated);
        if outdated {
            discovery = None;
            known.index_etag = None;
        }
        let now = Instant::now();
        let polling = &self.shared.polling;
        self.refresh.lists = outdated;
        self.refresh.failures = if failure.is_some() { self.refresh.failures.saturating_add(1) } else { 0 };
        let restless = self.refresh.restless_until.is_some_and(|until| now < until);
        let pause = match self.refresh.failures {
            0 if restless => polling.openapi.min(polling.discovery),
            0 => polling.openapi,
            failures => self.shared.pace.after_failures(failures).max(polling.discovery).min(polling.openapi),
        };
        self.refresh.next = Some(if outdated { now } else { now + pause });
        if v2 && failure.is_none() && !outdated {
            // A server that has v3 and no v2 will hardly get one without a change of its groups.
            let has_v3_alone = known.has_v3 && known.v2.is_none();
            self.refresh.next_v2 = Some(now + polling.openapi_v2 * if has_v3_alone { V3_ALONE } else { 1 });
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
}

/// The outcome of what runs; never, when nothing does.
pub(super) async fn wait(future: &mut Option<BoxFuture<'static, Refreshed>>) -> Refreshed {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}
