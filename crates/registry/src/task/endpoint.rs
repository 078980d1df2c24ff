//! One endpoint under observation.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::{Failure, Moment, Server};
use dial::{Client, TlsSetup};
use http::HeaderMap;

use super::{EndpointState, Pace};
use crate::{asker::Asker, clock, config::Polling, discovery::Found, glance::Glances};

/// How long a glance waits for its answer, before the question is put properly.
const GLANCE: Duration = Duration::from_millis(1500);

/// An endpoint with what is known of it.
pub(super) struct Probe {
    /// The failure when the registration's certificates cannot be used.
    pub(super) asker: Result<Asker, Failure>,
    pub(super) state: EndpointState,
    pub(super) due: Instant,
    pub(super) asked: Option<Instant>,
    pub(super) in_flight: bool,
    failures: u32,
}

/// The outcome of a probe; beside the discovery the refusal of the door's identity, if there was one.
pub(super) struct Probed {
    pub(super) index: usize,
    pub(super) outcome: Result<(Found, Option<Failure>), Failure>,
}

impl Probe {
    /// One for each endpoint of `server`, asked from `first` on. Those of `before` go on if connections to them are as good as
    /// ever; of the others the last outcome holds until there is a new one.
    pub(super) fn all(
        server: &Arc<Server>,
        headers: &Arc<HeaderMap>,
        polling: &Arc<Polling>,
        mut before: Vec<Self>,
        same_revision: bool,
        first: Instant,
    ) -> Vec<Self> {
        if server.endpoints.is_empty() {
            return Vec::new();
        }
        let setup = TlsSetup::new(server).map(Arc::new);
        let probe = |endpoint: &catalog::Endpoint| {
            let address = endpoint.address();
            let old = before.iter().position(|probe| probe.state.address == address);
            let old = old.map(|position| before.swap_remove(position));
            let known = match old {
                Some(mut probe) if same_revision => {
                    if std::mem::take(&mut probe.in_flight) {
                        probe.due = first;
                    }
                    return probe;
                }
                old => old.map(|probe| probe.state),
            };
            let asker = setup.clone().map(|setup| {
                let patience = GLANCE.min(polling.head_timeout);
                let glances = Glances::new(server, endpoint, Arc::clone(&setup), headers, patience);
                let client = Client::new(Arc::clone(server), endpoint.clone(), setup);
                Asker::new(Arc::new(client), glances, Arc::clone(headers), Arc::clone(polling), server)
            });
            let state = known.unwrap_or_else(|| EndpointState {
                address,
                outcome: None,
                last_probe: Moment::default(),
            });
            Self { asker, state, due: first, asked: None, in_flight: false, failures: 0 }
        };
        server.endpoints.iter().map(probe).collect()
    }

    pub(super) fn is_well(&self) -> bool {
        matches!(self.state.outcome, Some(Ok(())))
    }

    pub(super) fn succeeded(&mut self, pace: &Pace, leads: bool) {
        self.in_flight = false;
        self.failures = 0;
        self.state.outcome = Some(Ok(()));
        self.due = pace.after_success(Instant::now(), leads);
    }

    pub(super) fn failed(&mut self, failure: Failure, pace: &Pace) {
        self.in_flight = false;
        self.failures = self.failures.saturating_add(1);
        self.state.outcome = Some(Err(failure));
        self.due = Instant::now() + pace.after_failures(self.failures);
    }

    /// End of the certificate that it showed.
    pub(super) fn certificate_end(&self) -> Option<i64> {
        let asker = self.asker.as_ref().ok()?;
        asker.certificate_end().map(clock::seconds)
    }
}
