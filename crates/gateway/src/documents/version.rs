//! `/version`: the core's when there is one, else the door's own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use http::{HeaderValue, Response, request::Parts};
use serde::Serialize;

use super::with_type;
use crate::{authn::CoreClient, body::Body};

/// How old the core's answer may be before it is asked for again, behind the client's back.
const FRESH: Duration = Duration::from_secs(10);
/// How long the very first client waits for the core; later ones never do.
const PATIENCE: Duration = Duration::from_millis(500);

const PATH: &str = "/version";

/// The Kubernetes minor version whose API the door speaks.
const MINOR: &str = "37";

/// Where the version comes from.
pub(super) struct Version(Arc<State>);

struct State {
    core: Arc<dyn CoreClient>,
    last: ArcSwapOption<Known>,
    asking: AtomicBool,
}

struct Known {
    body: Bytes,
    at: Instant,
}

impl Version {
    pub(super) fn new(core: Arc<dyn CoreClient>) -> Self {
        let state = State { core, last: ArcSwapOption::empty(), asking: AtomicBool::new(false) };
        Self(Arc::new(state))
    }

    /// The core's last answer when there is a core, else the door's own version.
    pub(super) async fn answer(&self, _: &Parts, has_core: bool) -> Response<Body> {
        let body = match has_core {
            true => self.of_core().await,
            false => None,
        };
        with_type(body.unwrap_or_else(own), HeaderValue::from_static("application/json"))
    }

    async fn of_core(&self) -> Option<Bytes> {
        let last = self.0.last.load_full();
        if last.as_ref().is_some_and(|known| known.at.elapsed() < FRESH) {
            return last.map(|known| known.body.clone());
        }
        let asked = self.ask();
        match (last, asked) {
            (Some(known), _) => Some(known.body.clone()),
            (None, Some(asked)) => {
                let _ = tokio::time::timeout(PATIENCE, asked).await;
                self.0.last.load().as_ref().map(|known| known.body.clone())
            }
            (None, None) => None,
        }
    }

    /// Asks the core, unless that is being done.
    fn ask(&self) -> Option<tokio::task::JoinHandle<()>> {
        if self.0.asking.swap(true, Ordering::AcqRel) {
            return None;
        }
        let state = self.0.clone();
        Some(tokio::spawn(async move {
            match state.core.get(PATH).await {
                Ok(body) if serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_ok() => {
                    state.last.store(Some(Arc::new(Known { body, at: Instant::now() })));
                }
                Ok(_) => tracing::warn!("The core's answer to {PATH} is not JSON."),
                Err(failure) => tracing::debug!(%failure, "Cannot ask the core for its version."),
            }
            state.asking.store(false, Ordering::Release);
        }))
    }
}

/// All fields that client libraries insist on.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    major: &'static str,
    minor: &'static str,
    git_version: String,
    git_commit: &'static str,
    git_tree_state: &'static str,
    build_date: &'static str,
    go_version: &'static str,
    compiler: &'static str,
    platform: String,
}

fn own() -> Bytes {
    let os = std::env::consts::OS;
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let info = Info {
        major: "1",
        minor: MINOR,
        git_version: format!("v1.{MINOR}.2+trellis-{}", env!("CARGO_PKG_VERSION")),
        git_commit: option_env!("TRELLIS_GIT_COMMIT").unwrap_or("unknown"),
        git_tree_state: "clean",
        build_date: option_env!("TRELLIS_BUILD_DATE").unwrap_or("1970-01-01T00:00:00Z"),
        // Nothing here is Go; clients only want a text.
        go_version: "none",
        compiler: "rustc",
        platform: format!("{os}/{arch}"),
    };
    serde_json::to_vec_pretty(&info).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_doors_own_version_has_every_field() {
        let info: serde_json::Value = serde_json::from_slice(&own()).unwrap();
        let fields = [
            "major",
            "minor",
            "gitVersion",
            "gitCommit",
            "gitTreeState",
            "buildDate",
            "goVersion",
            "compiler",
            "platform",
        ];
        for field in fields {
            assert!(info[field].as_str().is_some_and(|text| !text.is_empty()), "{field}");
        }
        assert!(info["gitVersion"].as_str().unwrap().starts_with("v1.37.2+trellis"));
    }
}
