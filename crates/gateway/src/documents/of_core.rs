//! A document of the core's that clients get from here: asked for behind their backs, and kept for a while.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use arc_swap::ArcSwapOption;
use bytes::Bytes;

use crate::authn::CoreClient;

/// How old the core's answer may be before it is asked for again.
const FRESH: Duration = Duration::from_secs(10);
/// How long the very first client waits for the core; later ones never do.
const PATIENCE: Duration = Duration::from_millis(500);

/// The core's answer at one path, JSON.
pub(super) struct OfCore(Arc<State>);

struct State {
    core: Arc<dyn CoreClient>,
    path: &'static str,
    last: ArcSwapOption<Known>,
    asking: AtomicBool,
}

struct Known {
    body: Bytes,
    at: Instant,
}

impl OfCore {
    pub(super) fn new(core: Arc<dyn CoreClient>, path: &'static str) -> Self {
        let state = State { core, path, last: ArcSwapOption::empty(), asking: AtomicBool::new(false) };
        Self(Arc::new(state))
    }

    /// The last answer; none when there never was one.
    pub(super) async fn get(&self) -> Option<Bytes> {
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
            let path = state.path;
            match state.core.get(path).await {
                Ok(body) if serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_ok() => {
                    state.last.store(Some(Arc::new(Known { body, at: Instant::now() })));
                }
                Ok(_) => tracing::warn!("The core's answer to {path} is not JSON."),
                Err(failure) => tracing::debug!(%failure, path, "Cannot ask the core for a document."),
            }
            state.asking.store(false, Ordering::Release);
        }))
    }
}
