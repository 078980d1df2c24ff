//! The encodings of a `Status`.

use serde::Serialize;

use super::{Outcome, Status, StatusDetails, protobuf};
use crate::{Encoding, yaml};

/// The fields in upstream's order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    kind: &'a str,
    api_version: &'a str,
    metadata: Empty,
    status: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a StatusDetails>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
}

#[derive(Serialize)]
struct Empty {}

impl Outcome {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Success => "Success",
            Self::Failure => "Failure",
        }
    }
}

impl Status {
    /// The code as the object carries it: upstream's `Success` has none.
    pub(super) fn written_code(&self) -> Option<u16> {
        (self.outcome == Outcome::Failure).then_some(self.code)
    }

    /// This status in the given encoding.
    pub fn encode(&self, encoding: Encoding) -> Vec<u8> {
        encode(self, encoding)
    }
}

/// A status in the given encoding.
pub fn encode(status: &Status, encoding: Encoding) -> Vec<u8> {
    let wire = Wire {
        kind: "Status",
        api_version: "v1",
        metadata: Empty {},
        status: status.outcome.as_str(),
        message: &status.message,
        reason: status.reason.as_str(),
        details: status.details.as_ref(),
        code: status.written_code(),
    };
    match encoding {
        Encoding::Json => {
            let mut line = html_safe(&serde_json::to_vec(&wire).unwrap_or_default());
            line.push(b'\n');
            line
        }
        Encoding::JsonPretty => html_safe(&serde_json::to_vec_pretty(&wire).unwrap_or_default()),
        Encoding::Yaml => yaml::document(&serde_json::to_value(&wire).unwrap_or_default()).into_bytes(),
        Encoding::Protobuf => protobuf::envelope(status),
    }
}

/// Escapes what a browser could take for markup, as Go's encoder does. In JSON these characters stand
/// in strings only.
fn html_safe(json: &[u8]) -> Vec<u8> {
    let mut safe = Vec::with_capacity(json.len() + 16);
    for byte in json {
        match byte {
            b'<' => safe.extend_from_slice(b"\\u003c"),
            b'>' => safe.extend_from_slice(b"\\u003e"),
            b'&' => safe.extend_from_slice(b"\\u0026"),
            other => safe.push(*other),
        }
    }
    safe
}
