//! Names as Kubernetes, DNS and ssh have them.

use super::Report;
use crate::finding::{Rule, Source};

/// A DNS label (RFC 1123), lower case.
pub(super) fn is_label(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// DNS labels with dots between them, lower case, `longest` at most in all.
pub(super) fn is_subdomain(text: &str, longest: usize) -> bool {
    text.len() <= longest && text.split('.').all(is_label)
}

/// The name part of a label's key, or a label's value that is not empty.
pub(super) fn is_qualified(text: &str) -> bool {
    let outer = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
    let inner = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    text.len() <= 63 && text.bytes().all(inner) && outer(text.bytes().next()) && outer(text.bytes().last())
}

/// The key of a label or taint: `[prefix/]name`.
pub(super) fn is_key(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_subdomain(prefix, 253) && is_qualified(name),
        None => is_qualified(text),
    }
}

/// The value of a label or taint.
pub(super) fn is_value(text: &str) -> bool {
    text.is_empty() || is_qualified(text)
}

/// A user of a POSIX system.
pub(super) fn is_user(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let first = text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    first && text.len() <= 32 && text.bytes().all(inner)
}

/// A host name or IPv4 address, either case.
pub(super) fn is_host(text: &str) -> bool {
    is_subdomain(&text.to_lowercase(), 253)
}

/// A port.
pub(super) fn is_port(text: &str) -> bool {
    !text.starts_with(['0', '+']) && text.parse::<u16>().is_ok()
}

/// `host[:port]`.
pub(super) fn is_host_port(text: &str) -> bool {
    match text.split_once(':') {
        Some((host, port)) => is_host(host) && is_port(port),
        None => is_host(text),
    }
}

/// What a name probably should have been.
pub(super) fn corrected(text: &str, dots: bool) -> Option<String> {
    let fit = |c: char| match c {
        'a'..='z' | '0'..='9' | '-' => c,
        'A'..='Z' => c.to_ascii_lowercase(),
        '.' if dots => c,
        _ => '-',
    };
    let name: String = text.chars().map(fit).take(63).collect();
    let name = name.trim_matches(['-', '.']).to_owned();
    let good = if dots { is_subdomain(&name, 63) } else { is_label(&name) };
    (good && name != text).then_some(name)
}

/// The fix for a name.
pub(super) fn name_fix(text: &str, dots: bool) -> String {
    corrected(text, dots).map_or_else(|| "choose another name".to_owned(), |name| format!("write \"{name}\""))
}

pub(super) fn name(name: &str, report: &mut Report) {
    if !is_label(name) {
        let reason = "the name of a cluster has lower-case letters, digits and \"-\", 63 at most, with a letter or \
                      digit at both ends: it becomes part of other names";
        report.add(Source::Object, "/name", Rule::Format, reason, name_fix(name, false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_corrected() {
        for (text, dots, fix) in [
            ("Demo", false, Some("demo")),
            ("my_cluster.example", false, Some("my-cluster-example")),
            ("Node_1.example", true, Some("node-1.example")),
            ("demo", false, None),
            ("...", true, None),
        ] {
            assert_eq!(corrected(text, dots).as_deref(), fix, "{text}");
        }
    }

    #[test]
    fn keys_of_labels() {
        for (key, good) in [
            ("a", true),
            ("example.com/a_b.c", true),
            ("Example.com/a", false),
            ("/a", false),
            ("a/b/c", false),
            ("-a", false),
            ("", false),
        ] {
            assert_eq!(is_key(key), good, "{key}");
        }
    }
}
