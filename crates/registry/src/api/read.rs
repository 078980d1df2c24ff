//! get and list, as objects, tables or metadata alone.

use std::{borrow::Cow, sync::Arc};

use http::StatusCode;
use kube_wire::{
    Status,
    accept::{self, Offer, Target},
    object::ListMeta,
    table::{IncludeObject, Table, TableRow},
};
use serde_json::{Value, json};

use super::{Answered, Call, RegistrationApi, answer, columns};
use crate::object::{ObjectKey, Resource, text};

/// In which form objects are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Object,
    /// Version of `meta.k8s.io`.
    Table(&'static str),
    Metadata(&'static str),
}

const META: &str = "meta.k8s.io";

impl RegistrationApi {
    pub(super) fn get(&self, call: &Call<'_>) -> Answered {
        let shape = shape(call)?;
        let key = ObjectKey { resource: call.resource, name: call.info.name.to_string() };
        let object = self.store.get(&key).ok_or_else(|| {
            Status::not_found(call.resource.plural(), call.resource.group(), &call.info.name)
        })?;
        let shown = match shape {
            Shape::Object => Value::clone(&object),
            Shape::Metadata(version) => metadata(&object, version),
            Shape::Table(version) => {
                let metadata = ListMeta {
                    resource_version: text(&object, "/metadata/resourceVersion")
                        .unwrap_or_default()
                        .to_owned(),
                    ..ListMeta::default()
                };
                table(call, version, metadata, &[object], true)
            }
        };
        Ok(answer::json(call.parts, StatusCode::OK, &shown))
    }

    pub(super) fn list(&self, call: &Call<'_>) -> Answered {
        let shape = shape(call)?;
        let (objects, version) = self.store.list(call.resource);
        let objects: Vec<Arc<Value>> = objects.into_iter().filter(|object| selected(call, object)).collect();
        let shown = match shape {
            Shape::Object => list(call.resource, version, &objects),
            Shape::Metadata(meta_version) => {
                let items: Vec<Value> = objects.iter().map(|object| metadata(object, meta_version)).collect();
                json!({
                    "kind": "PartialObjectMetadataList",
                    "apiVersion": format!("{META}/{meta_version}"),
                    "metadata": { "resourceVersion": version.to_string() },
                    "items": items,
                })
            }
            Shape::Table(meta_version) => {
                let metadata = ListMeta { resource_version: version.to_string(), ..ListMeta::default() };
                table(call, meta_version, metadata, &objects, true)
            }
        };
        Ok(answer::json(call.parts, StatusCode::OK, &shown))
    }
}

/// A list of whole objects.
pub(super) fn list(resource: Resource, version: u64, objects: &[Arc<Value>]) -> Value {
    json!({
        "kind": format!("{}List", resource.kind()),
        "apiVersion": resource.api_version(),
        "metadata": { "resourceVersion": version.to_string() },
        "items": objects,
    })
}

/// Whether the selectors of a request take an object.
pub(super) fn selected(call: &Call<'_>, object: &Value) -> bool {
    let name = text(object, "/metadata/name").unwrap_or_default();
    if !call.options.fields.matches(|_| Cow::Borrowed(name)) {
        return false;
    }
    if call.options.labels.is_empty() {
        return true;
    }
    let labels = object.pointer("/metadata/labels").cloned().unwrap_or_default();
    call.options.labels.matches(&serde_json::from_value(labels).unwrap_or_default())
}

/// The form that the client likes best.
pub(super) fn shape(call: &Call<'_>) -> Result<Shape, Status> {
    const fn transformed(kind: &'static str, version: &'static str) -> Offer<'static> {
        Offer { media_type: accept::JSON, target: Some(Target { group: META, version, kind }), stream: true }
    }
    const OFFERS: [(Offer<'_>, Shape); 7] = [
        (Offer { media_type: accept::JSON, target: None, stream: true }, Shape::Object),
        (transformed("Table", "v1"), Shape::Table("v1")),
        (transformed("Table", "v1beta1"), Shape::Table("v1beta1")),
        (transformed("PartialObjectMetadata", "v1"), Shape::Metadata("v1")),
        (transformed("PartialObjectMetadataList", "v1"), Shape::Metadata("v1")),
        (transformed("PartialObjectMetadata", "v1beta1"), Shape::Metadata("v1beta1")),
        (transformed("PartialObjectMetadataList", "v1beta1"), Shape::Metadata("v1beta1")),
    ];
    let header = answer::accept_header(call.parts);
    let chosen = accept::parse(&header).choose(&OFFERS.map(|(offer, _)| offer));
    chosen
        .and_then(|index| OFFERS.get(index))
        .map(|(_, shape)| *shape)
        .ok_or_else(|| Status::not_acceptable_among(&[accept::JSON]))
}

/// Objects as a table; columns are left out in all but the first event of a watch.
pub(super) fn table(
    call: &Call<'_>,
    version: &str,
    metadata: ListMeta,
    objects: &[Arc<Value>],
    with_columns: bool,
) -> Value {
    let columns = if with_columns { columns::definitions(call.resource) } else { Vec::new() };
    let mut table = Table::new(version, metadata, columns);
    table.rows = objects
        .iter()
        .map(|object| TableRow {
            cells: columns::cells(call.resource, object),
            object: match call.options.include_object {
                IncludeObject::None => None,
                IncludeObject::Metadata => Some(self::metadata(object, version)),
                IncludeObject::Object => Some(Value::clone(object)),
            },
        })
        .collect();
    serde_json::to_value(table).unwrap_or_default()
}

/// An object reduced to its metadata.
pub(super) fn metadata(object: &Value, version: &str) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": format!("{META}/{version}"),
        "metadata": object.get("metadata"),
    })
}
