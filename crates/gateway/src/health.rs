//! `/healthz`, `/livez`, `/readyz`: whether the door itself works. How the backends are is told
//! elsewhere ([`report`]); no backend can make the door unready.

pub(crate) mod report;

use std::collections::BTreeSet;

use http::{Response, StatusCode};
use kube_wire::query;

use crate::{
    body::Body,
    respond::{not_found, text_response},
};

/// One thing that must be in order.
pub struct Check {
    name: &'static str,
    probe: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
    live: bool,
}

impl Check {
    /// A check that counts for `/healthz` and `/readyz`. `probe` must return at once; its error is for
    /// the log, clients see only that it failed.
    pub fn new(name: &'static str, probe: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self { name, probe: Box::new(probe), live: false }
    }

    /// Counts for `/livez` too: when it fails, the process is to be started anew.
    #[must_use]
    pub fn live(mut self) -> Self {
        self.live = true;
        self
    }
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Check").field("name", &self.name).field("live", &self.live).finish_non_exhaustive()
    }
}

/// The three endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Healthz,
    Livez,
    Readyz,
}

impl Endpoint {
    fn name(self) -> &'static str {
        match self {
            Self::Healthz => "healthz",
            Self::Livez => "livez",
            Self::Readyz => "readyz",
        }
    }
}

/// What is checked, in the order in which it is reported.
#[derive(Debug)]
pub(crate) struct Checks {
    checks: Vec<Check>,
}

impl Checks {
    /// The door's own checks, and `more`. `serving` says whether the door is not stopping, `ready`
    /// whether the first catalog is there.
    pub(crate) fn new(
        serving: impl Fn() -> bool + Send + Sync + 'static,
        ready: impl Fn() -> bool + Send + Sync + 'static,
        more: Vec<Check>,
    ) -> Self {
        let verdict = |good: bool, problem: &str| if good { Ok(()) } else { Err(problem.to_owned()) };
        let mut checks = vec![
            Check::new("ping", || Ok(())).live(),
            Check::new("poststarthook/apiservice-registration-controller", move || {
                verdict(ready(), "registrations are not loaded yet")
            })
            .live(),
        ];
        checks.extend(more);
        checks.push(Check::new(SHUTDOWN, move || verdict(serving(), "process is shutting down")));
        Self { checks }
    }

    fn of(&self, endpoint: Endpoint) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(move |check| match endpoint {
            Endpoint::Healthz => check.name != SHUTDOWN,
            Endpoint::Livez => check.live,
            Endpoint::Readyz => true,
        })
    }

    /// The paths of all checks.
    pub(crate) fn paths(&self) -> Vec<String> {
        let all = [Endpoint::Healthz, Endpoint::Livez, Endpoint::Readyz];
        let path = |endpoint: Endpoint, check: &Check| format!("/{}/{}", endpoint.name(), check.name);
        all.into_iter()
            .flat_map(|endpoint| {
                let checks = self.of(endpoint).map(move |check| path(endpoint, check));
                std::iter::once(format!("/{}", endpoint.name())).chain(checks)
            })
            .collect()
    }

    /// The answer for `/<endpoint>`.
    pub(crate) fn answer(&self, endpoint: Endpoint, request_query: &str) -> Response<Body> {
        let name = endpoint.name();
        let mut excluded: BTreeSet<String> = query::pairs(request_query)
            .filter(|(key, _)| key == "exclude")
            .map(|(_, check)| check.into_owned())
            .collect();
        let (mut lines, mut failed) = (String::new(), false);
        for check in self.of(endpoint) {
            lines.push_str(&match excluded.remove(check.name) {
                true => format!("[+]{} excluded: ok\n", check.name),
                false => match (check.probe)() {
                    Ok(()) => format!("[+]{} ok\n", check.name),
                    Err(problem) => {
                        tracing::info!(check = check.name, problem, "{name} check failed");
                        failed = true;
                        format!("[-]{} failed: reason withheld\n", check.name)
                    }
                },
            });
        }
        if !excluded.is_empty() {
            let names: Vec<_> = excluded.iter().map(|name| format!("{name:?}")).collect();
            let names = names.join(",");
            lines.push_str(&format!("warn: some health checks cannot be excluded: no matches for {names}\n"));
        }
        if failed {
            return text_response(StatusCode::INTERNAL_SERVER_ERROR, format!("{lines}{name} check failed\n"));
        }
        match query::pairs(request_query).any(|(key, _)| key == "verbose") {
            true => text_response(StatusCode::OK, format!("{lines}{name} check passed\n")),
            false => text_response(StatusCode::OK, "ok"),
        }
    }

    /// The answer for `/<endpoint>/<check>`.
    pub(crate) fn answer_one(&self, endpoint: Endpoint, name: &str) -> Response<Body> {
        let Some(check) = self.of(endpoint).find(|check| check.name == name) else { return not_found() };
        match (check.probe)() {
            Ok(()) => text_response(StatusCode::OK, "ok"),
            Err(problem) => {
                let text = format!("internal server error: {problem}\n");
                text_response(StatusCode::INTERNAL_SERVER_ERROR, text)
            }
        }
    }
}

/// The check that load balancers are told to look away by.
const SHUTDOWN: &str = "shutdown";

#[cfg(test)]
mod tests;
