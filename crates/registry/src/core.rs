//! The core: one more backend, with objects that tell of others. It is never waited for: what it last
//! said is on disk.

mod cache;
mod exec;
mod follow;
mod kubeconfig;
mod secrets;
mod services;
mod statuses;
mod view;

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::{Arc, PoisonError},
    time::Duration,
};

use catalog::{Origin, ServerName};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams},
};
use serde_json::Value;
use tokio::{
    sync::{mpsc, watch},
    task::AbortHandle,
};

pub(crate) use view::{CoreView, adopted_versions, core_discovery};

use crate::{
    api::crd_manifest,
    api_service::AUTOMANAGED_LABEL,
    config::{Config, CoreConfig},
    disk::Writer,
    hub::{Kicks, Statuses},
    object::{Declared, DeclaredSpec, ObjectKey, Resource, Source, check, declare, text},
    registration::{SecretReference, ServiceReference},
    store::Store,
};
use cache::Cache;
use exec::Plugins;
use follow::{Objects, follow};
use kubeconfig::Access;

/// How often kubeconfig and the files that it names are looked at.
const RELOAD: Duration = Duration::from_secs(5);
/// Pause before something of the core is tried again.
const AGAIN: Duration = Duration::from_secs(3);

/// What the core's task was told of something.
enum News {
    Objects(Watched, Arc<Objects>),
    Service(ServiceReference, crate::resolve::ServiceState),
    Secret(SecretReference, Result<catalog::Credentials, String>),
}

/// The kinds that are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watched {
    ApiServers,
    ApiServices,
    CustomResourceDefinitions,
}

/// What a core's task needs beside its configuration.
pub(crate) struct Surroundings {
    pub(crate) state: PathBuf,
    pub(crate) writer: Writer,
    pub(crate) kicks: Kicks,
    /// Registrations of the watched directory may name Services and Secrets as well.
    pub(crate) store: Arc<Store>,
    pub(crate) statuses: watch::Receiver<Arc<Statuses>>,
    pub(crate) stop: watch::Receiver<bool>,
}

/// Starts to follow the core of `config`; without one there is nothing to see.
///
/// # Errors
/// A sentence, when the kubeconfig cannot be used.
pub(crate) fn start(
    config: &Config,
    surroundings: Surroundings,
) -> Result<watch::Receiver<Arc<CoreView>>, String> {
    let Some(core) = config.core.clone() else {
        return Ok(watch::channel(Arc::new(CoreView::default())).1);
    };
    let plugins = Arc::new(Plugins::default());
    let access = Access::read(&core, &plugins)?;
    let cache = Cache::load(surroundings.state.join("core.json"), surroundings.writer.clone());
    let mut follower = Follower {
        config: core,
        view: CoreView { server: Some(access.server.clone()), ..CoreView::default() },
        api_servers: cache.objects(Watched::ApiServers),
        api_services: cache.objects(Watched::ApiServices),
        definitions: None,
        invalid: HashMap::new(),
        cache,
        access,
        plugins,
        kicks: surroundings.kicks,
        store: surroundings.store,
        services: BTreeMap::new(),
        secrets: BTreeMap::new(),
    };
    follower.view.services = follower.cache.services();
    follower.assemble();
    let (sender, view) = watch::channel(Arc::new(follower.view.clone()));
    tokio::spawn(follower.run(sender, surroundings.statuses, surroundings.stop));
    Ok(view)
}

/// Returns when the kubeconfig, a file that it names or what its plugin gives is no longer `known`.
async fn changed(config: CoreConfig, plugins: Arc<Plugins>, known: Access) -> Access {
    loop {
        tokio::time::sleep(RELOAD).await;
        let (config, plugins) = (config.clone(), plugins.clone());
        // A thread of its own: a plugin may take its time.
        match tokio::task::spawn_blocking(move || Access::read(&config, &plugins)).await {
            Ok(Ok(access)) if access != known => return access,
            Ok(Ok(_)) => {}
            Ok(Err(why)) => {
                tracing::warn!(why, "cannot read the kubeconfig again; the old one stays in force");
            }
            Err(error) => tracing::warn!(%error, "cannot read the kubeconfig again"),
        }
    }
}

struct Follower {
    config: CoreConfig,
    access: Access,
    plugins: Arc<Plugins>,
    view: CoreView,
    api_servers: Arc<Objects>,
    api_services: Arc<Objects>,
    definitions: Option<Arc<Objects>>,
    /// Statuses of objects that break the rules.
    invalid: Statuses,
    cache: Cache,
    kicks: Kicks,
    store: Arc<Store>,
    services: BTreeMap<ServiceReference, AbortHandle>,
    secrets: BTreeMap<SecretReference, AbortHandle>,
}

impl Follower {
    async fn run(
        mut self,
        views: watch::Sender<Arc<CoreView>>,
        statuses: watch::Receiver<Arc<Statuses>>,
        mut stop: watch::Receiver<bool>,
    ) {
        loop {
            let ended = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                ended = self.session(&views, &statuses) => ended,
            };
            if let Err(why) = ended {
                tracing::warn!(why, "cannot follow the core; trying again");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }

    /// Follows the core with one set of credentials, until these change.
    async fn session(
        &mut self,
        views: &watch::Sender<Arc<CoreView>>,
        statuses: &watch::Receiver<Arc<Statuses>>,
    ) -> Result<(), String> {
        let client = self.access.client().await?;
        let (news, mut inbox) = mpsc::unbounded_channel();
        let mut tasks = tokio::task::JoinSet::new();
        for (watched, resource, names_only) in watched_kinds() {
            let api = Api::<DynamicObject>::all_with(client.clone(), &resource);
            let news = news.clone();
            let told = move |objects| news.send(News::Objects(watched, objects)).is_ok();
            tasks.spawn(follow(api, resource, names_only, told));
        }
        if self.config.install_crds {
            tasks.spawn(install(client.clone()));
        }
        let (invalid, invalid_statuses) = watch::channel(Arc::new(HashMap::new()));
        tasks.spawn(statuses::write_back(client.clone(), statuses.clone(), invalid_statuses));
        // Those of the session before had its client.
        self.stop_references();
        self.follow_references(&client, &news);
        let changed = changed(self.config.clone(), self.plugins.clone(), self.access.clone());
        tokio::pin!(changed);
        let mut stored = self.store.subscribe_registrations();
        loop {
            tokio::select! {
                Ok(()) = stored.changed() => self.follow_references(&client, &news),
                Some(told) = inbox.recv() => {
                    self.take(told);
                    while let Ok(told) = inbox.try_recv() {
                        self.take(told);
                    }
                    self.assemble();
                    self.follow_references(&client, &news);
                    invalid.send_replace(Arc::new(self.invalid.clone()));
                    views.send_replace(Arc::new(self.view.clone()));
                }
                access = &mut changed => {
                    tracing::info!("the credentials for the core, or its kubeconfig, have changed");
                    self.view.server = Some(access.server.clone());
                    self.access = access;
                    views.send_replace(Arc::new(self.view.clone()));
                    return Ok(());
                }
            }
        }
    }

    fn take(&mut self, told: News) {
        match told {
            News::Objects(Watched::ApiServers, objects) => self.api_servers = objects,
            News::Objects(Watched::ApiServices, objects) => {
                let known = !Arc::ptr_eq(&self.api_services, &objects);
                self.api_services = objects;
                self.kick(known);
            }
            News::Objects(Watched::CustomResourceDefinitions, objects) => {
                // The first list says nothing new.
                let known = self.definitions.replace(objects).is_some();
                self.kick(known);
                return;
            }
            News::Service(reference, state) => {
                self.cache.note_service(&reference, &state);
                self.view.services.insert(reference, state);
            }
            News::Secret(reference, found) => {
                self.view.secrets.insert(reference, found);
            }
        }
        self.cache.save(&self.api_servers, &self.api_services);
    }

    /// Lets the core be asked for its groups at once.
    fn kick(&self, needed: bool) {
        let kicks = self.kicks.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(kick) = kicks.get(&ServerName::new(ServerName::CORE)).filter(|_| needed) {
            kick.notify_one();
        }
    }

    /// Reads all objects anew.
    fn assemble(&mut self) {
        let mut declared: Vec<Arc<Declared>> = Vec::new();
        let known: HashMap<ObjectKey, Arc<Declared>> =
            self.view.declared.drain(..).map(|object| (object.key.clone(), object)).collect();
        // What is the same stays the same allocation: the hub looks at nothing else then.
        let kept = |object: Declared| match known.get(&object.key) {
            Some(known) if **known == object => Arc::clone(known),
            _ => Arc::new(object),
        };
        self.invalid.clear();
        for value in self.api_servers.values() {
            match declare(Resource::ApiServer, value, Source::Core) {
                Ok(object) => declared.push(kept(object)),
                Err(problems) => {
                    let name = text(value, "/metadata/name").unwrap_or_default().to_owned();
                    let key = ObjectKey { resource: Resource::ApiServer, name };
                    self.invalid.insert(key, statuses::invalid(value, &problems).to_string().into());
                }
            }
        }
        self.view.origins.clear();
        for value in self.api_services.values() {
            // The core has checked it by its own rules.
            let Ok(DeclaredSpec::ApiService(spec)) = check(Resource::ApiService, value) else { continue };
            self.view
                .origins
                .insert((spec.group.clone(), spec.version.clone()), origin(value, spec.service.is_some()));
            if self.config.adopt_api_services
                && spec.service.is_some()
                && let Ok(object) = declare(Resource::ApiService, value, Source::Core)
            {
                declared.push(kept(object));
            }
        }
        self.view.declared = declared;
    }

    /// Follows exactly the Services and Secrets that registrations name.
    fn follow_references(&mut self, client: &Client, news: &mpsc::UnboundedSender<News>) {
        let (mut services, mut secrets) = (Vec::new(), Vec::new());
        let files = self.store.declared();
        let files = files.iter().filter(|object| matches!(object.source, Source::File { .. }));
        for declared in self.view.declared.iter().chain(files) {
            match &declared.spec {
                DeclaredSpec::ApiServer(spec) => {
                    services.extend(spec.service().cloned());
                    secrets.extend(spec.credentials.secret.clone());
                }
                DeclaredSpec::ApiService(spec) => services.extend(spec.service.clone()),
            }
        }
        self.view.services.retain(|known, _| services.contains(known));
        self.view.secrets.retain(|known, _| secrets.contains(known));
        drop_others(&mut self.services, &services);
        drop_others(&mut self.secrets, &secrets);
        for service in services {
            self.services.entry(service.clone()).or_insert_with(|| {
                let (client, news, named) = (client.clone(), news.clone(), service.clone());
                let told = move |state| news.send(News::Service(named.clone(), state)).is_ok();
                tokio::spawn(services::follow_service(client, service.clone(), told)).abort_handle()
            });
        }
        for secret in secrets {
            self.secrets.entry(secret.clone()).or_insert_with(|| {
                let (client, news, named) = (client.clone(), news.clone(), secret.clone());
                let told = move |found| news.send(News::Secret(named.clone(), found)).is_ok();
                tokio::spawn(secrets::follow_secret(client, secret.clone(), told)).abort_handle()
            });
        }
    }

    fn stop_references(&mut self) {
        drop_others(&mut self.services, &[]);
        drop_others(&mut self.secrets, &[]);
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.stop_references();
    }
}

fn drop_others<K: Ord>(tasks: &mut BTreeMap<K, AbortHandle>, wanted: &[K]) {
    tasks.retain(|key, task| {
        let stays = wanted.contains(key);
        if !stays {
            task.abort();
        }
        stays
    });
}

/// Where a group version comes from, as kube-apiserver marks the APIServices that it makes itself.
fn origin(api_service: &Value, by_service: bool) -> Origin {
    let automanaged =
        api_service.pointer("/metadata/labels").and_then(|labels| labels.get(AUTOMANAGED_LABEL));
    match automanaged.and_then(Value::as_str) {
        _ if by_service => Origin::Server,
        Some("true") => Origin::CustomResource,
        _ => Origin::BuiltIn,
    }
}

fn watched_kinds() -> [(Watched, ApiResource, bool); 3] {
    let ours = |resource: Resource| {
        let kind = GroupVersionKind::gvk(resource.group(), resource.version(), resource.kind());
        ApiResource::from_gvk_with_plural(&kind, resource.plural())
    };
    let definitions = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    [
        (Watched::ApiServers, ours(Resource::ApiServer), false),
        (Watched::ApiServices, ours(Resource::ApiService), false),
        (
            Watched::CustomResourceDefinitions,
            ApiResource::from_gvk_with_plural(&definitions, "customresourcedefinitions"),
            true,
        ),
    ]
}

/// Installs the CustomResourceDefinition, as often as it takes.
async fn install(client: Client) {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let resource = ApiResource::from_gvk_with_plural(&kind, "customresourcedefinitions");
    let api = Api::<DynamicObject>::all_with(client, &resource);
    let manifest = crd_manifest();
    let name = text(&manifest, "/metadata/name").unwrap_or_default().to_owned();
    loop {
        let parameters = PatchParams::apply("trellis").force();
        match api.patch(&name, &parameters, &Patch::Apply(&manifest)).await {
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(%error, name, "cannot install the CustomResourceDefinition; trying again");
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}
