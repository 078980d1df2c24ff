//! Header names and values that carry identities.

use std::{borrow::Cow, fmt::Write as _};

use super::{IdentityError, UserInfo};
use crate::query;

/// Whether a header carries this value unchanged: no control characters, no white space at the ends.
pub(super) fn is_faithful(value: &str) -> bool {
    value.trim() == value && !value.chars().any(char::is_control)
}

/// An extra key as a part of a header name: what is no token character, and `%`, as `%XX`.
pub(super) fn escape_key(key: &str) -> Cow<'_, str> {
    let literal = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(byte);
    if key.as_bytes().iter().all(literal) {
        return Cow::Borrowed(key);
    }
    Cow::Owned(key.bytes().fold(String::with_capacity(key.len() + 8), |mut escaped, byte| {
        let _ = match literal(&byte) {
            true => escaped.write_char(byte.into()),
            false => write!(escaped, "%{byte:02X}"),
        };
        escaped
    }))
}

/// The extra key in the rest of a header name: lower-cased, then decoded; kept as it is when broken.
pub(super) fn unescape_key(rest: &str) -> String {
    let lower = rest.to_ascii_lowercase();
    match query::decode_path(&lower) {
        Some(Cow::Owned(decoded)) => decoded,
        Some(Cow::Borrowed(_)) | None => lower,
    }
}

/// The rest of a header name after a prefix, whatever the case.
pub(super) fn strip_prefix<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = name.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// The lines that say who `user` is, in headers of these names: user, group, UID, and what the names of
/// extra attributes begin with.
///
/// # Errors
/// For an identity that would arrive as another one.
pub(super) fn write(user: &UserInfo, names: [&str; 4]) -> Result<Vec<(String, String)>, IdentityError> {
    user.check()?;
    let [name, group, uid, extra_prefix] = names;
    let mut headers = Vec::with_capacity(2 + user.groups.len() + user.extra.len());
    headers.push((name.to_owned(), user.name.clone()));
    headers.extend(user.groups.iter().map(|value| (group.to_owned(), value.clone())));
    if !user.uid.is_empty() {
        headers.push((uid.to_owned(), user.uid.clone()));
    }
    for (key, values) in &user.extra {
        let name = format!("{extra_prefix}{}", escape_key(key));
        headers.extend(values.iter().map(|value| (name.clone(), value.clone())));
    }
    Ok(headers)
}
