//! Answers: objects, lists, tables and metadata, in the encodings that clients take.

mod age;
mod served;
mod table;

use http::{HeaderMap, header};
use kube_wire::{
    Encoding, Reason, Status, StatusDetails,
    accept::{self, JSON, Offer, Target, YAML},
    query,
    table::IncludeObject,
};

pub use age::span;
pub use served::Served;

/// What an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The objects.
    Objects,
    /// A table of this version of `meta.k8s.io`, with this much of the object in each row.
    Table(&'static str, IncludeObject),
    /// The metadata of the objects, in this version of `meta.k8s.io`.
    Metadata(&'static str),
}

/// What a client wants to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// What the answer holds.
    pub shape: Shape,
    /// How it is written.
    pub encoding: Encoding,
}

const META: &str = "meta.k8s.io";

const fn offer(media_type: &'static str, kind: &'static str, version: &'static str) -> Offer<'static> {
    let target = Target { group: META, version, kind };
    Offer { media_type, target: Some(target), stream: true }
}

const fn own(media_type: &'static str) -> Offer<'static> {
    Offer { media_type, target: None, stream: true }
}

/// Objects, then tables, then metadata; JSON before YAML, two by two.
const OFFERS: [Offer<'_>; 14] = [
    own(JSON),
    own(YAML),
    offer(JSON, "Table", "v1"),
    offer(YAML, "Table", "v1"),
    offer(JSON, "Table", "v1beta1"),
    offer(YAML, "Table", "v1beta1"),
    offer(JSON, "PartialObjectMetadata", "v1"),
    offer(YAML, "PartialObjectMetadata", "v1"),
    offer(JSON, "PartialObjectMetadata", "v1beta1"),
    offer(YAML, "PartialObjectMetadata", "v1beta1"),
    offer(JSON, "PartialObjectMetadataList", "v1"),
    offer(YAML, "PartialObjectMetadataList", "v1"),
    offer(JSON, "PartialObjectMetadataList", "v1beta1"),
    offer(YAML, "PartialObjectMetadataList", "v1beta1"),
];

impl Wish {
    /// Reads `Accept`, `includeObject` and `pretty`.
    ///
    /// # Errors
    /// 406 when nothing fits.
    pub fn negotiate(headers: &HeaderMap, request_query: &str) -> Result<Self, Status> {
        let header = accept_header(headers);
        let chosen = accept::parse(&header).choose_clause(&OFFERS);
        let (place, clause) = chosen.ok_or_else(|| not_acceptable(&header))?;
        let table = |version| {
            let word = query::first(request_query, "includeObject").unwrap_or_default();
            IncludeObject::parse(&word).map(|include| Shape::Table(version, include)).ok_or_else(|| {
                Status::bad_request(format!(
                    "Unable to convert to Table as requested: includeObject: Invalid value: {word:?}: must be 'Metadata', 'Object', 'None', or empty"
                ))
            })
        };
        let shape = match place / 2 {
            0 => Shape::Objects,
            1 => table("v1")?,
            2 => table("v1beta1")?,
            3 | 5 => Shape::Metadata("v1"),
            _ => Shape::Metadata("v1beta1"),
        };
        let pretty = clause.is_some_and(|clause| clause.pretty()) || is_pretty(headers, request_query);
        let encoding = match (place % 2, pretty) {
            (0, false) => Encoding::Json,
            (0, true) => Encoding::JsonPretty,
            _ => Encoding::Yaml,
        };
        Ok(Self { shape, encoding })
    }

    /// As [`Wish::negotiate`], for a watch, which is JSON line by line.
    ///
    /// # Errors
    /// 406 when nothing fits.
    pub fn negotiate_watch(headers: &HeaderMap, request_query: &str) -> Result<Self, Status> {
        let wish = Self::negotiate(headers, request_query)?;
        match wish.encoding {
            Encoding::Json | Encoding::JsonPretty => Ok(Self { encoding: Encoding::Json, ..wish }),
            _ => Err(Status::not_acceptable_among(&["application/json;stream=watch"])),
        }
    }
}

/// Whether a person reads the answer.
pub(crate) fn is_pretty(headers: &HeaderMap, request_query: &str) -> bool {
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    accept::pretty(request_query, agent)
}

/// The `Accept` header, its lines joined.
pub(crate) fn accept_header(headers: &HeaderMap) -> String {
    let lines: Vec<_> =
        headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok()).collect();
    lines.join(",")
}

fn not_acceptable(header: &str) -> Status {
    // Two judges upstream: one knows encodings only, the other what an answer can be made into.
    if accept::parse(header).clauses().any(|clause| is_written(&clause)) {
        return Status::not_acceptable_among(&[JSON, YAML]);
    }
    const MESSAGE: &str =
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml";
    Status::failure(406, Reason::NotAcceptable, MESSAGE).with_details(StatusDetails::default())
}

/// Whether the clause takes JSON or YAML, whatever it wants to see in it.
fn is_written(clause: &accept::Clause<'_>) -> bool {
    matches!((clause.kind, clause.subtype), ("*", _) | ("application", "*" | "json" | "yaml"))
}

/// JSON in this encoding.
pub(crate) fn encoded(json: Vec<u8>, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Json => {
            let mut line = json;
            if line.last() != Some(&b'\n') {
                line.push(b'\n');
            }
            line
        }
        other => kube_wire::discovery::encode(&json, other).unwrap_or(json),
    }
}
