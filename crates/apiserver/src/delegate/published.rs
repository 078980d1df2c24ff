//! Whose certificates count, as the core publishes it: the config map
//! `kube-system/extension-apiserver-authentication`.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use kube_wire::identity::request_header::Names;
use serde::Deserialize;
use serde_json::Value;
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{Core, CoreError, read};

const PATH: &str = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
const WATCH: &str = "/api/v1/namespaces/kube-system/configmaps?watch=true&timeoutSeconds=300&fieldSelector=metadata.name%3Dextension-apiserver-authentication&resourceVersion=";
/// Longer than the watch lasts at the core: a connection that is dead without saying so ends here.
const WATCH_LIMIT: Duration = Duration::from_secs(330);
/// After a failure, and at first; it doubles up to the last.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// What the core publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// CAs of users, PEM (`--client-ca-file` of the core).
    pub client_ca: Option<Vec<u8>>,
    /// CAs of front proxies, PEM (`--requestheader-client-ca-file`).
    pub front_proxy_ca: Option<Vec<u8>>,
    /// Common names of front proxies that may speak for users; empty: all.
    pub allowed_names: Vec<String>,
    /// The headers in which they do.
    pub names: Names,
}

/// What is published cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PublishedError {
    /// It cannot be read from the core.
    #[error("extension-apiserver-authentication: {0}")]
    Core(#[from] CoreError),
    /// A list of names is none.
    #[error("extension-apiserver-authentication: {key} is no JSON list of texts")]
    List {
        /// The key of the config map.
        key: &'static str,
    },
}

#[derive(Deserialize)]
struct ConfigMap {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    data: std::collections::BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    resource_version: String,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    object: Value,
}

impl Published {
    fn of(map: &ConfigMap) -> Result<Self, PublishedError> {
        let list = |key: &'static str| match map.data.get(key).map(|text| text.trim()) {
            None | Some("") => Ok(Vec::new()),
            Some(text) => serde_json::from_str::<Vec<String>>(text).map_err(|_| PublishedError::List { key }),
        };
        let bundle = |key: &str| {
            let text = map.data.get(key).filter(|text| !text.trim().is_empty());
            text.map(|text| text.clone().into_bytes())
        };
        Ok(Self {
            client_ca: bundle("client-ca-file"),
            front_proxy_ca: bundle("requestheader-client-ca-file"),
            allowed_names: list("requestheader-allowed-names")?,
            names: Names {
                user: list("requestheader-username-headers")?,
                group: list("requestheader-group-headers")?,
                uid: list("requestheader-uid-headers")?,
                extra_prefix: list("requestheader-extra-headers-prefix")?,
            },
        })
    }

    /// What is published now.
    ///
    /// # Errors
    /// When it cannot be read, or has another form than upstream gives it.
    pub async fn fetch(core: &dyn Core) -> Result<Self, PublishedError> {
        Self::of(&read(&core.get(PATH).await?)?)
    }

    /// Follows what is published from now on, in a task that ends with the last receiver. While the core is
    /// away, and when what it says cannot be used, the last good one stays.
    ///
    /// # Errors
    /// When it cannot be read now.
    pub(crate) async fn follow(
        core: Arc<dyn Core>,
    ) -> Result<(watch::Receiver<Self>, JoinHandle<()>), PublishedError> {
        let (tell, told) = watch::channel(Self::fetch(&*core).await?);
        let task = tokio::spawn(async move {
            let mut pause = PAUSES[0];
            while !tell.is_closed() {
                match timeout(WATCH_LIMIT, once(&*core, &tell)).await {
                    Ok(Ok(())) | Err(_) => pause = PAUSES[0],
                    Ok(Err(error)) => {
                        tracing::warn!(%error, "kept what was published last");
                        pause = (pause * 2).min(PAUSES[1]);
                    }
                }
                // Also after a watch that has ended well: one that ends at once must not become a storm.
                tokio::select! {
                    () = sleep(pause) => {}
                    () = tell.closed() => {}
                }
            }
        });
        Ok((told, task))
    }
}

/// One reading and one watch.
async fn once(core: &dyn Core, tell: &watch::Sender<Published>) -> Result<(), PublishedError> {
    let map: ConfigMap = read(&core.get(PATH).await?)?;
    put(&map, tell)?;
    let mut lines = core.watch(&format!("{WATCH}{}", map.metadata.resource_version)).await?;
    while let Some(line) = lines.next().await {
        let line: Line = read(&line?)?;
        match &*line.kind {
            "ADDED" | "MODIFIED" => {
                let map = ConfigMap::deserialize(&line.object);
                let map = map.map_err(|error| CoreError::Unreadable(error.to_string()))?;
                put(&map, tell)?;
            }
            // Gone or expired: what there is now will be read anew.
            "DELETED" | "ERROR" => return Ok(()),
            _ => {}
        }
    }
    Ok(())
}

fn put(map: &ConfigMap, tell: &watch::Sender<Published>) -> Result<(), PublishedError> {
    let found = Published::of(map)?;
    tell.send_if_modified(|known| {
        let news = *known != found;
        *known = found;
        news
    });
    Ok(())
}
