//! Constrained impersonation (Kubernetes 1.36): who may act as others only for some requests. It takes
//! two permissions, `impersonate-on:MODE:VERB` for the request and `impersonate:MODE` for the user, and
//! never leads to `system:masters`.
//!
//! Upstream's mode for agents that act as the node they run on (`associated-node`) is not here: it is
//! meant for requests that such an agent makes to the core, which knows the node.

use std::borrow::Cow;

use kube_wire::{
    RequestInfo,
    identity::{MASTERS_GROUP, UserInfo},
};

use super::impersonation::{AUTHENTICATION, permission};

/// What the names of nodes begin with, as users.
const NODE_PREFIX: &str = "system:node:";
/// The one group that such a user has.
const NODES_GROUP: &str = "system:nodes";

/// A way to act as somebody, by the kind of user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    ArbitraryNode,
    ServiceAccount,
    UserInfo,
}

impl Mode {
    /// The mode for this user; none when only the permission without constraints will do.
    pub(super) fn of(user: &UserInfo) -> Option<Self> {
        let only_a_name = user.uid.is_empty() && user.groups.is_empty() && user.extra.is_empty();
        if node(user).is_some() {
            return only_a_name.then_some(Self::ArbitraryNode);
        }
        if user.service_account().is_some() {
            return only_a_name.then_some(Self::ServiceAccount);
        }
        let group = |group: &String| !group.is_empty() && group != MASTERS_GROUP;
        let extra = |(key, values): (&String, &Vec<String>)| {
            let key =
                key.split_once('/').is_some_and(|(domain, name)| !domain.is_empty() && !name.is_empty());
            key && values.iter().all(|value| !value.is_empty())
        };
        (user.groups.iter().all(group) && user.extra.iter().all(extra)).then_some(Self::UserInfo)
    }

    fn name(self) -> &'static str {
        match self {
            Self::ArbitraryNode => "arbitrary-node",
            Self::ServiceAccount => "serviceaccount",
            Self::UserInfo => "user-info",
        }
    }

    /// That the request may be made while acting as somebody.
    pub(super) fn on<'a>(self, request: &RequestInfo<'a>) -> RequestInfo<'a> {
        let verb = Cow::Owned(format!("impersonate-on:{}:{}", self.name(), request.verb));
        RequestInfo { verb, ..request.clone() }
    }

    /// What it takes to act as this user, in upstream's order.
    pub(super) fn permissions(self, user: &UserInfo) -> Vec<RequestInfo<'_>> {
        let verb = format!("impersonate:{}", self.name());
        let permission = |resource, name| RequestInfo {
            verb: verb.clone().into(),
            ..permission(AUTHENTICATION, resource, name)
        };
        let who = match (self, user.service_account()) {
            (Self::ArbitraryNode, _) => permission("nodes", node(user).unwrap_or_default()),
            (Self::ServiceAccount, Some((namespace, name))) => {
                RequestInfo { namespace: namespace.into(), ..permission("serviceaccounts", name) }
            }
            _ => permission("users", &user.name),
        };
        let mut all = vec![who];
        if !user.uid.is_empty() {
            all.push(permission("uids", &user.uid));
        }
        all.extend(user.groups.iter().map(|group| permission("groups", group)));
        for (key, values) in &user.extra {
            all.extend(values.iter().map(|value| RequestInfo {
                subresource: key.as_str().into(),
                ..permission("userextras", value)
            }));
        }
        all
    }

    /// The user as whom the request goes on: all nodes are in one group.
    pub(super) fn actual(self, mut user: UserInfo) -> UserInfo {
        if self == Self::ArbitraryNode {
            user.groups = vec![NODES_GROUP.to_owned()];
        }
        user
    }
}

/// The node that this user is.
fn node(user: &UserInfo) -> Option<&str> {
    let name = user.name.strip_prefix(NODE_PREFIX)?;
    let label = |label: &str| {
        let inner =
            label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        inner && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    (name.len() <= 253 && name.split('.').all(label)).then_some(name)
}
