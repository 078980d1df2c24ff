//! The verbs, on objects as they are stored.
//!
//! What comes in has been read and is in the stored version; what goes out is still bytes wherever nobody
//! asked for more. How answers look is the business of [`crate::answer`].

mod collection;
mod create;
mod delete;
mod events;
mod generate_name;
mod lifecycle;
mod list;
mod select;
mod update;
mod watch;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use kube_wire::{Status, UserInfo, object::time};

use crate::{
    hooks::{Admission, AnyNamespace, Attributes, Authorizer, DenyAll, Namespaces, Operation},
    resource::{Definition, Fields, Version},
    storage::{self, Item, Key, Prefix, Revision, Store},
};

pub use delete::Deleted;
pub use events::{SharedEvent, Verb};
pub use list::{Listed, Token};
pub use select::Selection;
pub use update::{Change, Updated};
pub use watch::{Starting, Watcher};

use events::Events;

/// What is asked of others.
#[derive(Clone)]
pub struct Hooks {
    /// Who may do what.
    pub authorizer: Arc<dyn Authorizer>,
    /// What is changed or refused before a write, in this order.
    pub admission: Vec<Arc<dyn Admission>>,
    /// Whether namespaces take new objects.
    pub namespaces: Arc<dyn Namespaces>,
}

impl Default for Hooks {
    /// Nobody may do anything, nothing is admitted specially, and every namespace is taken to exist.
    fn default() -> Self {
        Self::authorized_by(DenyAll)
    }
}

impl Hooks {
    /// As by default, but this authorizer says who may do what.
    pub fn authorized_by(authorizer: impl Authorizer + 'static) -> Self {
        let (authorizer, namespaces) = (Arc::new(authorizer), Arc::new(AnyNamespace));
        Self { authorizer, admission: Vec::new(), namespaces }
    }
}

/// Part of an object that has rules of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subresource {
    /// All of it but the status.
    #[default]
    None,
    /// Its status.
    Status,
    /// How many there are to be.
    Scale,
}

/// What a request is about.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The resource.
    pub definition: &'a Definition,
    /// The version of the request.
    pub version: &'a Version,
    /// The part of the object.
    pub subresource: Subresource,
    /// The namespace, empty for cluster-scoped objects and for all namespaces.
    pub namespace: &'a str,
    /// The name, empty for a collection.
    pub name: &'a str,
    /// Who asks.
    pub user: &'a UserInfo,
    /// The field manager.
    pub manager: &'a str,
    /// Whether the managed fields of what is written are as they are to be, as after an apply.
    pub tracked: bool,
    /// Whether what is written is meant for whatever version of the object there is, as a patch is; else an
    /// update may have to say for which.
    pub any_version: bool,
}

/// The verbs on one store.
pub struct Engine {
    store: Arc<dyn Store>,
    hooks: Hooks,
    /// The latest events of each resource in the forms in which they were asked for.
    events: Mutex<HashMap<String, Arc<Events>>>,
}

impl Engine {
    /// An engine on this store.
    pub fn new(store: Arc<dyn Store>, hooks: Hooks) -> Self {
        Self { store, hooks, events: Mutex::default() }
    }

    /// What is asked of others.
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// One object, as it lies in the store.
    ///
    /// # Errors
    /// 404 when it is not there.
    pub async fn get(&self, call: &Call<'_>) -> Result<Item, Status> {
        let Some(key) = call.key() else { return Err(call.not_found()) };
        let read = self.store.get(&key).await.map_err(|error| storage_failure(&error))?;
        read.content.ok_or_else(|| call.not_found())
    }

    /// The last write.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn revision(&self) -> Result<Revision, Status> {
        self.store.revision().await.map_err(|error| storage_failure(&error))
    }

    fn events(&self, resource: &str) -> Arc<Events> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(events.entry(resource.to_owned()).or_default())
    }

    /// All that change, in their order.
    pub(crate) async fn admit(
        &self,
        write: Attributes<'_>,
        object: &mut Fields,
        old: Option<&Fields>,
    ) -> Result<(), Status> {
        for admission in &self.hooks.admission {
            admission.mutate(write, object, old).await?;
        }
        Ok(())
    }

    /// All that judge, in their order.
    pub(crate) async fn judge(
        &self,
        write: Attributes<'_>,
        object: Option<&Fields>,
        old: Option<&Fields>,
    ) -> Result<(), Status> {
        for admission in &self.hooks.admission {
            admission.judge(write, object, old).await?;
        }
        Ok(())
    }
}

impl<'a> Call<'a> {
    /// Where the object lies; none when no object can have such a name.
    fn key(&self) -> Option<Key> {
        let namespace = self.definition.namespaced().then_some(self.namespace);
        Key::new(&self.definition.qualified_name(), namespace, self.name).ok()
    }

    /// Where the objects of the collection lie; none when no namespace can have such a name.
    fn prefix(&self) -> Option<Prefix> {
        let namespace = Some(self.namespace).filter(|namespace| !namespace.is_empty());
        Prefix::new(&self.definition.qualified_name(), namespace).ok()
    }

    /// 404 for the object.
    pub fn not_found(&self) -> Status {
        Status::not_found(&self.definition.names.plural, &self.definition.group, self.name)
    }

    /// 409: it has changed meanwhile.
    fn modified(&self, name: &str) -> Status {
        Status::modified(&self.definition.names.plural, &self.definition.group, name)
    }

    fn attributes(&self, operation: Operation, name: &'a str, dry_run: bool) -> Attributes<'a> {
        Attributes {
            operation,
            definition: self.definition,
            subresource: self.subresource.as_str(),
            namespace: self.namespace,
            name,
            user: self.user,
            dry_run,
            any_version: self.any_version,
        }
    }
}

impl Subresource {
    /// As in a URL; empty for the object itself.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Status => "status",
            Self::Scale => "scale",
        }
    }
}

/// Now, RFC 3339 with whole seconds.
pub fn now() -> String {
    time::format(unix_now())
}

/// Seconds since the epoch.
pub(crate) fn unix_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// What a client hears when the store fails.
pub(crate) fn storage_failure(error: &storage::Error) -> Status {
    match error {
        storage::Error::TooLarge { limit, .. } => Status::request_too_large(&format!("limit is {limit}")),
        storage::Error::Closed => Status::shutting_down(),
        other => {
            tracing::error!(error = %other, "the store failed");
            Status::internal("the store could not do this")
        }
    }
}

/// What a client hears when an object in the store cannot be read.
pub(crate) fn unreadable(key: &str, error: &serde_json::Error) -> Status {
    tracing::error!(key, %error, "an object in the store cannot be read");
    Status::internal("an object in the store cannot be read")
}
