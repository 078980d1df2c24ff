//! How long ago something was, as kubectl writes it.

/// A span in at most two units, for example `45s`, `3m20s`, `5d4h`.
pub fn span(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    let two = |large: i64, unit: &str, small: i64, part: &str| match small {
        0 => format!("{large}{unit}"),
        small => format!("{large}{unit}{small}{part}"),
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if seconds < 10 * MINUTE => two(seconds / MINUTE, "m", seconds % MINUTE, "s"),
        _ if seconds < 3 * HOUR => format!("{}m", seconds / MINUTE),
        _ if seconds < 8 * HOUR => two(seconds / HOUR, "h", seconds / MINUTE % 60, "m"),
        _ if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        _ if seconds < 8 * DAY => two(seconds / DAY, "d", seconds / HOUR % 24, "h"),
        _ if seconds < 2 * 365 * DAY => format!("{}d", seconds / DAY),
        _ if seconds < 8 * 365 * DAY => two(seconds / DAY / 365, "y", seconds / DAY % 365, "d"),
        _ => format!("{}y", seconds / DAY / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn spans_are_those_of_kubectl() {
        let expected = [
            (-2, "<invalid>"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (10_860, "3h1m"),
            (172_799, "47h"),
            (172_800, "2d"),
            (176_400, "2d1h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
            (63_158_400, "2y1d"),
            (252_288_000, "8y"),
        ];
        for (seconds, text) in expected {
            assert_eq!(span(seconds), text, "{seconds}");
        }
    }
}
