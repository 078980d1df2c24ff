//! Rules for names, with the sentences that say how a name breaks them. An empty list means that it keeps
//! them.

/// Longest DNS label, and longest name part of a label key.
const MAX_LABEL: usize = 63;
/// Longest DNS subdomain.
const MAX_SUBDOMAIN: usize = 253;

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// How a kind of object is named. With `prefix` the text is a `generateName`, to which something is added.
pub type NameRule = fn(name: &str, prefix: bool) -> Vec<String>;

/// A rule for names: lower-case DNS subdomain, at most 253 bytes. Most kinds have it.
pub fn dns_subdomain(name: &str, prefix: bool) -> Vec<String> {
    is_dns_subdomain(&without_trailing_dash(name, prefix))
}

/// A rule for names: lower-case DNS label, at most 63 bytes. Namespaces have it.
pub fn dns_label(name: &str, prefix: bool) -> Vec<String> {
    is_dns_label(&without_trailing_dash(name, prefix))
}

/// A rule for names: anything that can be part of a URL's path. RBAC objects have it.
pub fn path_segment(name: &str, prefix: bool) -> Vec<String> {
    if !prefix && (name == "." || name == "..") {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"]
        .iter()
        .filter(|part| name.contains(**part))
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

/// RFC 1123 label.
pub fn is_dns_label(text: &str) -> Vec<String> {
    let mut errors = too_long(text, MAX_LABEL);
    if !label(text) {
        errors.push(match subdomain(text) {
            true => "must not contain dots".to_owned(),
            false => expected(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
                LABEL,
                &["my-name", "123-abc"],
            ),
        });
    }
    errors
}

/// RFC 1035 label, which begins with a letter.
pub fn is_rfc_1035_label(text: &str) -> Vec<String> {
    let mut errors = too_long(text, MAX_LABEL);
    if !label(text) || !text.starts_with(|c: char| c.is_ascii_lowercase()) {
        errors.push(expected(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "[a-z]([-a-z0-9]*[a-z0-9])?",
            &["my-name", "abc-123"],
        ));
    }
    errors
}

/// RFC 1123 subdomain.
pub fn is_dns_subdomain(text: &str) -> Vec<String> {
    let mut errors = too_long(text, MAX_SUBDOMAIN);
    if !subdomain(text) {
        errors.push(expected(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            &format!(r"{LABEL}(\.{LABEL})*"),
            &["example.com"],
        ));
    }
    errors
}

/// The key of a label or an annotation, or the name of a finalizer: `[prefix/]name`.
pub fn is_qualified_name(text: &str) -> Vec<String> {
    const CONSIST: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    let examples = ["MyName", "my.name", "123-abc"];
    let mut errors = Vec::new();
    let name = match *text.split('/').collect::<Vec<_>>() {
        [name] => name,
        ["", name] => {
            errors.push("prefix part must be non-empty".to_owned());
            name
        }
        [prefix, name] => {
            errors.extend(is_dns_subdomain(prefix).into_iter().map(|error| format!("prefix part {error}")));
            name
        }
        _ => {
            let form = expected(CONSIST, KEY, &examples);
            let optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {form} {optional}")];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    }
    errors.extend(too_long(name, MAX_LABEL).into_iter().map(|error| format!("name part {error}")));
    if !key(name) {
        errors.push(format!("name part {}", expected(CONSIST, KEY, &examples)));
    }
    errors
}

/// The value of a label.
pub fn is_label_value(text: &str) -> Vec<String> {
    let mut errors = too_long(text, MAX_LABEL);
    if !text.is_empty() && !key(text) {
        errors.push(expected(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            &format!("({KEY})?"),
            &["MyValue", "my_value", "12345"],
        ));
    }
    errors
}

fn label(text: &str) -> bool {
    let inside = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    text.bytes().all(|byte| inside(&byte)) && ends_well(text)
}

fn subdomain(text: &str) -> bool {
    text.split('.').all(label)
}

fn key(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) && ends_well(text)
}

/// Neither empty nor with punctuation at an end.
fn ends_well(text: &str) -> bool {
    let ends = (text.bytes().next(), text.bytes().next_back());
    matches!(ends, (Some(first), Some(last)) if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric())
}

/// A `generateName` may end with a dash, because more follows.
fn without_trailing_dash(name: &str, prefix: bool) -> String {
    match name.strip_suffix('-') {
        Some(rest) if prefix && !rest.is_empty() => format!("{rest}a"),
        _ => name.to_owned(),
    }
}

fn too_long(text: &str, max: usize) -> Vec<String> {
    if text.len() > max { vec![format!("must be no more than {max} bytes")] } else { Vec::new() }
}

fn expected(sentence: &str, expression: &str, examples: &[&str]) -> String {
    let examples: Vec<_> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{sentence} (e.g. {}regex used for validation is '{expression}')", examples.join(" or "))
}
