//! `Impersonate-*` headers of a client: what they ask for, and which permissions that takes.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName};
use kube_wire::{
    RequestInfo,
    identity::{UserInfo, impersonate},
    status::Status,
};
use sha2::{Digest, Sha256};

use crate::{authn::Key, headers, identity::Identity};

/// Permissions that one request may need; each may be a question to the core.
const MAX_PERMISSIONS: usize = 256;

/// As whom a caller wants to act, as its headers say it.
#[derive(Debug)]
pub(super) struct Wanted(pub(super) UserInfo);

/// Takes the impersonation headers out of `headers`; none when there are none, or no user is named.
///
/// # Errors
/// 400 for an unknown header, for a look-alike, and for anything without a user.
pub(super) fn take(headers: &mut HeaderMap) -> Result<Option<Wanted>, Box<Status>> {
    if !headers.keys().any(headers::is_impersonation) {
        return Ok(None);
    }
    let names: Vec<HeaderName> =
        headers.keys().filter(|name| headers::is_impersonation(name)).cloned().collect();
    let mut lines = Vec::with_capacity(names.len());
    for name in &names {
        if !name.as_str().starts_with(impersonate::PREFIX) {
            return Err(bad_request(format!("unknown impersonation header {:?}", name.as_str())));
        }
        for value in headers.get_all(name) {
            let value = std::str::from_utf8(value.as_bytes());
            let value =
                value.map_err(|_| bad_request(format!("the header {:?} is not UTF-8", name.as_str())))?;
            lines.push((name.as_str(), value));
        }
    }
    let user = impersonate::decode(lines).map_err(|error| bad_request(error.to_string()))?;
    for name in &names {
        headers.remove(name);
    }
    let wanted = user.map(Wanted);
    match &wanted {
        Some(wanted) if wanted.count() > MAX_PERMISSIONS => {
            Err(bad_request(format!("more than {MAX_PERMISSIONS} impersonation headers")))
        }
        _ => Ok(wanted),
    }
}

fn bad_request(message: String) -> Box<Status> {
    Box::new(Status::bad_request(message))
}

impl Wanted {
    fn count(&self) -> usize {
        1 + self.0.groups.len() + self.0.extra.values().map(Vec::len).sum::<usize>()
    }

    /// What `caller` must be allowed for this, in upstream's order.
    pub(super) fn permissions(&self) -> impl Iterator<Item = RequestInfo<'_>> {
        let Self(user) = self;
        let who = match user.service_account() {
            Some((namespace, name)) => {
                RequestInfo { namespace: namespace.into(), ..permission("", "serviceaccounts", name) }
            }
            None => permission("", "users", &user.name),
        };
        let groups = user.groups.iter().map(|group| permission("", "groups", group));
        let extra = user.extra.iter().flat_map(|(key, values)| {
            values.iter().map(move |value| RequestInfo {
                subresource: key.into(),
                ..permission(AUTHENTICATION, "userextras", value)
            })
        });
        let uid = (!user.uid.is_empty()).then(|| permission(AUTHENTICATION, "uids", &user.uid));
        std::iter::once(who).chain(groups).chain(extra).chain(uid)
    }

    /// The identity under which the request goes on.
    ///
    /// # Errors
    /// 400 for a user that could not be carried on.
    pub(super) fn identity(self) -> Result<Identity, Box<Status>> {
        let identity = Identity::new(impersonate::effective(self.0));
        let identity = identity.map_err(|error| bad_request(error.to_string()))?;
        Ok(Identity { acted: true, ..identity })
    }

    /// Under which what this caller may is remembered.
    pub(super) fn key(&self, caller: &UserInfo) -> Key {
        let mut hash = Sha256::new();
        for user in [caller, &self.0] {
            let bytes = serde_json::to_vec(user).unwrap_or_default();
            hash.update(bytes.len().to_be_bytes());
            hash.update(&bytes);
        }
        hash.finalize().into()
    }
}

pub(super) const AUTHENTICATION: &str = "authentication.k8s.io";

pub(super) fn permission<'a>(group: &'static str, resource: &'static str, name: &'a str) -> RequestInfo<'a> {
    RequestInfo {
        is_resource: true,
        verb: Cow::Borrowed("impersonate"),
        group: Cow::Borrowed(group),
        version: Cow::Borrowed(if group.is_empty() { "" } else { "v1" }),
        resource: Cow::Borrowed(resource),
        name: Cow::Borrowed(name),
        ..RequestInfo::default()
    }
}
