//! What a server asks others: who may do what, what is changed or refused before a write, whether a
//! namespace takes new objects.

use std::pin::Pin;

use kube_wire::{RequestInfo, Status, UserInfo};

use crate::resource::{Definition, Fields};

/// An answer that may take a while.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What an authorizer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Allow,
    /// It may not, with the reason, which may be empty.
    Deny(String),
}

/// Says who may do what. Every request is asked about, also those that are no resource.
pub trait Authorizer: Send + Sync {
    /// Whether this user may do this.
    ///
    /// # Errors
    /// When it cannot be found out: the request is refused.
    fn authorize<'a>(
        &'a self,
        user: &'a UserInfo,
        request: &'a RequestInfo<'a>,
    ) -> Later<'a, Result<Decision, String>>;
}

/// Nobody may do anything: what a server does that names no authorizer.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyAll;

impl Authorizer for DenyAll {
    fn authorize<'a>(
        &'a self,
        _: &'a UserInfo,
        _: &'a RequestInfo<'a>,
    ) -> Later<'a, Result<Decision, String>> {
        Box::pin(async { Ok(Decision::Deny("this server has no authorizer".to_owned())) })
    }
}

/// Everybody may do everything: for tests, and behind a door that has asked already.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl Authorizer for AllowAll {
    fn authorize<'a>(
        &'a self,
        _: &'a UserInfo,
        _: &'a RequestInfo<'a>,
    ) -> Later<'a, Result<Decision, String>> {
        Box::pin(async { Ok(Decision::Allow) })
    }
}

/// Everybody who has an identity may do everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAuthenticated;

impl Authorizer for AllowAuthenticated {
    fn authorize<'a>(
        &'a self,
        user: &'a UserInfo,
        _: &'a RequestInfo<'a>,
    ) -> Later<'a, Result<Decision, String>> {
        let known = user.in_group(kube_wire::identity::AUTHENTICATED_GROUP);
        let decision = if known { Decision::Allow } else { Decision::Deny(String::new()) };
        Box::pin(async move { Ok(decision) })
    }
}

/// What is about to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A new object.
    Create,
    /// A changed object.
    Update,
    /// An object goes.
    Delete,
}

/// A write that is about to happen.
#[derive(Clone, Copy)]
pub struct Attributes<'a> {
    /// What.
    pub operation: Operation,
    /// The resource.
    pub definition: &'a Definition,
    /// The subresource, empty for the object itself.
    pub subresource: &'a str,
    /// The namespace, empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// The name; empty when it is not made yet.
    pub name: &'a str,
    /// Who.
    pub user: &'a UserInfo,
    /// Whether nothing will be kept.
    pub dry_run: bool,
    /// Whether it is meant for whatever version of the object there is, as a patch is that names none.
    pub any_version: bool,
}

/// Changes or refuses writes. Of several, all change in their order, then the object is validated, then
/// all judge in their order.
pub trait Admission: Send + Sync {
    /// Changes a new or changed object.
    ///
    /// # Errors
    /// What the client is told when it is refused.
    fn mutate<'a>(
        &'a self,
        write: Attributes<'a>,
        object: &'a mut Fields,
        old: Option<&'a Fields>,
    ) -> Later<'a, Result<(), Status>> {
        let _ = (write, object, old);
        Box::pin(async { Ok(()) })
    }

    /// Judges a write: no object when it goes, no old one when it is new.
    ///
    /// # Errors
    /// What the client is told when it is refused.
    fn judge<'a>(
        &'a self,
        write: Attributes<'a>,
        object: Option<&'a Fields>,
        old: Option<&'a Fields>,
    ) -> Later<'a, Result<(), Status>> {
        let _ = (write, object, old);
        Box::pin(async { Ok(()) })
    }
}

/// Whether a namespace takes new objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamespaceState {
    /// It does.
    Active,
    /// It is being deleted.
    Terminating,
    /// It is not there.
    Missing,
}

/// Knows the namespaces.
pub trait Namespaces: Send + Sync {
    /// How a namespace is.
    ///
    /// # Errors
    /// When it cannot be found out: nothing is created then.
    fn state<'a>(&'a self, namespace: &'a str) -> Later<'a, Result<NamespaceState, String>>;
}

/// Every namespace takes new objects: for tests, and behind a door that has asked already.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnyNamespace;

impl Namespaces for AnyNamespace {
    fn state<'a>(&'a self, _: &'a str) -> Later<'a, Result<NamespaceState, String>> {
        Box::pin(async { Ok(NamespaceState::Active) })
    }
}

/// The refusal of a new object in a namespace that does not take it, in upstream's words.
pub fn refused_by_namespace(
    state: NamespaceState,
    definition: &Definition,
    namespace: &str,
    name: &str,
) -> Option<Status> {
    use kube_wire::{Reason, StatusDetails, status::StatusCause};
    match state {
        NamespaceState::Active => None,
        NamespaceState::Missing => Some(Status::not_found("namespaces", "", namespace)),
        NamespaceState::Terminating => {
            let message = format!(
                "{} {name:?} is forbidden: unable to create new content in namespace {namespace} because it is being terminated",
                definition.qualified_name()
            );
            let cause = StatusCause {
                reason: "NamespaceTerminating".to_owned(),
                message: format!("namespace {namespace} is being terminated"),
                field: "metadata.namespace".to_owned(),
            };
            let details = StatusDetails {
                name: name.to_owned(),
                group: definition.group.clone(),
                kind: definition.names.plural.clone(),
                causes: vec![cause],
                ..StatusDetails::default()
            };
            Some(Status::failure(403, Reason::Forbidden, message).with_details(details))
        }
    }
}
