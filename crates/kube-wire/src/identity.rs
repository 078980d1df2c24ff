//! Who makes a request, and how that is said in headers between servers.

pub mod impersonate;
pub mod request_header;

mod header;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The group that may do everything.
pub const MASTERS_GROUP: &str = "system:masters";
/// The group of everybody who has an identity.
pub const AUTHENTICATED_GROUP: &str = "system:authenticated";
/// The group of requests without one.
pub const UNAUTHENTICATED_GROUP: &str = "system:unauthenticated";
/// The user of requests without an identity.
pub const ANONYMOUS_USER: &str = "system:anonymous";
/// The group of all service accounts.
pub const SERVICE_ACCOUNTS_GROUP: &str = "system:serviceaccounts";
/// What the names of service accounts begin with; namespace, colon and name follow.
pub const SERVICE_ACCOUNT_PREFIX: &str = "system:serviceaccount:";
/// The user as which upstream's aggregator asks for discovery.
pub const AGGREGATOR_USER: &str = "system:kube-aggregator";

/// A user as authenticated, `authentication.k8s.io/v1` `UserInfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserInfo {
    /// Name, unique among active users.
    #[serde(rename = "username")]
    pub name: String,
    /// Unique over time, may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Groups, in the authenticator's order.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "crate::object::null_default")]
    pub groups: Vec<String>,
    /// Further attributes; keys are in lower case.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "crate::object::null_default")]
    pub extra: BTreeMap<String, Vec<String>>,
}

/// An identity that cannot be said, or a header that says none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// The name is empty.
    #[error("the user has no name")]
    NoName,
    /// A value would reach the other side as another one: it holds control characters, or begins or
    /// ends with white space, which HTTP drops.
    #[error("{0} of the user cannot be carried in a header")]
    Unencodable(&'static str),
    /// Something is impersonated, but no user.
    #[error("requested impersonation of {0} without impersonating a user name")]
    NoImpersonatedUser(&'static str),
    /// An `Impersonate-` header that nobody knows: to ignore it would drop a restriction.
    #[error("unknown impersonation header {0:?}")]
    UnknownHeader(String),
}

impl UserInfo {
    /// A user with these groups.
    pub fn new(name: impl Into<String>, groups: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { name: name.into(), groups: groups.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// The user of requests without an identity.
    pub fn anonymous() -> Self {
        Self::new(ANONYMOUS_USER, [UNAUTHENTICATED_GROUP])
    }

    /// Whether the user is in this group.
    pub fn in_group(&self, group: &str) -> bool {
        self.groups.iter().any(|own| own == group)
    }

    /// This user with one more group, unless it is there.
    #[must_use]
    pub fn with_group(mut self, group: &str) -> Self {
        if !self.in_group(group) {
            self.groups.push(group.to_owned());
        }
        self
    }

    /// Namespace and name of the service account that this user is.
    pub fn service_account(&self) -> Option<(&str, &str)> {
        self.name.strip_prefix(SERVICE_ACCOUNT_PREFIX)?.split_once(':')
    }

    /// Refuses what would arrive as somebody else.
    ///
    /// # Errors
    /// Without a name, and for values that a header would change.
    pub fn check(&self) -> Result<(), IdentityError> {
        let carried = |what, value: &str| match header::is_faithful(value) {
            true => Ok(()),
            false => Err(IdentityError::Unencodable(what)),
        };
        if self.name.is_empty() {
            return Err(IdentityError::NoName);
        }
        carried("the name", &self.name)?;
        carried("the uid", &self.uid)?;
        self.groups.iter().try_for_each(|group| carried("a group", group))?;
        self.extra.values().flatten().try_for_each(|value| carried("an extra value", value))
    }
}
