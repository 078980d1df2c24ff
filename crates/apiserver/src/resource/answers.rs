//! What is not stored but answered: reviews, tokens, and other actions.

use std::sync::Arc;

use kube_wire::{Status, UserInfo};

use super::{Definition, Fields};
use crate::{engine::Engine, hooks::Later};

/// Answers what clients send, in place of storing it.
pub trait Answers: Send + Sync {
    /// The object with its answer in it; kind and version are taken care of.
    ///
    /// # Errors
    /// What the client is told when there is none.
    fn answer<'a>(&'a self, question: Question<'a>) -> Later<'a, Result<Fields, Status>>;
}

/// What was sent. It was allowed, its fields have the types of its kind, and admission has seen it.
pub struct Question<'a> {
    /// The object that was sent.
    pub object: Fields,
    /// Who sent it.
    pub user: &'a UserInfo,
    /// The namespace, empty for what is in none.
    pub namespace: &'a str,
    /// The name of the object to which an action belongs; empty for a resource of its own.
    pub name: &'a str,
    /// Whether nothing may be kept.
    pub dry_run: bool,
    /// The verbs, for answers that need other objects.
    pub engine: &'a Engine,
}

/// A subresource that does something, such as `serviceaccounts/token` or `namespaces/finalize`.
#[derive(Clone)]
pub struct Action {
    /// In URLs.
    pub name: String,
    /// Whether it is a `POST`, or else a `PUT`.
    pub creates: bool,
    /// The kind that is sent and comes back, in its first version; none: that of the resource.
    pub kind: Option<Arc<Definition>>,
    /// What answers.
    pub answers: Arc<dyn Answers>,
}

impl Action {
    /// The verb with which it is asked for.
    pub fn verb(&self) -> &'static str {
        if self.creates { "create" } else { "update" }
    }
}
