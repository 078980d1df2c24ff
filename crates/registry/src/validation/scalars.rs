//! Names, durations and ranges.

use std::time::Duration;

use serde_json::Value;

use super::Problems;

/// Longest DNS subdomain.
const SUBDOMAIN_LENGTH: usize = 253;
/// Longest DNS label.
const LABEL_LENGTH: usize = 63;

/// Why `name` is no RFC 1123 subdomain, if it is none.
pub(crate) fn subdomain_problem(name: &str) -> Option<&'static str> {
    if name.len() > SUBDOMAIN_LENGTH {
        return Some("must be no more than 253 characters");
    }
    if name.split('.').all(is_label_of_any_length) {
        return None;
    }
    Some(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    )
}

/// Why `name` is no RFC 1035 label, if it is none.
pub(crate) fn dns_1035_problem(name: &str) -> Option<&'static str> {
    let fits = name.len() <= LABEL_LENGTH
        && is_label_of_any_length(name)
        && name.starts_with(|first: char| first.is_ascii_lowercase());
    (!fits).then_some(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    )
}

/// Why `name` is no RFC 1123 label, if it is none.
pub(crate) fn label_problem(name: &str) -> Option<&'static str> {
    let fits = name.len() <= LABEL_LENGTH && is_label_of_any_length(name);
    (!fits).then_some(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    )
}

fn is_label_of_any_length(label: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !label.is_empty() && label.chars().all(inner) && !label.starts_with('-') && !label.ends_with('-')
}

/// A duration as Go writes it: `1m30s`, `500ms`, `1.5h`.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut rest = text;
    let mut total = 0.0_f64;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let amount: f64 = rest[..number].parse().ok()?;
        rest = &rest[number..];
        let unit = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        total += amount * unit_seconds(&rest[..unit])?;
        rest = &rest[unit..];
    }
    (!text.is_empty()).then(|| Duration::try_from_secs_f64(total).ok()).flatten()
}

fn unit_seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "h" => 3600.0,
        "m" => 60.0,
        "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    })
}

/// `value`, when it lies within `range`; reported otherwise.
pub(crate) fn within(
    field: &str,
    value: i64,
    range: std::ops::RangeInclusive<i64>,
    problems: &mut Problems,
) -> Option<i64> {
    if range.contains(&value) {
        return Some(value);
    }
    let reason = format!("must be between {} and {}", range.start(), range.end());
    problems.invalid(field, &Value::from(value), reason);
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_writes_them() {
        let cases = [
            ("5s", Some(5_000)),
            ("1m30s", Some(90_000)),
            ("500ms", Some(500)),
            ("1.5h", Some(5_400_000)),
            ("0", Some(0)),
            ("", None),
            ("5", None),
            ("s", None),
            ("5x", None),
            ("-5s", None),
            ("1..5s", None),
        ];
        for (text, milliseconds) in cases {
            assert_eq!(parse_duration(text).map(|d| d.as_millis()), milliseconds, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_upsets_the_duration_parser(text in ".{0,40}") {
            let _ = parse_duration(&text);
        }
    }
}
