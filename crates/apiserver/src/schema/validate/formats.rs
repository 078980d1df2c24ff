//! `format`: what text may look like, and how wide numbers are.

mod addresses;
mod times;

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Number, Value};

use super::{super::structural::Structural, FieldError, Found, Mistake, field, json_type, sentence};
use crate::validation::names::{is_dns_label, is_dns_subdomain};

type Judge = fn(&str) -> bool;

/// Formats of text by their names without dashes; all that kube-apiserver knows.
const TEXTS: [(&str, Judge); 26] = [
    ("bsonobjectid", |text| text.len() == 24 && hexadecimal(text)),
    ("byte", base64),
    ("cidr", addresses::cidr),
    ("creditcard", credit_card),
    ("date", times::date),
    ("datetime", times::date_time),
    ("duration", times::duration),
    ("email", addresses::email),
    ("hexcolor", hex_color),
    ("hostname", addresses::hostname),
    ("ipv4", addresses::ipv4),
    ("ipv6", addresses::ipv6),
    ("isbn", |text| isbn10(text) || isbn13(text)),
    ("isbn10", isbn10),
    ("isbn13", isbn13),
    ("k8slongname", |text| is_dns_subdomain(text).is_empty()),
    ("k8sshortname", |text| is_dns_label(text).is_empty()),
    ("mac", addresses::mac),
    ("password", |_| true),
    ("rgbcolor", rgb_color),
    ("ssn", social_security_number),
    ("uri", addresses::uri),
    ("uuid", |text| uuid(text, None)),
    ("uuid3", |text| uuid(text, Some('3'))),
    ("uuid4", |text| uuid(text, Some('4'))),
    ("uuid5", |text| uuid(text, Some('5'))),
];

fn judge(format: &str) -> Option<Judge> {
    let plain = format.replace('-', "");
    TEXTS.iter().find(|(name, _)| *name == plain).map(|(_, judge)| *judge)
}

/// The format, unless it is one that nobody knows for this type.
pub(super) fn known(schema: &Structural) -> Option<&str> {
    let format = &*schema.rules.format;
    let known = match &*schema.kind {
        "integer" if !schema.int_or_string => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        "" | "string" | "integer" => judge(format).is_some(),
        _ => false,
    };
    known.then_some(format)
}

/// What Go takes a value for.
pub(super) fn width(data: &Value) -> &'static str {
    match json_type(data) {
        "integer" => "int64",
        "number" => "float64",
        _ => "",
    }
}

pub(super) fn text(text: &str, schema: &Structural, path: &str, found: &mut Found) {
    let Some(format) = known(schema) else { return };
    if judge(format).is_some_and(|judge| !judge(text)) {
        let detail = sentence(path, &format!("must be of type {format}: {text:?}"));
        let mut error = FieldError::invalid(&field(path), text, detail);
        error.mistake = Mistake::TypeInvalid;
        found.errors.push(error);
    }
}

/// Whether a number has room in its type.
pub(super) fn number(number: &Number, schema: &Structural, path: &str, found: &mut Found) {
    let format = known(schema).unwrap_or_default();
    let float = number.as_f64().unwrap_or_default();
    let room = match (&*schema.kind, format) {
        ("integer", "int32") => {
            float.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&float)
        }
        ("integer", _) => {
            number.is_i64() || (float.fract() == 0.0 && float.abs() < 9_223_372_036_854_775_808.0)
        }
        (_, "float") => float.abs() <= f64::from(f32::MAX),
        _ => true,
    };
    if !room {
        let (kind, width) = (&schema.kind, of_width(schema));
        found.general(format!("Checked value must be of type {kind} {width} in {path}"));
    }
}

/// The width that numbers of a schema have, in words.
pub(super) fn of_width(schema: &Structural) -> String {
    known(schema).map_or_else(|| "(default format)".to_owned(), |format| format!("with format {format}"))
}

fn hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Standard alphabet, padded, not empty.
fn base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let alphabet = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    !body.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(alphabet)
}

fn hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && hexadecimal(digits)
}

fn rgb_color(text: &str) -> bool {
    let inside = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')')).unwrap_or_default();
    let parts: Vec<_> = inside.split(',').map(str::trim).collect();
    let byte = |part: &&str| {
        let plain =
            part.bytes().all(|byte| byte.is_ascii_digit()) && (*part == "0" || !part.starts_with('0'));
        plain && part.parse::<u8>().is_ok()
    };
    parts.len() == 3 && parts.iter().all(byte)
}

fn social_security_number(text: &str) -> bool {
    let parts: Vec<_> = text.split(['-', ' ']).collect();
    let digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    parts.iter().map(|part| part.len()).eq([3, 2, 4]) && parts.iter().all(digits)
}

/// Dashes are optional, letters of any case. Versions 4 and 5 have a variant, too.
fn uuid(text: &str, version: Option<char>) -> bool {
    static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new("^[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{4}-?([0-9A-Fa-f])[0-9A-Fa-f]{3}-?([0-9A-Fa-f])[0-9A-Fa-f]{3}-?[0-9A-Fa-f]{12}$").ok()
    });
    let Some(parts) = FORM.as_ref().and_then(|form| form.captures(text)) else { return false };
    let of = |place: usize| parts.get(place).and_then(|part| part.as_str().chars().next());
    let variant = of(2).is_some_and(|digit| "89abAB".contains(digit));
    version.is_none_or(|version| of(1) == Some(version) && (version == '3' || variant))
}

fn compact(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '-').collect()
}

fn digit(byte: u8) -> u32 {
    u32::from(byte.wrapping_sub(b'0'))
}

fn isbn10(text: &str) -> bool {
    let text = compact(text);
    let (digits, last) = text.split_at_checked(9).unwrap_or_default();
    let last = match last {
        "X" => 10,
        other if other.len() == 1 && other.as_bytes()[0].is_ascii_digit() => digit(other.as_bytes()[0]),
        _ => return false,
    };
    let weighted = digits.bytes().zip(1..).map(|(byte, weight)| digit(byte) * weight);
    digits.bytes().all(|byte| byte.is_ascii_digit()) && (weighted.sum::<u32>() + 10 * last).is_multiple_of(11)
}

fn isbn13(text: &str) -> bool {
    let text = compact(text);
    let weighted =
        text.bytes().zip([1, 3].into_iter().cycle()).map(|(byte, weight)| digit(byte).min(9) * weight);
    let digits = text.len() == 13 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits && weighted.sum::<u32>().is_multiple_of(10)
}

/// The numbers of six companies, with a check digit.
fn credit_card(text: &str) -> bool {
    static COMPANIES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let numbers = [
            "4[0-9]{12}([0-9]{3})?",
            "5[1-5][0-9]{14}",
            "(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}",
            "6(011|5[0-9]{2})[0-9]{12}",
            "3[47][0-9]{13}",
            "3(0[0-5]|[68][0-9])[0-9]{11}",
            "(2131|1800|35[0-9]{3})[0-9]{11}",
        ];
        Regex::new(&format!("^({})$", numbers.join("|"))).ok()
    });
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let doubled = digits.bytes().rev().enumerate().map(|(place, byte)| match place % 2 {
        0 => digit(byte),
        _ => (digit(byte) * 2) / 10 + (digit(byte) * 2) % 10,
    });
    COMPANIES.as_ref().is_some_and(|companies| companies.is_match(&digits))
        && doubled.sum::<u32>().is_multiple_of(10)
}
