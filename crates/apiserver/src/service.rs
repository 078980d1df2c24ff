//! A whole API server as a function from request to response, without sockets.
//!
//! The order is fixed: limits, identity, authorization, then the resource or the path; admission is asked
//! by the engine, between defaults and validation. [`crate::listen`] puts TLS before it.

mod act;
mod audit;
mod body;
mod compress;
mod health;
mod metrics;
mod patch;
mod paths;
mod read;
mod resources;
mod respond;
mod scale;
mod settings;
mod watching;
mod write;

use std::{net::SocketAddr, sync::Arc, time::Instant};

use arc_swap::ArcSwap;
use http::{HeaderValue, Method, Request, Response, request::Parts};
use kube_wire::{RequestInfo, Status, UserInfo, query};
use tokio::sync::watch;

use crate::{
    authn::Authenticator,
    delegate::{AccessReviews, Core, CoreNamespaces, TokenReviews},
    engine::{Call, Engine, Hooks, Subresource},
    hooks::Decision,
    resource::{Definition, InvalidDefinition},
    storage::Store,
};

pub use audit::{AuditEvent, AuditSink};
pub use body::{Body, BodyError, Incoming, boxed};
pub use health::Check;
pub(crate) use settings::duration;
pub use settings::{Limits, VersionInfo};

use body::Tracked;
use metrics::Metrics;
use resources::Resources;
use respond::Outcome;

/// Where a request comes from; the listener puts it into the extensions of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub SocketAddr);

/// An API server without sockets.
pub struct Service {
    engine: Engine,
    resources: ArcSwap<Resources>,
    parts: Builder,
    metrics: Arc<Metrics>,
    stopping: watch::Sender<bool>,
}

/// What a [`Service`] is made of.
pub struct Builder {
    definitions: Vec<Arc<Definition>>,
    hooks: Hooks,
    authenticators: Vec<Arc<dyn Authenticator>>,
    anonymous: bool,
    limits: Limits,
    checks: Vec<Check>,
    audit: Option<Arc<dyn AuditSink>>,
    version: VersionInfo,
    title: String,
}

impl Builder {
    /// One more resource.
    #[must_use]
    pub fn resource(mut self, definition: Definition) -> Self {
        self.definitions.push(Arc::new(definition));
        self
    }

    /// Who is asked: authorizer, admission, namespaces. Without it nobody may do anything.
    #[must_use]
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// One more way to tell who makes a request, after those before. Without any, nobody has an identity.
    #[must_use]
    pub fn authenticator(mut self, authenticator: impl Authenticator + 'static) -> Self {
        self.authenticators.push(Arc::new(authenticator));
        self
    }

    /// Asks this core: after the authenticators before it, whose a bearer token is; who may do what; and
    /// whether a namespace takes new objects. Admission stays as it is.
    #[must_use]
    pub fn beside(mut self, core: &Arc<dyn Core>) -> Self {
        self.hooks.authorizer = Arc::new(AccessReviews::new(Arc::clone(core)));
        self.hooks.namespaces = Arc::new(CoreNamespaces::new(Arc::clone(core)));
        self.authenticator(TokenReviews::new(Arc::clone(core)))
    }

    /// Whether requests without an identity are let through to the authorizer as `system:anonymous`, as
    /// upstream does by default; else they end with 401.
    #[must_use]
    pub fn anonymous(mut self, allowed: bool) -> Self {
        self.anonymous = allowed;
        self
    }

    /// What clients may cost.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// One more thing that must be in order for `/readyz`.
    #[must_use]
    pub fn check(mut self, check: Check) -> Self {
        self.checks.push(check);
        self
    }

    /// Who gets a record of each request.
    #[must_use]
    pub fn audit(mut self, sink: impl AuditSink + 'static) -> Self {
        self.audit = Some(Arc::new(sink));
        self
    }

    /// What `/version` says.
    #[must_use]
    pub fn version(mut self, version: VersionInfo) -> Self {
        self.version = version;
        self
    }

    /// The title of the OpenAPI documents.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        title.clone_into(&mut self.title);
        self
    }

    /// The service, with its objects in this store.
    ///
    /// # Errors
    /// When a definition cannot be served, or two claim the same name.
    pub fn build(mut self, store: Arc<dyn Store>) -> Result<Service, InvalidDefinition> {
        let engine = Engine::new(store, self.hooks.clone());
        let definitions = std::mem::take(&mut self.definitions);
        let resources = ArcSwap::from_pointee(Resources::new(definitions)?);
        let metrics = Arc::new(Metrics::new(&self.limits));
        Ok(Service { engine, resources, parts: self, metrics, stopping: watch::Sender::new(false) })
    }
}

/// A resource request, understood.
struct Asked<'r> {
    head: &'r Parts,
    query: &'r str,
    info: &'r RequestInfo<'r>,
    user: &'r UserInfo,
    served: &'r Arc<crate::answer::Served>,
    subresource: Subresource,
}

impl<'r> Asked<'r> {
    fn definition(&self) -> &'r Arc<Definition> {
        self.served.definition()
    }

    fn call<'c>(&'c self, manager: &'c str) -> Call<'c> {
        Call {
            definition: self.definition(),
            version: self.served.version(),
            subresource: self.subresource,
            namespace: &self.info.namespace,
            name: &self.info.name,
            user: self.user,
            manager,
            tracked: false,
            any_version: false,
        }
    }
}

impl Service {
    /// Begins to describe one.
    pub fn builder() -> Builder {
        Builder {
            definitions: Vec::new(),
            hooks: Hooks::default(),
            authenticators: Vec::new(),
            anonymous: true,
            limits: Limits::default(),
            checks: Vec::new(),
            audit: None,
            version: VersionInfo::default(),
            title: "API".to_owned(),
        }
    }

    /// The verbs, for what runs beside the requests: controllers, first objects.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Replaces the resources; requests under way end with those they began with.
    ///
    /// # Errors
    /// When a definition cannot be served, or two claim the same name.
    pub fn set_resources(&self, definitions: Vec<Arc<Definition>>) -> Result<(), InvalidDefinition> {
        self.resources.store(Arc::new(Resources::new(definitions)?));
        Ok(())
    }

    /// The resources at present.
    pub fn definitions(&self) -> Vec<Arc<Definition>> {
        self.resources.load().definitions().to_vec()
    }

    /// `/readyz` fails from now on, and watches come to their end.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Answers one request; dropping the future cancels it.
    pub async fn handle(&self, request: Request<Incoming>) -> Response<Body> {
        let begun = Instant::now();
        let (head, body) = request.into_parts();
        let audit_id = respond::audit_id(&head.headers);
        let path_and_query = (head.uri.path(), head.uri.query().unwrap_or_default());
        let info = RequestInfo::parse(head.method.as_str(), path_and_query.0, path_and_query.1);
        let mut user = None;
        let mut warnings = Vec::new();
        let outcome = match &info {
            Ok(info) => self.within_limits(&head, info, body, &mut user, &mut warnings).await,
            Err(error) => Err(Status::bad_request(error.to_string())),
        };
        let response = respond::finish(outcome, &head.headers, path_and_query.1, &warnings);
        let mut response = compress::compressed(response, &head.headers).await;
        if let Ok(id) = HeaderValue::from_str(&audit_id) {
            response.headers_mut().insert("audit-id", id);
        }
        let info = info.unwrap_or_default();
        let served = self.metrics.finished(&info, response.status(), begun);
        let record = self.parts.audit.as_ref().map(|sink| {
            let event = AuditEvent::new(audit_id, &head, &info, user, response.status(), begun);
            (Arc::clone(sink), event)
        });
        response.map(|body| boxed(Tracked::new(body, served, record)))
    }

    /// Requests that do not run for long have a place and a time.
    async fn within_limits(
        &self,
        head: &Parts,
        info: &RequestInfo<'_>,
        body: Incoming,
        user: &mut Option<UserInfo>,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        if info.is_long_running() {
            return self.identified(head, info, body, user, warnings).await;
        }
        let limits = &self.parts.limits;
        let query = head.uri.query().unwrap_or_default();
        let time = match query::first(query, "timeout") {
            Some(text) if !text.is_empty() => settings::duration(&text)
                .map_err(|why| Status::invalid_timeout(&why))?
                .min(limits.request_timeout),
            _ => limits.request_timeout,
        };
        let _place = self.metrics.enter(info).ok_or_else(Status::too_many_in_flight)?;
        let answer = self.identified(head, info, body, user, warnings);
        tokio::time::timeout(time, answer).await.unwrap_or_else(|_| Err(Status::timeout()))
    }

    async fn identified(
        &self,
        head: &Parts,
        info: &RequestInfo<'_>,
        body: Incoming,
        user: &mut Option<UserInfo>,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        let who = &*user.insert(self.authenticate(head).await?);
        self.authorize(who, info).await?;
        if !info.is_resource {
            return self.path(head, info).await;
        }
        let resources = self.resources.load_full();
        if !resources.serves(&info.group, &info.version) {
            return Ok(respond::no_such_path());
        }
        let served = resources.find(info)?;
        let subresource = match &*info.subresource {
            "" => Subresource::None,
            "status" if served.definition().status => Subresource::Status,
            "scale" if served.definition().scale.is_some() => Subresource::Scale,
            other if served.definition().action(other).is_some() => Subresource::None,
            _ => return Err(respond::no_such_resource()),
        };
        let query = head.uri.query().unwrap_or_default();
        let asked = Asked { head, query, info, user: who, served, subresource };
        self.resource(&asked, body, warnings).await
    }

    async fn authenticate(&self, head: &Parts) -> Result<UserInfo, Status> {
        for authenticator in &self.parts.authenticators {
            if let Some(user) = authenticator.authenticate(head).await? {
                return Ok(user);
            }
        }
        if self.parts.anonymous { Ok(UserInfo::anonymous()) } else { Err(Status::unauthorized()) }
    }

    async fn authorize(&self, user: &UserInfo, info: &RequestInfo<'_>) -> Result<(), Status> {
        // Whoever asks a server for its health has no identity yet, as upstream's default has it.
        if !info.is_resource && health::is_path(&info.path) {
            return Ok(());
        }
        match self.engine.hooks().authorizer.authorize(user, info).await {
            Ok(Decision::Allow) => Ok(()),
            Ok(Decision::Deny(reason)) => Err(Status::forbidden(&user.name, info, &reason)),
            Err(problem) => {
                tracing::warn!(problem, "authorization failed");
                Err(Status::internal("the request could not be authorized"))
            }
        }
    }

    async fn resource(&self, asked: &Asked<'_>, body: Incoming, warnings: &mut Vec<String>) -> Outcome {
        let info = asked.info;
        if asked.head.method == Method::HEAD {
            return Err(respond::method_not_allowed());
        }
        if !placed_right(asked) {
            // All namespaces together are a collection, though one that can only be read.
            return Err(match &*info.verb {
                "create" | "deletecollection" => respond::method_not_allowed(),
                _ => respond::no_such_resource(),
            });
        }
        if let Some(action) = asked.definition().action(&info.subresource) {
            return self.act(asked, action, body, warnings).await;
        }
        if !asked.definition().allows(&info.verb) {
            return Err(respond::method_not_allowed());
        }
        match (asked.subresource, &*info.verb) {
            (Subresource::Scale, "get") => self.get_scale(asked).await,
            (Subresource::Scale, "update") => self.update_scale(asked, body, warnings).await,
            (_, "get") => self.get(asked).await,
            (_, "update") => self.update(asked, body, warnings).await,
            (_, "patch") => self.patch(asked, body, warnings).await,
            (Subresource::None, "list") => self.list(asked).await,
            (Subresource::None, "watch") => self.watch(asked).await,
            (Subresource::None, "create") if named_in_path(asked) => Err(respond::method_not_allowed()),
            (Subresource::None, "create") => match asked.definition().answers.as_deref() {
                Some(answers) => self.answer(asked, answers, body, warnings).await,
                None => self.create(asked, body, warnings).await,
            },
            (Subresource::None, "delete") => self.delete(asked, body).await,
            (Subresource::None, "deletecollection") => self.delete_collection(asked, body).await,
            _ => Err(respond::method_not_allowed()),
        }
    }
}

/// Whether the path has a namespace exactly where the resource has one. All namespaces at once can be read
/// and watched only.
fn placed_right(asked: &Asked<'_>) -> bool {
    match (asked.definition().namespaced(), &*asked.info.namespace) {
        (true, "") => matches!(&*asked.info.verb, "list" | "watch"),
        (false, "") => true,
        // `namespaces/N` is a namespace with this name and not something in it.
        (false, namespace) => asked.info.resource == "namespaces" && asked.info.name == namespace,
        (true, _) => true,
    }
}

fn named_in_path(asked: &Asked<'_>) -> bool {
    !asked.info.name.is_empty()
}
