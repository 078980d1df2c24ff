//! A discovery document that is kept as JSON, and in other encodings from when the first client asked.

use std::sync::OnceLock;

use kube_wire::{Encoding, discovery};

use crate::Document;

/// A document with its encodings.
#[derive(Debug)]
pub(crate) struct Encoded {
    json: Document,
    pretty: OnceLock<Option<Document>>,
    yaml: OnceLock<Option<Document>>,
    protobuf: OnceLock<Option<Document>>,
}

impl Encoded {
    pub(crate) fn new(json: Document) -> Self {
        Self { json, pretty: OnceLock::new(), yaml: OnceLock::new(), protobuf: OnceLock::new() }
    }

    pub(crate) fn json(&self) -> &Document {
        &self.json
    }

    /// The document in this encoding; none when what a server gave cannot be written in it.
    pub(crate) fn encoding(&self, encoding: Encoding) -> Option<&Document> {
        let place = match encoding {
            Encoding::Json => return Some(&self.json),
            Encoding::JsonPretty => &self.pretty,
            Encoding::Yaml => &self.yaml,
            Encoding::Protobuf => &self.protobuf,
        };
        place.get_or_init(|| self.make(encoding)).as_ref()
    }

    fn make(&self, encoding: Encoding) -> Option<Document> {
        let body = discovery::encode(&self.json.body, encoding)?;
        Some(Document::new(body, content_type(self.json.content_type, encoding)))
    }
}

/// The type of a document whose JSON form has the type `json`.
fn content_type(json: &str, encoding: Encoding) -> &'static str {
    match (encoding, json == Document::AGGREGATED) {
        (_, false) => encoding.content_type(),
        (Encoding::Json | Encoding::JsonPretty, true) => Document::AGGREGATED,
        (Encoding::Yaml, true) => Document::AGGREGATED_YAML,
        (Encoding::Protobuf, true) => Document::AGGREGATED_PROTOBUF,
    }
}
