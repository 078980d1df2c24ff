//! Lengths of time as people write them.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// A length of time: a whole number with a unit, `500ms`, `30s`, `5m` or `1h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Period(pub(crate) Duration);

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

impl FromStr for Period {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong =
            || format!("`{text}` is no length of time: write a number and ms, s, m or h, for instance 30s");
        let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, unit) = text.split_at(digits);
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
        let millis = number.checked_mul(*factor).ok_or_else(wrong)?;
        Ok(Self(Duration::from_millis(millis)))
    }
}

impl TryFrom<String> for Period {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Period> for String {
    fn from(period: Period) -> Self {
        period.to_string()
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        let (unit, factor) = UNITS
            .iter()
            .rev()
            .find(|(_, factor)| millis != 0 && millis.is_multiple_of(*factor))
            .unwrap_or(&UNITS[1]);
        write!(f, "{}{unit}", millis / factor)
    }
}

impl schemars::JsonSchema for Period {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Period".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A length of time: a whole number and ms, s, m or h.",
            "pattern": "^[0-9]+(ms|s|m|h)$",
            "examples": ["30s", "5m"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes() {
        for (text, millis) in [("500ms", 500), ("30s", 30_000), ("5m", 300_000), ("1h", 3_600_000), ("0s", 0)]
        {
            let period: Period = text.parse().expect(text);
            assert_eq!(period.0.as_millis(), millis, "{text}");
            assert_eq!(period.to_string(), text);
        }
    }

    #[test]
    fn refuses_what_is_no_time() {
        for text in
            ["", "30", "s", "-1s", "1.5s", "30 s", "1d", "99999999999999999999s", "18446744073709551615h"]
        {
            assert!(text.parse::<Period>().is_err(), "{text}");
        }
    }
}
