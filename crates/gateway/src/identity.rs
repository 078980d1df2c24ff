//! Who calls, with the header lines that carry it to a backend rendered once.

use http::{HeaderName, HeaderValue};
use kube_wire::identity::{
    AUTHENTICATED_GROUP, IdentityError, MASTERS_GROUP, UNAUTHENTICATED_GROUP, UserInfo, impersonate,
    request_header,
};

/// A caller, kept for as long as its connection or its token is cached.
#[derive(Debug)]
pub struct Identity {
    /// Name, uid, groups, extra.
    pub user: UserInfo,
    /// `X-Remote-*` lines for backends in request-header mode.
    pub request_headers: Vec<(HeaderName, HeaderValue)>,
    /// `Impersonate-*` lines for backends in impersonation mode.
    pub impersonate_headers: Vec<(HeaderName, HeaderValue)>,
    /// Whether it may do everything.
    pub(crate) master: bool,
    /// Whether somebody else acts as this user, by impersonation.
    pub(crate) acted: bool,
}

impl Identity {
    /// The identity of `user`, exactly as it is.
    ///
    /// # Errors
    /// For a user that would reach a backend as another one: without a name, or with control
    /// characters or white space where headers lose them.
    pub fn new(user: UserInfo) -> Result<Self, IdentityError> {
        let request_headers = lines(request_header::encode(&user)?)?;
        let impersonate_headers = lines(impersonate::encode(&user)?)?
            .into_iter()
            .filter(|(name, value)| !is_implied(name, value))
            .collect();
        let master = user.in_group(MASTERS_GROUP);
        Ok(Self { user, request_headers, impersonate_headers, master, acted: false })
    }

    /// The identity of a user who has proved who it is, and so is in `system:authenticated`.
    ///
    /// # Errors
    /// As [`Identity::new`].
    pub fn authenticated(user: UserInfo) -> Result<Self, IdentityError> {
        let known = user.in_group(UNAUTHENTICATED_GROUP) || user.name == kube_wire::identity::ANONYMOUS_USER;
        Self::new(if known { user } else { user.with_group(AUTHENTICATED_GROUP) })
    }
}

/// The group that every server adds by itself to whom is impersonated. To name it would take a
/// permission of its own (`impersonate` on this group), which a narrow role does not have.
fn is_implied(name: &HeaderName, value: &HeaderValue) -> bool {
    name.as_str() == impersonate::GROUP && value.as_bytes() == AUTHENTICATED_GROUP.as_bytes()
}

fn lines(rendered: Vec<(String, String)>) -> Result<Vec<(HeaderName, HeaderValue)>, IdentityError> {
    rendered
        .into_iter()
        .map(|(name, value)| {
            let name = HeaderName::try_from(name).map_err(|_| IdentityError::Unencodable("an extra key"))?;
            let value =
                HeaderValue::try_from(value).map_err(|_| IdentityError::Unencodable("an attribute"))?;
            Ok((name, value))
        })
        .collect()
}

#[cfg(test)]
mod tests;
