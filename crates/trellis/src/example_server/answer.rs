//! Answers: notes as objects, tables or metadata; failures as `Status`.

use bytes::{BufMut, Bytes, BytesMut};
use catalog::Body;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use kube_wire::{
    Accept, Encoding, Status,
    accept::{self, Offer, Target},
    query,
    table::IncludeObject,
};
use serde_json::{Value, json};

use super::{
    note::{API_VERSION, KIND},
    store::Stored,
    table,
};

/// The form of an answer about notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The notes themselves.
    Objects,
    /// `Table`, in this version of `meta.k8s.io`, each row with this much of its note.
    Table(&'static str, IncludeObject),
    /// `PartialObjectMetadata`.
    Metadata,
}

impl Shape {
    /// The form that the client prefers; 406 when it takes no JSON.
    pub(super) fn negotiate(headers: &HeaderMap, request_query: &str) -> Result<Self, Status> {
        const fn meta(version: &'static str, kind: &'static str) -> Offer<'static> {
            let target = Target { group: "meta.k8s.io", version, kind };
            Offer { media_type: accept::JSON, target: Some(target), stream: true }
        }
        const OFFERS: [Offer<'_>; 5] = [
            Offer { media_type: accept::JSON, target: None, stream: true },
            meta("v1", "Table"),
            meta("v1beta1", "Table"),
            meta("v1", "PartialObjectMetadata"),
            meta("v1", "PartialObjectMetadataList"),
        ];
        let header = joined(headers);
        let include = || {
            let word = query::first(request_query, "includeObject").unwrap_or_default();
            IncludeObject::parse(&word).ok_or_else(|| {
                Status::bad_request(format!("includeObject: {word:?} is none of None, Metadata, Object"))
            })
        };
        match accept::parse(&header).choose(&OFFERS) {
            Some(0) => Ok(Self::Objects),
            Some(1) => Ok(Self::Table("v1", include()?)),
            Some(2) => Ok(Self::Table("v1beta1", include()?)),
            Some(_) => Ok(Self::Metadata),
            None => Err(Status::not_acceptable_among(&[accept::JSON])),
        }
    }

    /// One note in this form; `columns` says whether a table names its columns.
    pub(super) fn one(self, note: &Stored, columns: bool) -> Bytes {
        match self {
            Self::Objects => note.json.clone(),
            Self::Metadata => encode(&metadata_only(&note.value)),
            Self::Table(version, include) => {
                let mut table = table::table(version, note.revision, [&note.value], include);
                if !columns {
                    table.column_definitions.clear();
                }
                encode(&json!(table))
            }
        }
    }

    /// A list in this form.
    pub(super) fn list<'a>(self, revision: u64, notes: impl Iterator<Item = &'a Stored>) -> Bytes {
        match self {
            Self::Objects => {
                let head = format!(
                    r#"{{"kind":"{KIND}List","apiVersion":"{API_VERSION}","metadata":{{"resourceVersion":"{revision}"}},"items":["#
                );
                joined_objects(head, notes)
            }
            Self::Metadata => encode(&json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": { "resourceVersion": revision.to_string() },
                "items": notes.map(|note| metadata_only(&note.value)).collect::<Vec<_>>(),
            })),
            Self::Table(version, include) => {
                encode(&json!(table::table(version, revision, notes.map(|note| &note.value), include)))
            }
        }
    }
}

/// The list is put together from what each note was serialised to when it was written.
fn joined_objects<'a>(head: String, notes: impl Iterator<Item = &'a Stored>) -> Bytes {
    let mut body = BytesMut::from(head.as_bytes());
    for (index, note) in notes.enumerate() {
        if index > 0 {
            body.put_u8(b',');
        }
        body.put(&note.json[..]);
    }
    body.put(&b"]}"[..]);
    body.freeze()
}

/// A note's metadata, as `PartialObjectMetadata`.
pub(super) fn metadata_only(note: &Value) -> Value {
    json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": note["metadata"] })
}

/// JSON of a value; a `Value` has only string keys, so this cannot fail.
pub(super) fn encode(value: &Value) -> Bytes {
    value.to_string().into()
}

/// A whole body.
pub(super) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// An answer with a JSON body.
pub(super) fn json_answer(code: StatusCode, body: Bytes) -> Response<Body> {
    typed_answer(code, HeaderValue::from_static("application/json"), body)
}

/// An answer with a body of this type.
pub(super) fn typed_answer(code: StatusCode, content_type: HeaderValue, body: Bytes) -> Response<Body> {
    let mut response = Response::new(full(body));
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// A failure, in the encoding that the client takes.
pub(super) fn failure(status: &Status, headers: &HeaderMap) -> Response<Body> {
    let encoding = match joined(headers) {
        header if header.is_empty() => Encoding::Json,
        header => accept::negotiate_status(accept::parse(&header)),
    };
    let code = StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let content_type = HeaderValue::from_static(encoding.content_type());
    let mut response = typed_answer(code, content_type, kube_wire::status::encode(status, encoding).into());
    if let Some(seconds) = status.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// Puts warnings into an answer, in the form that kubectl shows.
pub(super) fn warn(response: &mut Response<Body>, warnings: &[String]) {
    for warning in warnings {
        let text = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{text}\"")) {
            response.headers_mut().append(header::WARNING, value);
        }
    }
}

/// The `Accept` header, its lines joined.
pub(super) fn joined(headers: &HeaderMap) -> String {
    let lines: Vec<&str> =
        headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok()).collect();
    lines.join(",")
}

/// Whether the client wants aggregated discovery.
pub(super) fn discovery_form(headers: &HeaderMap) -> accept::Discovery {
    let header = joined(headers);
    let accept: Accept<'_> = accept::parse(&header);
    accept::discovery(accept)
}
