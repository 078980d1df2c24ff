//! Where a request carries its bearer token.

use std::borrow::Cow;

use http::{HeaderMap, header};
use sha2::{Digest, Sha256};

use super::Key;
use crate::headers::WEBSOCKET_BEARER;

/// Longest token that is looked at; service account tokens have about 1 kB.
const MAX_TOKEN: usize = 16 * 1024;

/// The bearer token of `Authorization`, else the one that browsers put into a WebSocket subprotocol.
pub(super) fn bearer(headers: &HeaderMap) -> Option<Cow<'_, [u8]>> {
    let token = match headers.get(header::AUTHORIZATION) {
        Some(value) => Cow::Borrowed(from_authorization(value.as_bytes())?),
        None => Cow::Owned(from_subprotocol(headers)?),
    };
    (!token.is_empty() && token.len() <= MAX_TOKEN).then_some(token)
}

/// The key under which a token is remembered.
pub(super) fn digest(token: &[u8]) -> Key {
    Sha256::digest(token).into()
}

fn from_authorization(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.trim_ascii().split_at_checked("bearer ".len())?;
    // As upstream, the token ends at the next space.
    let token = token.trim_ascii_start().split(|byte| *byte == b' ').next()?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
}

fn from_subprotocol(headers: &HeaderMap) -> Option<Vec<u8>> {
    let upgrade = headers.get(header::UPGRADE)?;
    if !upgrade.as_bytes().eq_ignore_ascii_case(b"websocket") {
        return None;
    }
    let protocols =
        headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let mut protocols = protocols.flat_map(|value| value.split(',')).map(str::trim);
    let encoded = protocols.find_map(|protocol| protocol.strip_prefix(WEBSOCKET_BEARER))?;
    base64_url(encoded.as_bytes()).filter(|token| std::str::from_utf8(token).is_ok())
}

/// Base64 with the URL alphabet and without padding.
fn base64_url(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for group in text.chunks(4) {
        let mut bits = 0_u32;
        for digit in group {
            bits = bits << 6 | u32::from(sextet(*digit)?);
        }
        bits <<= 6 * (4 - group.len());
        let whole = match group.len() {
            4 => 3,
            3 => 2,
            2 => 1,
            _ => return None,
        };
        bytes.extend_from_slice(&bits.to_be_bytes()[1..=whole]);
    }
    Some(bytes)
}

fn sextet(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(name: &'static str, value: &'static str, expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        headers.insert(header::UPGRADE, HeaderValue::from_static("WebSocket"));
        headers.insert(name, HeaderValue::from_static(value));
        let found = bearer(&headers).map(|token| String::from_utf8(token.into_owned()).unwrap());
        assert_eq!(found.as_deref(), expected, "{name}: {value}");
    }

    #[test]
    fn tokens_are_found_where_upstream_finds_them() {
        check("authorization", "Bearer abc", Some("abc"));
        check("authorization", "bearer abc", Some("abc"));
        check("authorization", "BEARER   abc", Some("abc"));
        check("authorization", "Bearer abc def", Some("abc"));
        check("authorization", "Bearer ", None);
        check("authorization", "Bearer", None);
        check("authorization", "Basic YTpi", None);
        check("authorization", "abc", None);
        check("sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.YWJj, v4.k8s.io", Some("abc"));
        check("sec-websocket-protocol", "v4.k8s.io, base64url.bearer.authorization.k8s.io.YWI", Some("ab"));
        check("sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.YQ", Some("a"));
        check("sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.Y", None);
        check("sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.Y!==", None);
        check("sec-websocket-protocol", "base64url.bearer.authorization.k8s.io._w", None);
        check("sec-websocket-protocol", "v4.k8s.io", None);
    }
}
