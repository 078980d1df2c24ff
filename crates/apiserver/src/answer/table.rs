//! Tables, as kubectl prints them.

use kube_wire::{
    object::{ListMeta, time},
    table::{IncludeObject, Table, TableRow},
};
use serde_json::{Value, json};

use super::span;
use crate::{
    engine::unix_now,
    resource::{Cell, Column, Fields, at_path},
};

/// A table without rows.
pub(super) fn empty(version: &str, columns: &[Column], metadata: ListMeta) -> Table {
    Table::new(version, metadata, columns.iter().map(|column| column.definition.clone()).collect())
}

/// The row of an object.
pub(super) fn row(version: &str, columns: &[Column], include: IncludeObject, object: Fields) -> TableRow {
    let cells = columns.iter().map(|column| cell(column, &object)).collect();
    let object = match include {
        IncludeObject::None => None,
        IncludeObject::Metadata => Some(metadata_only(version, object)),
        IncludeObject::Object => Some(Value::Object(object)),
    };
    TableRow { cells, object }
}

/// The metadata of an object.
pub(super) fn metadata_only(version: &str, mut object: Fields) -> Value {
    let metadata = object.remove("metadata").unwrap_or_default();
    json!({ "kind": "PartialObjectMetadata", "apiVersion": format!("meta.k8s.io/{version}"), "metadata": metadata })
}

fn cell(column: &Column, object: &Fields) -> Value {
    match &column.cell {
        Cell::Path(path) => at_path(object, path).cloned().unwrap_or_default(),
        Cell::Computed(compute) => compute(object),
        Cell::Age(path) => match at_path(object, path).and_then(Value::as_str).and_then(time::parse) {
            Some(since) => span(unix_now() - since).into(),
            None => "<unknown>".into(),
        },
    }
}
