//! How long a request may take.

use std::{borrow::Cow, time::Duration};

use kube_wire::{query, status::Status};

/// The time of an ordinary request: `most`, or less when `?timeout=` says so. Zero means no wish, as
/// upstream.
///
/// # Errors
/// 400 for a `timeout` that is no duration.
pub(crate) fn of_request(query: &str, most: Duration) -> Result<Duration, Box<Status>> {
    if !query.contains("timeout") {
        return Ok(most);
    }
    let wish: Cow<'_, str> = match query::first(query, "timeout") {
        Some(wish) if !wish.is_empty() => wish,
        _ => return Ok(most),
    };
    let wish = parse(&wish).map_err(|why| Box::new(Status::invalid_timeout(&why)))?;
    Ok(if wish.is_zero() { most } else { wish.min(most) })
}

/// A duration as Go writes it (`1h2m3.5s`, `300ms`); negative ones count as zero. The error is Go's.
fn parse(text: &str) -> Result<Duration, String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let number = prefix(rest, |c| c.is_ascii_digit() || c == '.');
        let value: f64 = number.parse().map_err(|_| invalid())?;
        rest = &rest[number.len()..];
        let unit = prefix(rest, |c| !c.is_ascii_digit() && c != '.');
        rest = &rest[unit.len()..];
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {text:?}"));
        }
        let scale = scale(unit).ok_or_else(|| format!("time: unknown unit {unit:?} in duration {text:?}"))?;
        seconds += value * scale;
    }
    // Go's durations end at 292 years.
    if seconds > 9_223_372_036.0 {
        return Err(invalid());
    }
    Ok(if negative { Duration::ZERO } else { Duration::from_secs_f64(seconds) })
}

fn prefix(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    text.find(|c| !belongs(c)).map_or(text, |end| &text[..end])
}

fn scale(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOST: Duration = Duration::from_secs(60);

    fn check(query: &str, want: Result<u64, &str>) {
        let got = of_request(query, MOST);
        let got = got.as_ref().map(|d| d.as_millis() as u64).map_err(|s| s.message.as_ref());
        assert_eq!(got, want, "{query}");
    }

    #[test]
    fn timeouts_of_requests() {
        check("", Ok(60_000));
        check("watch=true", Ok(60_000));
        check("timeout=", Ok(60_000));
        check("timeout=32s", Ok(32_000));
        check("a=b&timeout=1.5s", Ok(1_500));
        check("timeout=1m0.5s", Ok(60_000));
        check("timeout=0s", Ok(60_000));
        check("timeout=0", Ok(60_000));
        check("timeout=-5s", Ok(60_000));
        check("timeout=1h", Ok(60_000));
        check("timeout=%31%30ms", Ok(10));
        check("timeoutSeconds=5", Ok(60_000));
        check("timeout=200us", Ok(0));
        const INVALID: &str = "invalid timeout specified in the request URL - time: ";
        let bad = |query, why: &str| check(query, Err(&format!("{INVALID}{why}")));
        bad("timeout=abc", "invalid duration \"abc\"");
        bad("timeout=5", "missing unit in duration \"5\"");
        bad("timeout=5x", "unknown unit \"x\" in duration \"5x\"");
        bad("timeout=-", "invalid duration \"-\"");
        bad("timeout=.s", "invalid duration \".s\"");
        bad("timeout=1s2", "missing unit in duration \"1s2\"");
        bad("timeout=99999999999999h", "invalid duration \"99999999999999h\"");
    }

    proptest! {
        #[test]
        fn nothing_makes_it_longer_or_panics(query in ".{0,40}") {
            if let Ok(time) = of_request(&query, MOST) {
                prop_assert!(time <= MOST);
            }
            let _ = of_request(&format!("timeout={query}"), MOST);
        }
    }
}
