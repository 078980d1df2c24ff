//! Limits, and what the server says of itself.

use std::time::Duration;

use serde::Serialize;

use crate::decode::MAX_BODY;

/// What clients may cost. The defaults are upstream's.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a request's body.
    pub max_body: usize,
    /// Reading requests in flight, without watches.
    pub max_in_flight: usize,
    /// Writing requests in flight.
    pub max_mutating_in_flight: usize,
    /// Watches at a time.
    pub max_watches: usize,
    /// Until an ordinary request must be over.
    pub request_timeout: Duration,
    /// Shortest time that a watch lasts which names no time; the longest is twice this.
    pub min_watch: Duration,
    /// How often a watch says how far it is.
    pub bookmark_interval: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body: MAX_BODY,
            max_in_flight: 400,
            max_mutating_in_flight: 200,
            max_watches: 20_000,
            request_timeout: Duration::from_secs(60),
            min_watch: Duration::from_secs(1800),
            bookmark_interval: Duration::from_secs(60),
        }
    }
}

/// What `/version` says. Clients read all of these fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionInfo {
    /// For example `1`.
    pub major: String,
    /// For example `37`.
    pub minor: String,
    /// For example `v1.37.0`.
    pub git_version: String,
    /// A commit, or empty.
    pub git_commit: String,
    /// `clean` or `dirty`.
    pub git_tree_state: String,
    /// RFC 3339.
    pub build_date: String,
    /// The compiler; Go's version upstream.
    pub go_version: String,
    /// The compiler's name.
    pub compiler: String,
    /// For example `linux/amd64`.
    pub platform: String,
}

impl Default for VersionInfo {
    /// The version of the API that this library speaks.
    fn default() -> Self {
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        Self {
            major: "1".to_owned(),
            minor: "37".to_owned(),
            git_version: concat!("v1.37.0+trellis-", env!("CARGO_PKG_VERSION")).to_owned(),
            git_commit: String::new(),
            git_tree_state: "clean".to_owned(),
            build_date: "1970-01-01T00:00:00Z".to_owned(),
            go_version: "none".to_owned(),
            compiler: "rustc".to_owned(),
            platform: format!("{}/{architecture}", std::env::consts::OS),
        }
    }
}

/// A span of time as Go writes it: `5s`, `1m30s`, `1.5h`.
///
/// # Errors
/// With Go's sentence.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    let mut seconds = 0.0_f64;
    if rest.is_empty() {
        return Err(invalid());
    }
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(|| format!("time: missing unit in duration {text:?}"))?;
        let number: f64 = rest[..end].parse().map_err(|_| invalid())?;
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit = match &rest[..end] {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            unit => return Err(format!("time: unknown unit {unit:?} in duration {text:?}")),
        };
        seconds += number * unit;
        rest = &rest[end..];
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        let good = [("5s", 5.0), ("1m30s", 90.0), ("1.5h", 5400.0), ("0", 0.0), ("250ms", 0.25)];
        for (text, seconds) in good {
            assert_eq!(duration(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        let bad = [
            ("abc", "time: invalid duration \"abc\""),
            ("5", "time: missing unit in duration \"5\""),
            ("", "time: invalid duration \"\""),
            ("5d", "time: unknown unit \"d\" in duration \"5d\""),
        ];
        for (text, sentence) in bad {
            assert_eq!(duration(text), Err(sentence.to_owned()), "{text}");
        }
    }
}
