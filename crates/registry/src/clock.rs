//! Time, as the Kubernetes API writes it: RFC 3339 in UTC, whole seconds.

use std::time::{SystemTime, UNIX_EPOCH};

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Seconds since the Unix epoch.
pub(crate) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_secs()).ok())
        .unwrap_or(0)
}

/// `seconds` since the Unix epoch as text.
pub(crate) fn format(seconds: i64) -> String {
    OffsetDateTime::from_unix_timestamp(seconds)
        .ok()
        .and_then(|time| time.format(&Rfc3339).ok())
        .unwrap_or_default()
}

/// Seconds since the Unix epoch, from text.
pub(crate) fn parse(text: &str) -> Option<i64> {
    OffsetDateTime::parse(text, &Rfc3339).ok().map(OffsetDateTime::unix_timestamp)
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_survive_being_written_and_read() {
        for seconds in [0, 1, 951_782_400, 1_796_000_000] {
            assert_eq!(super::parse(&super::format(seconds)), Some(seconds));
        }
        assert_eq!(super::format(1_796_000_000), "2026-11-30T06:13:20Z");
        assert_eq!(super::parse("yesterday"), None);
    }
}
