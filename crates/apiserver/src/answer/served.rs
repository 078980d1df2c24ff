//! One version of a resource, ready to answer.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bytes::{BufMut, Bytes, BytesMut};
use kube_wire::{Status, object::ListMeta};
use serde_json::{Value, json};

use super::{Shape, table};
use crate::{
    engine::{Listed, Verb, unreadable},
    object::{Splice, Stored, with_revision},
    resource::{Definition, Fields, Version},
    storage::{Event, Item, Revision},
};

/// A version of a resource with what is made once for all its answers.
#[derive(Clone)]
pub struct Served {
    definition: Arc<Definition>,
    version: usize,
    api_version: String,
    /// For single objects.
    object: Splice,
    /// For items of lists.
    item: Splice,
    /// Unlike that of any other value in this process.
    id: u64,
}

impl Served {
    /// This version, by its place in the definition; the first for a place that is none.
    pub fn new(definition: Arc<Definition>, version: usize) -> Self {
        let version = if version < definition.versions.len() { version } else { 0 };
        let own = &definition.versions[version];
        let (api_version, stored) =
            (definition.api_version(own), definition.api_version(definition.stored_version()));
        let kind = &definition.names.kind;
        let object = Splice::new(kind, &stored, Some(&api_version));
        let item = Splice::new(kind, &stored, definition.unstructured.then_some(&*api_version));
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { version, api_version, object, item, id, definition }
    }

    /// The resource.
    pub fn definition(&self) -> &Arc<Definition> {
        &self.definition
    }

    /// The version.
    pub fn version(&self) -> &Version {
        &self.definition.versions[self.version]
    }

    /// `group/version`.
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// A number for this version in this shape, by which events that are encoded already are found; none
    /// for tables, which show how old things are.
    pub fn form_id(&self, shape: Shape) -> Option<u64> {
        match shape {
            Shape::Objects => Some(self.id * 4),
            Shape::Metadata("v1") => Some(self.id * 4 + 1),
            Shape::Metadata(_) => Some(self.id * 4 + 2),
            Shape::Table(..) => None,
        }
    }

    /// One object, as it lies in the store, in the shape that is wanted.
    ///
    /// # Errors
    /// When it cannot be read or converted.
    pub fn one(&self, item: &Item, shape: Shape) -> Result<Bytes, Status> {
        if shape == Shape::Objects && self.version().conversion.is_none() {
            let mut out = BytesMut::new();
            if self.object.put(&item.value, item.revision, &mut out) {
                return Ok(out.freeze());
            }
        }
        self.shaped(self.read(&item.value, item.revision)?, shape, true)
    }

    /// One object that was read or made.
    ///
    /// # Errors
    /// When it cannot be converted.
    pub fn stored(&self, object: Stored, shape: Shape) -> Result<Bytes, Status> {
        let fields = self.definition.of_stored(self.version(), object.fields)?;
        let fields = match object.revision {
            // Nothing was written.
            Revision(0) => fields,
            revision => with_revision(fields, revision),
        };
        self.shaped(fields, shape, true)
    }

    /// A list.
    ///
    /// # Errors
    /// When an object cannot be read or converted.
    pub fn list(&self, listed: &Listed, shape: Shape) -> Result<Bytes, Status> {
        let metadata = ListMeta {
            resource_version: listed.revision.to_string(),
            continue_token: listed.continue_token.clone(),
            remaining_item_count: listed.remaining.and_then(|count| i64::try_from(count).ok()),
        };
        match shape {
            Shape::Objects => self.objects(listed, &metadata),
            Shape::Table(version, include) => {
                let columns = &self.version().columns;
                let mut whole = table::empty(version, columns, metadata);
                for entry in &listed.entries {
                    let object = self.read(&entry.item.value, entry.item.revision)?;
                    whole.rows.push(table::row(version, columns, include, object));
                }
                Ok(bytes(&whole))
            }
            Shape::Metadata(version) => {
                let mut items = Vec::with_capacity(listed.entries.len());
                for entry in &listed.entries {
                    let object = self.read(&entry.item.value, entry.item.revision)?;
                    items.push(table::metadata_only(version, object));
                }
                // As upstream, no objects are no list.
                let items = if items.is_empty() { Value::Null } else { Value::Array(items) };
                Ok(bytes(&json!({
                    "kind": "PartialObjectMetadataList",
                    "apiVersion": format!("meta.k8s.io/{version}"),
                    "metadata": metadata,
                    "items": items,
                })))
            }
        }
    }

    /// Put together from the bytes of the objects.
    fn objects(&self, listed: &Listed, metadata: &ListMeta) -> Result<Bytes, Status> {
        let size: usize = listed.entries.iter().map(|entry| entry.item.value.len() + 48).sum();
        let mut out = BytesMut::with_capacity(size + 256);
        let (kind, version) =
            (Value::from(&*self.definition.names.list_kind), Value::from(&*self.api_version));
        out.put_slice(format!(r#"{{"kind":{kind},"apiVersion":{version},"metadata":"#).as_bytes());
        match self.definition.unstructured && metadata.continue_token.is_empty() {
            true => {
                let revision = &metadata.resource_version;
                out.put_slice(format!(r#"{{"continue":"","resourceVersion":"{revision}"}}"#).as_bytes());
            }
            false => out.put_slice(&bytes(metadata)),
        }
        out.put_slice(br#","items":["#);
        for (place, entry) in listed.entries.iter().enumerate() {
            if place > 0 {
                out.put_u8(b',');
            }
            let spliced = self.version().conversion.is_none()
                && self.item.put(&entry.item.value, entry.item.revision, &mut out);
            if !spliced {
                let mut object = self.read(&entry.item.value, entry.item.revision)?;
                if !self.definition.unstructured {
                    object.remove("kind");
                    object.remove("apiVersion");
                }
                out.put_slice(&bytes(&object));
            }
        }
        out.put_slice(b"]}");
        Ok(out.freeze())
    }

    /// One line of a watch: an event. `first` is whether a table names its columns.
    ///
    /// # Errors
    /// When the object cannot be read or converted.
    pub fn event(&self, verb: Verb, event: &Event, shape: Shape, first: bool) -> Result<Bytes, Status> {
        // What is gone for the watcher is shown as it was, at the moment at which it went.
        let value = match (verb, &event.previous) {
            (Verb::Deleted, Some(previous)) => Some(&previous.value),
            _ => event.value.as_ref().or(event.previous.as_ref().map(|item| &item.value)),
        };
        let value = value.map(Bytes::as_ref).unwrap_or_default();
        self.line(verb.as_str(), value, event.revision, shape, first)
    }

    /// One line of a watch: an object that is there already.
    ///
    /// # Errors
    /// When the object cannot be read or converted.
    pub fn initial(&self, item: &Item, shape: Shape, first: bool) -> Result<Bytes, Status> {
        self.line(Verb::Added.as_str(), &item.value, item.revision, shape, first)
    }

    fn line(
        &self,
        verb: &str,
        value: &[u8],
        revision: Revision,
        shape: Shape,
        first: bool,
    ) -> Result<Bytes, Status> {
        let mut out = BytesMut::with_capacity(value.len() + 96);
        out.put_slice(format!(r#"{{"type":"{verb}","object":"#).as_bytes());
        let spliced = shape == Shape::Objects
            && self.version().conversion.is_none()
            && self.object.put(value, revision, &mut out);
        if !spliced {
            out.put_slice(&self.shaped(self.read(value, revision)?, shape, first)?);
        }
        out.put_slice(b"}\n");
        Ok(out.freeze())
    }

    /// One line of a watch: how far it is.
    pub fn bookmark(&self, revision: Revision, initial_end: bool, shape: Shape, first: bool) -> Bytes {
        let mut metadata = json!({ "resourceVersion": revision.to_string() });
        if initial_end {
            metadata["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
        }
        let object = match shape {
            Shape::Metadata(version) => json!({
                "kind": "PartialObjectMetadata", "apiVersion": format!("meta.k8s.io/{version}"), "metadata": metadata,
            }),
            _ => json!({
                "kind": self.definition.names.kind, "apiVersion": self.api_version, "metadata": metadata,
            }),
        };
        let object = match (shape, object) {
            (Shape::Table(..), Value::Object(object)) => {
                self.shaped(object, shape, first).unwrap_or_default()
            }
            (_, object) => bytes(&object),
        };
        let mut out = BytesMut::with_capacity(object.len() + 40);
        out.put_slice(br#"{"type":"BOOKMARK","object":"#);
        out.put_slice(&object);
        out.put_slice(b"}\n");
        out.freeze()
    }

    /// An object of this version.
    fn read(&self, value: &[u8], revision: Revision) -> Result<Fields, Status> {
        let object: Fields = serde_json::from_slice(value)
            .map_err(|error| unreadable(&self.definition.qualified_name(), &error))?;
        Ok(with_revision(self.definition.of_stored(self.version(), object)?, revision))
    }

    /// An object of this version in a shape.
    fn shaped(&self, object: Fields, shape: Shape, first: bool) -> Result<Bytes, Status> {
        Ok(match shape {
            Shape::Objects => bytes(&object),
            Shape::Metadata(version) => bytes(&table::metadata_only(version, object)),
            Shape::Table(version, include) => {
                let columns = &self.version().columns;
                let resource_version = crate::object::text(&object, "metadata.resourceVersion").to_owned();
                let metadata = ListMeta { resource_version, ..ListMeta::default() };
                let mut whole = table::empty(version, columns, metadata);
                whole.rows.push(table::row(version, columns, include, object));
                if !first {
                    // As upstream: a client knows them from the first event.
                    let mut value = serde_json::to_value(&whole).unwrap_or_default();
                    value["columnDefinitions"] = Value::Null;
                    return Ok(bytes(&value));
                }
                bytes(&whole)
            }
        })
    }
}

/// JSON of what has string keys only.
fn bytes(value: &impl serde::Serialize) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}
