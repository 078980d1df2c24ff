//! `X-Remote-*`: the identity that a front proxy with a client certificate vouches for.

use super::{IdentityError, UserInfo, header};

/// Carries the user's name.
pub const USER: &str = "x-remote-user";
/// Carries one group; one line for each.
pub const GROUP: &str = "x-remote-group";
/// Carries the user's UID.
pub const UID: &str = "x-remote-uid";
/// Followed by an escaped extra key; carries one value.
pub const EXTRA_PREFIX: &str = "x-remote-extra-";

/// The header names of a front proxy, as the `--requestheader-*` flags give them. Case does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The first of these that is not empty carries the name.
    pub user: Vec<String>,
    /// All of these carry groups.
    pub group: Vec<String>,
    /// The first of these that is not empty carries the UID.
    pub uid: Vec<String>,
    /// What the names of extra attributes begin with.
    pub extra_prefix: Vec<String>,
}

impl Default for Names {
    fn default() -> Self {
        let one = |name: &str| vec![name.to_owned()];
        Self { user: one(USER), group: one(GROUP), uid: one(UID), extra_prefix: one(EXTRA_PREFIX) }
    }
}

/// The headers that say who the user is, names in lower case, groups in their order.
///
/// # Errors
/// For an identity that would arrive as another one.
pub fn encode(user: &UserInfo) -> Result<Vec<(String, String)>, IdentityError> {
    header::write(user, [USER, GROUP, UID, EXTRA_PREFIX])
}

/// The user that these headers name; none when they name nobody. The caller has checked that the
/// peer may say so.
pub fn decode<'h>(
    headers: impl IntoIterator<Item = (&'h str, &'h str)> + Clone,
    names: &Names,
) -> Option<UserInfo> {
    let values = |name: &str| {
        let name = name.to_owned();
        let headers = headers.clone().into_iter();
        headers.filter(move |(key, value)| key.eq_ignore_ascii_case(&name) && !value.is_empty())
    };
    // As upstream, the first line of a header decides even when it is empty.
    let first = |candidates: &[String]| {
        candidates.iter().find_map(|name| {
            let mut lines = headers.clone().into_iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
            lines.next().map(|(_, value)| value).filter(|value| !value.is_empty())
        })
    };
    let mut user = UserInfo::new(first(&names.user)?, std::iter::empty::<String>());
    user.uid = first(&names.uid).unwrap_or_default().to_owned();
    user.groups =
        names.group.iter().flat_map(|name| values(name)).map(|(_, value)| value.to_owned()).collect();
    for prefix in &names.extra_prefix {
        for (name, value) in headers.clone() {
            if let Some(rest) = header::strip_prefix(name, prefix) {
                user.extra.entry(header::unescape_key(rest)).or_default().push(value.to_owned());
            }
        }
    }
    Some(user)
}
