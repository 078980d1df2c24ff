//! The encodings of objects.

use crate::accept;

/// How an object is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// One line, with a line feed at the end.
    Json,
    /// Indented by two spaces.
    JsonPretty,
    /// YAML, keys in alphabetical order.
    Yaml,
    /// Kubernetes' protobuf envelope.
    Protobuf,
}

impl Encoding {
    /// The value for `Content-Type`.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Json | Self::JsonPretty => accept::JSON,
            Self::Yaml => accept::YAML,
            Self::Protobuf => accept::PROTOBUF,
        }
    }
}
