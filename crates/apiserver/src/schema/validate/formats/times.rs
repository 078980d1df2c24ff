//! Dates, times and spans.

use std::sync::LazyLock;

use regex::Regex;

use crate::service::duration as go_duration;

/// `2026-01-31`.
pub(super) fn date(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    let [year, month, day] = *parts else { return false };
    let digits = |part: &str, length: usize| part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
    if !(digits(year, 4) && digits(month, 2) && digits(day, 2)) {
        return false;
    }
    let number = |part: &str| part.parse::<u32>().unwrap_or_default();
    let leap = number(year).is_multiple_of(4)
        && (!number(year).is_multiple_of(100) || number(year).is_multiple_of(400));
    let days = match number(month) {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&number(day))
}

/// RFC 3339, with letters of any case.
pub(super) fn date_time(text: &str) -> bool {
    static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new("^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})$").ok()
    });
    let lower = text.to_lowercase();
    // What follows a second `t` is not looked at, as upstream.
    let mut parts = lower.split('t');
    let (Some(day), Some(time)) = (parts.next(), parts.next()) else { return false };
    date(day) && TIME.as_ref().is_some_and(|form| form.is_match(time))
}

/// As Go writes a span, or anything in which a number with a unit stands, such as `3 days`.
pub(super) fn duration(text: &str) -> bool {
    static PART: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[0-9]+\s*([A-Za-zµ]+)").ok());
    const UNITS: [&str; 12] = ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk", "day"];
    const LONG: [&str; 8] = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
    if go_duration(text.strip_prefix('-').unwrap_or(text)).is_ok() {
        return true;
    }
    let Some(part) = &*PART else { return false };
    part.captures_iter(text).any(|found| {
        let unit = found.get(1).map(|unit| unit.as_str().to_lowercase()).unwrap_or_default();
        UNITS.contains(&&*unit) || LONG.iter().any(|long| unit.starts_with(long))
    })
}
