//! Query strings and percent-encoding, read as upstream's Go servers read them.

use std::borrow::Cow;

/// The pairs of a query string, decoded. Pairs with a `;` or a broken escape are left out, as upstream does.
pub fn pairs(query: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')).filter_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decode(key, Plus::Space)?, decode(value, Plus::Space)?))
    })
}

/// The first value of a key.
pub fn first<'q>(query: &'q str, key: &str) -> Option<Cow<'q, str>> {
    pairs(query).find(|(name, _)| name == key).map(|(_, value)| value)
}

/// The value of a Boolean parameter as upstream's list options read it: absent is false; `0` and
/// `false` are false; anything else, the empty value too, is true.
pub fn flag(query: &str, key: &str) -> bool {
    first(query, key).is_some_and(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
}

/// A path with its escapes decoded; none when an escape is broken. Bytes that are not UTF-8 become U+FFFD.
pub fn decode_path(path: &str) -> Option<Cow<'_, str>> {
    decode(path, Plus::Literal)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Plus {
    Space,
    Literal,
}

fn decode(text: &str, plus: Plus) -> Option<Cow<'_, str>> {
    let special = |byte: &u8| *byte == b'%' || (*byte == b'+' && plus == Plus::Space);
    if !text.as_bytes().iter().any(special) {
        return Some(Cow::Borrowed(text));
    }
    let bytes = decode_bytes(text.as_bytes(), plus)?;
    Some(Cow::Owned(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }))
}

fn decode_bytes(text: &[u8], plus: Plus) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = match byte {
            b'%' => {
                let (digits, tail) = tail.split_at_checked(2)?;
                decoded.push(hex(digits[0])? << 4 | hex(digits[1])?);
                tail
            }
            b'+' if plus == Plus::Space => {
                decoded.push(b' ');
                tail
            }
            _ => {
                decoded.push(byte);
                tail
            }
        };
    }
    Some(decoded)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}
