//! `/healthz`, `/livez`, `/readyz`.

use std::collections::BTreeSet;

use http::{Response, StatusCode, header};
use kube_wire::query;

use super::{Body, respond};

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

/// The three endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Healthz,
    Livez,
    Readyz,
}

impl Endpoint {
    pub(super) const ALL: [Self; 3] = [Self::Healthz, Self::Livez, Self::Readyz];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Healthz => "healthz",
            Self::Livez => "livez",
            Self::Readyz => "readyz",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|endpoint| endpoint.name() == name)
    }
}

const PING: &str = "ping";
/// The check that load balancers are told to look away by.
const SHUTDOWN: &str = "shutdown";

/// Whether a path is about health.
pub(super) fn is_path(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    Endpoint::named(first).is_some()
}

fn of(endpoint: Endpoint, checks: &[Check]) -> impl Iterator<Item = &Check> {
    checks.iter().filter(move |check| endpoint != Endpoint::Livez || check.live)
}

/// The names of the checks of an endpoint.
pub(super) fn names(endpoint: Endpoint, checks: &[Check]) -> impl Iterator<Item = &'static str> {
    let shutdown = (endpoint == Endpoint::Readyz).then_some(SHUTDOWN);
    std::iter::once(PING).chain(of(endpoint, checks).map(|check| check.name)).chain(shutdown)
}

/// The answer for an endpoint, or one of its checks.
pub(super) fn answer(
    endpoint: Endpoint,
    one: &str,
    request_query: &str,
    stopping: bool,
    checks: &[Check],
) -> Response<Body> {
    let name = endpoint.name();
    let verdict = |check: &str| match check {
        PING => Ok(()),
        SHUTDOWN if stopping => Err("process is shutting down".to_owned()),
        SHUTDOWN => Ok(()),
        other => checks.iter().find(|check| check.name == other).map_or(Ok(()), |check| (check.probe)()),
    };
    let all: Vec<_> = names(endpoint, checks).collect();
    if !one.is_empty() {
        return match all.contains(&one).then(|| verdict(one)) {
            None => respond::no_such_path(),
            Some(Ok(())) => {
                // As upstream, which has another writer for this one.
                let mut response = respond::text(StatusCode::OK, "ok");
                response.headers_mut().remove(header::X_CONTENT_TYPE_OPTIONS);
                response
            }
            Some(Err(problem)) => {
                tracing::info!(check = one, problem, "{name} check failed");
                let text = "internal server error: reason withheld\n";
                respond::text(StatusCode::INTERNAL_SERVER_ERROR, text)
            }
        };
    }
    let mut excluded: BTreeSet<String> = query::pairs(request_query)
        .filter(|(key, _)| key == "exclude")
        .map(|(_, check)| check.into_owned())
        .collect();
    let (mut lines, mut failed) = (String::new(), false);
    for check in all {
        lines.push_str(&match (excluded.remove(check), verdict(check)) {
            (true, _) => format!("[+]{check} excluded: ok\n"),
            (false, Ok(())) => format!("[+]{check} ok\n"),
            (false, Err(problem)) => {
                tracing::info!(check, problem, "{name} check failed");
                failed = true;
                format!("[-]{check} failed: reason withheld\n")
            }
        });
    }
    if !excluded.is_empty() {
        let names: Vec<_> = excluded.iter().map(|name| format!("{name:?}")).collect();
        let names = names.join(",");
        lines.push_str(&format!("warn: some health checks cannot be excluded: no matches for {names}\n"));
    }
    if failed {
        return respond::text(StatusCode::INTERNAL_SERVER_ERROR, format!("{lines}{name} check failed\n"));
    }
    match query::pairs(request_query).any(|(key, _)| key == "verbose") {
        true => respond::text(StatusCode::OK, format!("{lines}{name} check passed\n")),
        false => respond::text(StatusCode::OK, "ok"),
    }
}
