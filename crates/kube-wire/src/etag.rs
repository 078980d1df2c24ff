//! Strong entity tags from SHA-512, as upstream's discovery and OpenAPI endpoints make them.

use std::fmt::Write as _;

use sha2::{Digest, Sha512};

/// SHA-512 of the bytes as 128 upper-case hexadecimal digits.
pub fn sha512_hex(bytes: &[u8]) -> String {
    hex_upper(&Sha512::digest(bytes))
}

/// Upper-case hexadecimal digits, for a digest that was computed piece by piece.
pub fn hex_upper(digest: &[u8]) -> String {
    digest.iter().fold(String::with_capacity(digest.len() * 2), |mut hex, byte| {
        let _ = write!(hex, "{byte:02X}");
        hex
    })
}

/// The strong entity tag of these bytes, with its quotes.
pub fn strong(bytes: &[u8]) -> String {
    quote(&sha512_hex(bytes))
}

/// The strong entity tag with this hash, with its quotes.
pub fn quote(hash: &str) -> String {
    format!("\"{hash}\"")
}

/// Whether an `If-None-Match` value names the entity tag `etag` (given with its quotes), so that the
/// answer is 304. The comparison is weak (RFC 9110, 13.1.2): `W/"x"` names `"x"`; lists and `*` count.
/// Upstream knows the exact string alone; the other forms come from proxies and browsers.
pub fn none_match(header: &str, etag: &str) -> bool {
    let etag = etag.strip_prefix("W/").unwrap_or(etag);
    let mut rest = header.trim();
    if rest == "*" {
        return true;
    }
    while !rest.is_empty() {
        let (candidate, tail) = next_tag(rest);
        if candidate == etag {
            return true;
        }
        rest = tail;
    }
    false
}

/// One entity tag of a list (without `W/`), and what follows it. A comma inside quotes belongs to the tag.
fn next_tag(list: &str) -> (&str, &str) {
    let list = list.trim_start_matches([' ', '\t', ',']);
    let list = list.strip_prefix("W/").unwrap_or(list);
    let end = match list.strip_prefix('"').and_then(|inner| inner.find('"')) {
        Some(quote) => quote + 2,
        None => list.find(',').unwrap_or(list.len()),
    };
    let (tag, tail) = list.split_at(end);
    (tag.trim_end(), tail)
}
