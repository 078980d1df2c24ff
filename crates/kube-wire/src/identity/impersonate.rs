//! `Impersonate-*`: acting as somebody else.

use super::{
    ANONYMOUS_USER, AUTHENTICATED_GROUP, IdentityError, SERVICE_ACCOUNTS_GROUP, UNAUTHENTICATED_GROUP,
    UserInfo, header,
};

/// What every impersonation header begins with.
pub const PREFIX: &str = "impersonate-";
/// Carries the user's name.
pub const USER: &str = "impersonate-user";
/// Carries one group; one line for each.
pub const GROUP: &str = "impersonate-group";
/// Carries the user's UID.
pub const UID: &str = "impersonate-uid";
/// Followed by an escaped extra key; carries one value.
pub const EXTRA_PREFIX: &str = "impersonate-extra-";

/// The headers that ask to act as this user, names in lower case, groups in their order.
///
/// # Errors
/// For an identity that would arrive as another one.
pub fn encode(user: &UserInfo) -> Result<Vec<(String, String)>, IdentityError> {
    header::write(user, [USER, GROUP, UID, EXTRA_PREFIX])
}

/// The user as whom the client wants to act, exactly as its headers say; none when there are no such
/// headers. Each part needs the `impersonate` permission of its own.
///
/// # Errors
/// For anything without a user name, and for `Impersonate-` headers that are not known.
pub fn decode<'h>(
    headers: impl IntoIterator<Item = (&'h str, &'h str)>,
) -> Result<Option<UserInfo>, IdentityError> {
    let mut user = UserInfo::default();
    for (name, value) in headers {
        let Some(what) = header::strip_prefix(name, PREFIX) else { continue };
        if what.eq_ignore_ascii_case("user") {
            // As upstream, the first line counts.
            if user.name.is_empty() {
                value.clone_into(&mut user.name);
            }
        } else if what.eq_ignore_ascii_case("group") {
            user.groups.push(value.to_owned());
        } else if what.eq_ignore_ascii_case("uid") {
            value.clone_into(&mut user.uid);
        } else if let Some(key) = header::strip_prefix(what, "extra-") {
            user.extra.entry(header::unescape_key(key)).or_default().push(value.to_owned());
        } else {
            return Err(IdentityError::UnknownHeader(name.to_owned()));
        }
    }
    match (user.name.is_empty(), user.groups.is_empty(), user.uid.is_empty(), user.extra.is_empty()) {
        (true, true, true, true) => Ok(None),
        (true, false, _, _) => Err(IdentityError::NoImpersonatedUser("groups")),
        (true, _, false, _) => Err(IdentityError::NoImpersonatedUser("a uid")),
        (true, ..) => Err(IdentityError::NoImpersonatedUser("extra attributes")),
        (false, ..) => Ok(Some(user)),
    }
}

/// The impersonated user with the groups that upstream adds: those of a service account when no
/// group was named, and `system:authenticated`, or `system:unauthenticated` for the anonymous user.
#[must_use]
pub fn effective(mut user: UserInfo) -> UserInfo {
    if user.groups.is_empty()
        && let Some((namespace, _)) = user.service_account()
    {
        user.groups =
            vec![SERVICE_ACCOUNTS_GROUP.to_owned(), format!("{SERVICE_ACCOUNTS_GROUP}:{namespace}")];
    }
    if user.name == ANONYMOUS_USER {
        return user.with_group(UNAUTHENTICATED_GROUP);
    }
    if user.in_group(UNAUTHENTICATED_GROUP) { user } else { user.with_group(AUTHENTICATED_GROUP) }
}
