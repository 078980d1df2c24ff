//! Where something is: hosts, networks, mailboxes, URIs.

use std::net::{IpAddr, Ipv6Addr};

/// An address with dots in it; zeros may lead.
pub(super) fn ipv4(text: &str) -> bool {
    text.contains('.') && (dotted(text) || ipv6(text))
}

fn dotted(text: &str) -> bool {
    let part = |part: &str| {
        let significant = part.trim_start_matches('0');
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && (significant.is_empty() || significant.parse::<u8>().is_ok())
    };
    text.split('.').count() == 4 && text.split('.').all(part)
}

/// An address with colons in it.
pub(super) fn ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

/// An address and the length of a prefix.
pub(super) fn cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let max = match (dotted(address), ipv6(address)) {
        (true, _) => 32,
        (_, true) => 128,
        _ => return false,
    };
    let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    digits && length.parse::<u32>().is_ok_and(|length| length <= max)
}

/// EUI-48, EUI-64 or 20 bytes, with colons, dashes, or dots after each second byte.
pub(super) fn mac(text: &str) -> bool {
    let of = |separator: char, digits: usize| {
        let part = |part: &str| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bytes = text.split(separator).count() * digits / 2;
        text.split(separator).all(part) && matches!(bytes, 6 | 8 | 20)
    };
    of(':', 2) || of('-', 2) || of('.', 4)
}

/// As upstream: a single label has at most one dash, behind its first character; of several the last has
/// letters only.
pub(super) fn hostname(text: &str) -> bool {
    let sign = |c: char| c.is_ascii_digit() || letter(c) || is_symbol(c);
    if text.len() > 255 || text.split('.').any(|part| part.len() > 63) {
        return false;
    }
    let Some((rest, last)) = text.rsplit_once('.') else {
        let mut signs = text.chars();
        let begins = signs.next().is_some_and(sign);
        let rest = signs.as_str().strip_prefix('-').unwrap_or(signs.as_str());
        return begins && rest.chars().all(sign);
    };
    let label = |part: &str| {
        let ends = [part.chars().next(), part.chars().next_back()];
        ends.into_iter().all(|end| end.is_some_and(sign)) && part.chars().all(|c| c == '-' || sign(c))
    };
    rest.split('.').all(label) && last.chars().count() >= 2 && last.chars().all(letter)
}

fn letter(c: char) -> bool {
    c.is_alphabetic()
}

/// Unicode's symbols, as far as ASCII has them; others count as letters do.
fn is_symbol(c: char) -> bool {
    matches!(c, '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~')
        || (!c.is_ascii() && !c.is_alphanumeric() && !c.is_whitespace() && !c.is_control())
}

/// RFC 5322: `a@b`, or a name and `<a@b>`.
pub(super) fn email(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    let Some((name, address)) = text.strip_suffix('>').and_then(|rest| rest.rsplit_once('<')) else {
        return mailbox(text);
    };
    let name = name.trim();
    let quoted = name.len() > 1 && name.starts_with('"') && name.ends_with('"');
    let words = name.split_whitespace().all(|word| word.chars().all(|c| atom(c) || c == '.'));
    (name.is_empty() || quoted || words) && mailbox(address.trim())
}

fn mailbox(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let atoms = |text: &str| text.split('.').all(|part| !part.is_empty() && part.chars().all(atom));
    let inside = local.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let quoted = inside.is_some_and(|inside| !inside.is_empty() && !inside.contains(['"', '\\', '\r', '\n']));
    let literal = domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let literal = literal.is_some_and(|address| address.parse::<IpAddr>().is_ok());
    (atoms(local) || quoted) && (atoms(domain) || literal)
}

fn atom(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(c)
}

/// Absolute, or a path that begins with a slash; as Go reads the target of a request.
pub(super) fn uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte.is_ascii_control()) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let (scheme, rest) = match scheme(text) {
        Some((scheme, rest)) => (scheme, rest),
        None => ("", text),
    };
    if text.starts_with(':') {
        return false;
    }
    let rest = rest.split('?').next().unwrap_or_default();
    if !rest.starts_with('/') {
        // Opaque, as in `mailto:a@b`.
        return !scheme.is_empty();
    }
    let authority = rest.strip_prefix("//").filter(|rest| !scheme.is_empty() || !rest.starts_with('/'));
    let (host, path) = match authority.filter(|_| !scheme.is_empty()) {
        Some(authority) => authority.split_at(authority.find('/').unwrap_or(authority.len())),
        None => ("", rest),
    };
    authority_is_right(host) && escapes(path)
}

fn scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let begins = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    let inside = scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    (begins && inside).then_some((scheme, rest))
}

fn authority_is_right(authority: &str) -> bool {
    let host = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let known = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
            if !user.chars().all(known) || !escapes(user) {
                return false;
            }
            host
        }
        None => authority,
    };
    let port = |port: &str| {
        port.is_empty()
            || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
    };
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split_once(']').is_some_and(|(_, rest)| port(rest));
    }
    let (name, rest) = host.split_at(host.rfind(':').unwrap_or(host.len()));
    let known = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:[]<>\"%".contains(c);
    // Only what is not ASCII may be escaped in the name of a host.
    let ascii =
        name.split('%').skip(1).any(|escape| escape.starts_with(|c: char| c.is_ascii_digit() && c < '8'));
    port(rest) && name.chars().all(known) && escapes(name) && !ascii
}

/// Whether two hexadecimal digits follow each per cent sign.
fn escapes(text: &str) -> bool {
    let digits = |part: &str| part.len() >= 2 && part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    text.split('%').skip(1).all(digits)
}
