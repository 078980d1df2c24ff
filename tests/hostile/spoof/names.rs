//! Header names that somebody may take for an identity header.

use crate::random::Random;

const PROTECTED: &[&str] = &[
    "X-Remote-User",
    "X-Remote-Group",
    "X-Remote-Uid",
    "X-Remote-Extra-Scopes",
    "X-Remote-Extra-Example.com%2fRole",
    "X-Remote",
    "Impersonate-User",
    "Impersonate-Group",
    "Impersonate-Uid",
    "Impersonate-Extra-Scopes",
    "Authorization",
    "Proxy-Authorization",
    "Proxy",
];

/// What separates words for a server that folds names; all of them may stand in a name.
const SEPARATORS: &[&str] =
    &["-", "_", ".", "~", "!", "#", "$", "&", "'", "*", "+", "^", "`", "|", "--", "-_", "_."];

/// Values that would be worth something.
pub(crate) const VALUES: &[&str] = &[
    "evil",
    "system:masters",
    "system:admin",
    "system:serviceaccount:kube-system:default",
    "root",
    "alice,evil",
];

/// A name as it stands.
pub(crate) fn exact(random: &mut Random) -> String {
    random.pick(PROTECTED).to_owned()
}

/// A name near a protected one: other case, other separators, escapes, more of each, in any mixture.
pub(crate) fn near(random: &mut Random) -> String {
    let mut name = exact(random);
    for _ in 0..random.below(5) {
        let at = random.below(name.len());
        let one = name[at..=at].to_owned();
        let replacement = match random.below(7) {
            0 => one.to_ascii_uppercase(),
            1 => one.to_ascii_lowercase(),
            2 => format!("%{:02x}", one.as_bytes()[0]),
            3 => format!("%25{:02X}", one.as_bytes()[0]),
            4 => format!("{one}{}", random.pick(SEPARATORS)),
            5 if !one.as_bytes()[0].is_ascii_alphanumeric() && one != "%" => {
                random.pick(SEPARATORS).to_owned()
            }
            _ => format!("{}{one}", random.pick(SEPARATORS)),
        };
        name.replace_range(at..=at, &replacement);
    }
    match random.below(12) {
        0 => format!("{}{name}", random.pick(SEPARATORS)),
        1 => format!("{name}{}", random.pick(SEPARATORS)),
        2 => name.replace('-', "_"),
        3 => name.to_ascii_uppercase(),
        4 => name.to_ascii_lowercase(),
        5 => name.replace('-', "%2d"),
        6 => name.replace('-', random.pick(SEPARATORS)),
        _ => name,
    }
}

/// As CGI folds it, without runs of separators: what a careless server may make of a name.
pub(crate) fn folded(name: &str) -> String {
    let mut folded = String::new();
    for byte in name.bytes() {
        match byte.is_ascii_alphanumeric() {
            true => folded.push(byte.to_ascii_uppercase().into()),
            false if folded.ends_with('_') || folded.is_empty() => {}
            false => folded.push('_'),
        }
    }
    folded
}

/// The same for a server that decodes escapes first, as often as there are any.
pub(crate) fn decoded(name: &str) -> String {
    let mut name = name.to_owned();
    loop {
        let next = decode_once(&name);
        if next == name {
            return folded(&name);
        }
        name = next;
    }
}

fn decode_once(name: &str) -> String {
    let bytes = name.as_bytes();
    let (mut decoded, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let escape = (bytes[at] == b'%').then(|| name.get(at + 1..at + 3)).flatten();
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Whether the door must refuse a request with this header from who may not impersonate, instead of
/// leaving the header out.
pub(crate) fn asks_to_impersonate(name: &str) -> bool {
    let folded = folded(name);
    folded == "IMPERSONATE" || folded.starts_with("IMPERSONATE_")
}

/// Whether the name is `Authorization` itself, which belongs to its sender.
pub(crate) fn is_authorization(name: &str) -> bool {
    name.eq_ignore_ascii_case("authorization")
}
