//! Which namespaces take new objects.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{Core, CoreError, KEEP_FAILURE, memo::Memo, read};
use crate::{
    hooks::{Later, NamespaceState, Namespaces},
    validation::names::is_dns_label,
};

/// How long a namespace is taken to be there that was a moment ago. Short: what is created in a namespace
/// that goes may outlive it.
const KEEP_ACTIVE: Duration = Duration::from_millis(500);

/// Asks the core for namespaces. That one is missing or goes is asked anew each time, because it may have
/// been created a moment ago.
pub struct CoreNamespaces {
    core: Arc<dyn Core>,
    known: Memo<Verdict>,
}

type Verdict = Result<NamespaceState, Arc<str>>;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Namespace {
    metadata: Metadata,
    status: Status,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    deletion_timestamp: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    phase: String,
}

impl CoreNamespaces {
    /// Asks this core.
    pub fn new(core: Arc<dyn Core>) -> Self {
        Self { core, known: Memo::new() }
    }
}

impl Namespaces for CoreNamespaces {
    fn state<'a>(&'a self, namespace: &'a str) -> Later<'a, Result<NamespaceState, String>> {
        Box::pin(async move {
            // What cannot be a name must not become part of a path.
            if !is_dns_label(namespace).is_empty() {
                return Ok(NamespaceState::Missing);
            }
            let work = ask(Arc::clone(&self.core), format!("/api/v1/namespaces/{namespace}"));
            match self.known.get_or(Sha256::digest(namespace).into(), work).await {
                Some(verdict) => verdict.map_err(|problem| problem.to_string()),
                None => Err("too many questions are on their way".to_owned()),
            }
        })
    }
}

async fn ask(core: Arc<dyn Core>, path: String) -> (Verdict, Duration) {
    match core.get(&path).await.and_then(|answer| read::<Namespace>(&answer)) {
        Ok(found) if found.metadata.deletion_timestamp.is_some() || found.status.phase == "Terminating" => {
            (Ok(NamespaceState::Terminating), Duration::ZERO)
        }
        Ok(_) => (Ok(NamespaceState::Active), KEEP_ACTIVE),
        Err(CoreError::Refused { code: 404, .. }) => (Ok(NamespaceState::Missing), Duration::ZERO),
        Err(error) => (Err(error.to_string().into()), KEEP_FAILURE),
    }
}
