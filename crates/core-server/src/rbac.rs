//! Role-based access control.
//!
//! [`Rbac`] is the authorizer and the admission of a server that serves [`definitions`]. It holds the policy in
//! memory and looks at the store before each decision, so that what was written before counts.

mod admission;
mod aggregate;
mod bootstrap;
mod escalation;
mod live;
mod objects;
mod policy;
mod rules;

use std::sync::Arc;

use apiserver::{
    hooks::{Authorizer, Decision, Later},
    resource::Definition,
    storage::{self, Store},
};
use kube_wire::{RequestInfo, UserInfo, identity::MASTERS_GROUP};

pub use aggregate::Aggregator;
pub use bootstrap::{BootstrapError, ensure_policy};
pub use objects::{
    AggregationRule, ClusterRole, ClusterRoleBinding, LabelSelector, Requirement, Role, RoleBinding, RoleRef,
    Subject,
};
pub use policy::{Policy, Verdict};
pub use rules::Rule;

use live::Live;

/// The group of the four kinds.
pub const GROUP: &str = "rbac.authorization.k8s.io";

/// The four kinds, as they are served.
pub fn definitions() -> [Definition; 4] {
    [
        Definition::of::<Role>(),
        Definition::of::<RoleBinding>(),
        Definition::of::<ClusterRole>(),
        Definition::of::<ClusterRoleBinding>(),
    ]
}

/// Says who may do what, by the policy in a store; and refuses policy that would give away more than whoever
/// writes it has.
#[derive(Clone)]
pub struct Rbac(Arc<Live>);

impl Rbac {
    /// The policy in this store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(Arc::new(Live::new(store)))
    }

    /// The policy as of now: every write counts that was acknowledged before.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn policy(&self) -> Result<Arc<Policy>, storage::Error> {
        self.0.policy().await
    }

    /// Whether this user may do this, and why.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn decide(
        &self,
        user: &UserInfo,
        request: &RequestInfo<'_>,
    ) -> Result<Verdict, storage::Error> {
        if user.in_group(MASTERS_GROUP) {
            return Ok(Verdict { allowed: true, reason: String::new() });
        }
        Ok(self.policy().await?.decide(user, request))
    }
}

impl Authorizer for Rbac {
    fn authorize<'a>(
        &'a self,
        user: &'a UserInfo,
        request: &'a RequestInfo<'a>,
    ) -> Later<'a, Result<Decision, String>> {
        Box::pin(async {
            let verdict = self.decide(user, request).await.map_err(|error| error.to_string())?;
            Ok(if verdict.allowed { Decision::Allow } else { Decision::Deny(verdict.reason) })
        })
    }
}
