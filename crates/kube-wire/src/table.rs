//! `Table`: lists as kubectl prints them, and objects reduced to their metadata.

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::accept::wants_table;
use crate::object::{ListMeta, ObjectMeta};

/// `meta.k8s.io/v1` `Table`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Table {
    /// Always `Table`.
    pub kind: String,
    /// `meta.k8s.io/v1` or `meta.k8s.io/v1beta1`.
    pub api_version: String,
    /// Of the list from which it was made.
    #[serde(default)]
    pub metadata: ListMeta,
    /// Columns; within a watch only in the first event.
    pub column_definitions: Vec<TableColumnDefinition>,
    /// Rows.
    pub rows: Vec<TableRow>,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableColumnDefinition {
    /// Heading.
    pub name: String,
    /// OpenAPI type.
    #[serde(rename = "type")]
    pub kind: String,
    /// OpenAPI format; `name` marks the column that names the object.
    pub format: String,
    /// What it means.
    pub description: String,
    /// 0 is always shown, higher ones only with `-o wide`.
    pub priority: i32,
}

/// A row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableRow {
    /// One value for each column.
    pub cells: Vec<Value>,
    /// The object, its metadata, or nothing (`null`), as `includeObject` asks.
    pub object: Option<Value>,
}

/// What `?includeObject=` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeObject {
    /// No object in the rows.
    None,
    /// Metadata in the rows.
    #[default]
    Metadata,
    /// The whole object in the rows.
    Object,
}

/// `meta.k8s.io/v1` `PartialObjectMetadata`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartialObjectMetadata {
    /// Always `PartialObjectMetadata`.
    pub kind: String,
    /// `meta.k8s.io/v1` or `meta.k8s.io/v1beta1`.
    pub api_version: String,
    /// The object's.
    pub metadata: ObjectMeta,
}

/// `meta.k8s.io/v1` `PartialObjectMetadataList`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartialObjectMetadataList {
    /// Always `PartialObjectMetadataList`.
    pub kind: String,
    /// `meta.k8s.io/v1` or `meta.k8s.io/v1beta1`.
    pub api_version: String,
    /// Of the list from which it was made.
    #[serde(default)]
    pub metadata: ListMeta,
    /// One for each object.
    pub items: Vec<PartialObjectMetadata>,
}

impl Table {
    /// An empty table in this version of `meta.k8s.io`.
    pub fn new(version: &str, metadata: ListMeta, column_definitions: Vec<TableColumnDefinition>) -> Self {
        let (kind, api_version) = ("Table".to_owned(), format!("meta.k8s.io/{version}"));
        Self { kind, api_version, metadata, column_definitions, rows: Vec::new() }
    }
}

impl TableColumnDefinition {
    /// A column of this OpenAPI type that is always shown.
    pub fn new(name: &str, kind: &str, description: &str) -> Self {
        let (name, kind, description) = (name.to_owned(), kind.to_owned(), description.to_owned());
        Self { name, kind, description, ..Self::default() }
    }

    /// This column, only with `-o wide`.
    #[must_use]
    pub fn wide(mut self) -> Self {
        self.priority = 1;
        self
    }

    /// This column, with an OpenAPI format.
    #[must_use]
    pub fn with_format(mut self, format: &str) -> Self {
        format.clone_into(&mut self.format);
        self
    }
}

impl IncludeObject {
    /// Reads the parameter; none for an unknown word.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "" | "Metadata" => Some(Self::Metadata),
            "None" => Some(Self::None),
            "Object" => Some(Self::Object),
            _ => None,
        }
    }
}

impl PartialObjectMetadata {
    /// The metadata of an object, in `meta.k8s.io/v1`.
    pub fn new(metadata: ObjectMeta) -> Self {
        Self { kind: "PartialObjectMetadata".into(), api_version: "meta.k8s.io/v1".into(), metadata }
    }
}
