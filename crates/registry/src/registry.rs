//! Starting and stopping.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use catalog::{Catalog, Documents, HealthReport, Observation, Observer, Ownership, ServerName};
use tokio::sync::{mpsc, watch};

use crate::{
    config::Config,
    core,
    disk::{self, Writer},
    documents::DocumentStore,
    files::{FileProblem, FileSource},
    hub::{Effort, Efforts, Hub, Kicks, Means, Outputs},
    last_good::LastGoodStore,
    openapi::Keeper,
    store::{Store, StoreProblem},
    task::{Pace, Shared},
};

/// Why the registry cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The state folder cannot be used.
    #[error("cannot use the state folder {}: {source}; correct its permissions or choose another one with --state", path.display())]
    State {
        /// The folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The directory of registrations cannot be read.
    #[error("cannot read the registrations in {}: {source}; make the directory or correct --registrations", path.display())]
    Registrations {
        /// The directory.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The core's kubeconfig cannot be used.
    #[error("{0}")]
    Core(String),
}

/// The running registry.
#[derive(Debug)]
pub struct Registry {
    catalog: watch::Receiver<Arc<Catalog>>,
    health: watch::Receiver<Arc<HealthReport>>,
    documents: Arc<DocumentStore>,
    store: Arc<Store>,
    kicks: Kicks,
    files: Option<FileSource>,
    writer: Writer,
    stop: watch::Sender<bool>,
    efforts: Arc<Efforts>,
    hub: Mutex<Option<tokio::task::JoinHandle<()>>>,
}

impl Registry {
    /// Restores the last good state of every server and starts to ask them. The catalog is complete when
    /// this returns; no server was waited for. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When the state folder, the directory of registrations or the kubeconfig cannot be used.
    pub fn start(config: Config) -> Result<Self, StartError> {
        let state = config.state.clone();
        let unusable = |source| StartError::State { path: state.clone(), source };
        disk::make_folder(&state).map_err(unusable)?;
        let writer = Writer::start().map_err(unusable)?;
        let documents = Arc::new(DocumentStore::open(&state.join("documents")).map_err(unusable)?);
        let store = Arc::new(Store::open(&state.join("registrations")).map_err(unusable)?);
        for problem in store.problems() {
            tracing::error!("{problem}");
        }
        let unseen = store.declared().len();
        if config.core.is_some() && unseen > 0 {
            tracing::warn!(
                count = unseen,
                "registrations from a time without a core lie in the state folder and are not used; apply them to the core"
            );
        }
        let keeper = Keeper { documents: Arc::clone(&documents), writer: writer.clone() };
        let last_good = LastGoodStore::open(&state.join("servers"), writer.clone(), Arc::clone(&documents))
            .map_err(unusable)?;
        let (stop, stopped) = watch::channel(false);
        let files = start_files(&config, &store, &writer, &stopped)?;

        let (reports, inbox) = mpsc::unbounded_channel();
        let polling = Arc::new(config.polling.clone());
        let shared =
            Arc::new(Shared { pace: Pace::new(&polling), polling, keeper, last_good, reports, config });
        let outputs = Outputs::empty();
        let (catalog, health) = (outputs.catalog.subscribe(), outputs.health.subscribe());
        let ownership_file = state.join("ownership.json");
        let kicks: Kicks = Arc::new(RwLock::new(HashMap::new()));
        let core = core::start(
            &shared.config,
            core::Surroundings {
                state: state.clone(),
                writer: writer.clone(),
                kicks: Arc::clone(&kicks),
                store: Arc::clone(&store),
                statuses: outputs.core_statuses.subscribe(),
                stop: stopped.clone(),
            },
        )
        .map_err(StartError::Core)?;
        let in_process = if shared.config.core.is_none() {
            vec![crate::api::contribution(&store, &documents)]
        } else {
            Vec::new()
        };
        let ownership = load_ownership(&ownership_file);
        let efforts = Arc::new(Efforts::default());
        let means = Means {
            ownership_file,
            shared,
            store: Arc::clone(&store),
            writer: writer.clone(),
            outputs,
            kicks: Arc::clone(&kicks),
            in_process,
            core,
            efforts: Arc::clone(&efforts),
        };
        let hub = Hub::restore(means, ownership);
        let hub = Mutex::new(Some(tokio::spawn(hub.run(inbox, stopped))));
        Ok(Self { catalog, health, documents, store, kicks, files, writer, stop, efforts, hub })
    }

    /// The catalog, and every later one.
    pub fn catalog(&self) -> watch::Receiver<Arc<Catalog>> {
        self.catalog.clone()
    }

    /// How every server is, and every later state.
    pub fn health(&self) -> watch::Receiver<Arc<HealthReport>> {
        self.health.clone()
    }

    /// The OpenAPI documents that the catalog refers to.
    pub fn documents(&self) -> Arc<dyn Documents> {
        Arc::clone(&self.documents) as Arc<dyn Documents>
    }

    /// Takes what the data path sees of servers.
    pub fn observer(&self) -> Arc<dyn Observer> {
        Arc::new(Watcher { kicks: Arc::clone(&self.kicks) })
    }

    /// What was done so far to keep catalog, conditions and status up to date.
    pub fn effort(&self) -> Effort {
        self.efforts.so_far()
    }

    /// The registrations that the door keeps itself, with those of the watched directory.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// What is wrong at the moment with files of the state folder and of the watched directory.
    pub fn problems(&self) -> (Vec<StoreProblem>, Vec<FileProblem>) {
        let files = self.files.as_ref().map(|files| files.subscribe().borrow().problems.clone());
        (self.store.problems(), files.unwrap_or_default())
    }

    /// Stops asking, and returns when everything that was learned is on disk.
    pub async fn shutdown(&self) {
        self.stop.send_replace(true);
        let hub = self.hub.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(hub) = hub {
            // An error here is a panic of the hub, which has been logged where it happened.
            let _ = hub.await;
        }
        self.writer.flush().await;
    }
}

/// Wakes the task of a server of which the data path saw something new.
struct Watcher {
    kicks: Kicks,
}

impl Observer for Watcher {
    fn observe(&self, server: &ServerName, observation: Observation) {
        if let Observation::Failed { endpoint, failure } = &observation {
            tracing::debug!(%server, endpoint, %failure, "the data path reports a failure");
        }
        if let Some(kick) = self.kicks.read().unwrap_or_else(PoisonError::into_inner).get(server) {
            kick.notify_one();
        }
    }
}

fn start_files(
    config: &Config,
    store: &Arc<Store>,
    writer: &Writer,
    stopped: &watch::Receiver<bool>,
) -> Result<Option<FileSource>, StartError> {
    let Some(directory) = &config.registrations else { return Ok(None) };
    std::fs::read_dir(directory)
        .map_err(|source| StartError::Registrations { path: directory.clone(), source })?;
    let memory = config.state.join("files.json");
    let source = FileSource::start(directory, memory, writer.clone(), stopped.clone());
    let mut sets = source.subscribe();
    store.set_files(sets.borrow_and_update().objects.clone());
    let (store, mut stopped) = (Arc::clone(store), stopped.clone());
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = stopped.wait_for(|stop| *stop) => return,
                changed = sets.changed() => if changed.is_err() { return },
            }
            let objects = sets.borrow_and_update().objects.clone();
            store.set_files(objects);
        }
    });
    Ok(Some(source))
}

fn load_ownership(path: &Path) -> Ownership {
    let Ok(bytes) = std::fs::read(path) else { return Ownership::default() };
    serde_json::from_slice(&bytes).unwrap_or_else(|error| {
        tracing::error!(
            path = %path.display(), %error,
            "cannot read who owns which group; the oldest registrations get them. Delete the file if this comes back"
        );
        Ownership::default()
    })
}
