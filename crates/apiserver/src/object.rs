//! Objects as JSON, in memory and in the store.
//!
//! An object is stored without its resource version, which is the revision of the write, and with its kind
//! and metadata first. So reading one is a matter of putting that number into bytes, not of parsing.

use bytes::{BufMut, Bytes, BytesMut};
use kube_wire::object::ObjectMeta;
use serde::Deserialize as _;
use serde_json::Value;

use crate::{
    resource::{Fields, at_path},
    storage::{Item, Revision},
};

/// An object in the version in which it is stored, as it was after a write.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The object; its metadata has no resource version.
    pub fields: Fields,
    /// The write.
    pub revision: Revision,
}

impl Stored {
    /// Reads what lies in the store.
    ///
    /// # Errors
    /// When it is no JSON object.
    pub fn read(item: &Item) -> Result<Self, serde_json::Error> {
        Ok(Self { fields: serde_json::from_slice(&item.value)?, revision: item.revision })
    }
}

/// The bytes that are stored of an object.
pub fn encode(fields: &Fields) -> Bytes {
    let mut out = BytesMut::with_capacity(256).writer();
    let (kind, api_version) = (text(fields, "kind"), text(fields, "apiVersion"));
    let head = head(kind, api_version);
    out.get_mut().put_slice(head.as_bytes());
    let mut first = true;
    let no_metadata = Fields::new();
    let metadata = fields.get("metadata").and_then(Value::as_object).unwrap_or(&no_metadata);
    for (name, value) in metadata.iter().filter(|(name, _)| *name != "resourceVersion") {
        put(out.get_mut(), &mut first, name, value);
    }
    out.get_mut().put_u8(b'}');
    let mut first = false;
    let rest = fields.iter().filter(|(name, _)| !matches!(&***name, "kind" | "apiVersion" | "metadata"));
    for (name, value) in rest {
        put(out.get_mut(), &mut first, name, value);
    }
    out.get_mut().put_u8(b'}');
    out.into_inner().freeze()
}

/// What stored bytes begin with, up to the first field of the metadata.
pub fn head(kind: &str, api_version: &str) -> String {
    format!(r#"{{"kind":{},"apiVersion":{},"metadata":{{"#, Value::from(kind), Value::from(api_version))
}

fn put(out: &mut BytesMut, first: &mut bool, name: &str, value: &Value) {
    if !std::mem::take(first) {
        out.put_u8(b',');
    }
    // A `Value` has string keys only, and memory does not refuse bytes.
    let _ = serde_json::to_writer(out.writer(), &Value::from(name));
    out.put_u8(b':');
    let _ = serde_json::to_writer(out.writer(), value);
}

/// How the bytes in the store become those of an answer in the same version.
#[derive(Clone, Debug)]
pub struct Splice {
    /// [`head`] of the stored version.
    stored_head: Box<str>,
    /// What stands there instead.
    shown_head: Box<str>,
}

impl Splice {
    /// For objects of a kind that are stored in one version and shown in another that differs in nothing
    /// else; none: the answer does not show kind and version.
    pub fn new(kind: &str, stored: &str, shown: Option<&str>) -> Self {
        let shown_head = match shown {
            Some(shown) => head(kind, shown).into_boxed_str(),
            None => r#"{"metadata":{"#.into(),
        };
        Self { stored_head: head(kind, stored).into_boxed_str(), shown_head }
    }

    /// Appends the object; false when it was stored in another version.
    pub fn put(&self, item: &[u8], revision: Revision, out: &mut BytesMut) -> bool {
        let Some(rest) = item.strip_prefix(self.stored_head.as_bytes()) else { return false };
        out.reserve(item.len() + 48);
        out.put_slice(self.shown_head.as_bytes());
        out.put_slice(br#""resourceVersion":""#);
        out.put_slice(revision.to_string().as_bytes());
        out.put_slice(if rest.first() == Some(&b'}') { b"\"" } else { b"\"," });
        out.put_slice(rest);
        true
    }
}

/// The metadata of an object.
pub fn metadata(fields: &Fields) -> ObjectMeta {
    fields.get("metadata").and_then(|value| ObjectMeta::deserialize(value).ok()).unwrap_or_default()
}

/// Changes single fields of the metadata.
pub fn edit_metadata<T>(fields: &mut Fields, edit: impl FnOnce(&mut Fields) -> T) -> T {
    let mut metadata = match fields.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Fields::new(),
    };
    let outcome = edit(&mut metadata);
    fields.insert("metadata".to_owned(), Value::Object(metadata));
    outcome
}

/// Puts metadata into an object. Whatever else stands in the old ones goes.
pub fn set_metadata(fields: &mut Fields, metadata: &ObjectMeta) {
    if let Ok(value) = serde_json::to_value(metadata) {
        fields.insert("metadata".to_owned(), value);
    }
}

/// Metadata without empty and unknown fields, as upstream writes them.
pub fn normalize_metadata(fields: &mut Fields) {
    let metadata = metadata(fields);
    set_metadata(fields, &metadata);
}

/// A text field of an object, empty when it is not there.
pub fn text<'f>(fields: &'f Fields, path: &str) -> &'f str {
    at_path(fields, path).and_then(Value::as_str).unwrap_or_default()
}

/// The object with its resource version.
pub fn with_revision(mut fields: Fields, revision: Revision) -> Fields {
    let version = revision.to_string().into();
    edit_metadata(&mut fields, |metadata| metadata.insert("resourceVersion".to_owned(), version));
    fields
}
