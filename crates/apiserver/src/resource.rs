//! What a resource is: names, versions, fields, and the rules of its objects.
//!
//! A [`Definition`] is dynamic: objects are JSON. [`Definition::of`] makes one from a Rust type; other
//! sources make the same from data.

mod answers;
mod convert;
mod definition;
mod hooks;
mod typed;

use std::{borrow::Cow, sync::Arc, time::Duration};

use kube_wire::{Status, UserInfo, table::TableColumnDefinition};
use serde_json::{Map, Value};

use crate::{form::Form, validation::FieldError};

pub use answers::{Action, Answers, Question};
pub use definition::{Definition, InvalidDefinition, VERBS};
pub use hooks::{Conversion, Strategy};
pub use typed::{Object, Resource};

/// A JSON object.
pub type Fields = Map<String, Value>;

/// What a resource is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// In URLs, `notes`.
    pub plural: String,
    /// For people, `note`.
    pub singular: String,
    /// In objects, `Note`.
    pub kind: String,
    /// In lists, `NoteList`.
    pub list_kind: String,
    /// Short names for people.
    pub short_names: Vec<String>,
    /// Groups of resources for people, such as `all`.
    pub categories: Vec<String>,
}

/// Where objects live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In namespaces.
    Namespaced,
    /// In the cluster as a whole.
    Cluster,
}

/// When `metadata.generation` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Never: it stays what clients send, nearly always nothing.
    Untouched,
    /// With each change of anything but metadata and status.
    Counted,
}

/// The fields through which `scale` is read and written, as in `spec.replicas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// How many are wanted.
    pub spec_replicas: String,
    /// How many there are.
    pub status_replicas: String,
    /// A label selector in its text form; may be missing.
    pub label_selector: Option<String>,
}

/// One version of a resource.
#[derive(Clone)]
pub struct Version {
    /// As in `v1`.
    pub name: String,
    /// The fields of its objects, without those that every object has.
    pub form: Arc<Form>,
    /// JSON schema of the object for documents, without metadata.
    pub schema: Value,
    /// Columns of its tables, the name first.
    pub columns: Vec<Column>,
    /// From and to the version in which objects are stored; none: they are the same but for `apiVersion`.
    pub conversion: Option<Arc<dyn Conversion>>,
}

/// A column of a table.
#[derive(Clone)]
pub struct Column {
    /// Its heading and type.
    pub definition: TableColumnDefinition,
    /// What stands in it.
    pub cell: Cell,
}

/// What stands in a column.
#[derive(Clone)]
pub enum Cell {
    /// The value at this path, as in `spec.replicas`.
    Path(String),
    /// A time at this path, as the span until now.
    Age(String),
    /// Something computed from the object.
    Computed(Arc<dyn Fn(&Fields) -> Value + Send + Sync>),
}

/// Who writes, and when.
#[derive(Clone, Copy, Debug)]
pub struct Writer<'a> {
    /// Who.
    pub user: &'a UserInfo,
    /// RFC 3339 with whole seconds.
    pub now: &'a str,
}

impl Column {
    /// A column that shows the value at a path, always.
    pub fn new(name: &str, kind: &str, description: &str, path: &str) -> Self {
        let definition = TableColumnDefinition::new(name, kind, description);
        Self { definition, cell: Cell::Path(path.to_owned()) }
    }

    /// A column that shows something computed.
    pub fn computed(
        name: &str,
        kind: &str,
        description: &str,
        cell: impl Fn(&Fields) -> Value + Send + Sync + 'static,
    ) -> Self {
        let definition = TableColumnDefinition::new(name, kind, description);
        Self { definition, cell: Cell::Computed(Arc::new(cell)) }
    }

    /// This column, only with `-o wide`.
    #[must_use]
    pub fn wide(mut self) -> Self {
        self.definition = self.definition.wide();
        self
    }

    /// The name of the object, as every table begins.
    pub fn name() -> Self {
        const TEXT: &str = "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
        let mut column = Self::new("Name", "string", TEXT, "metadata.name");
        column.definition = column.definition.with_format("name");
        column
    }

    /// The age of the object, as most tables end.
    pub fn age() -> Self {
        const TEXT: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
        let definition = TableColumnDefinition::new("Age", "string", TEXT);
        Self { definition, cell: Cell::Age("metadata.creationTimestamp".to_owned()) }
    }
}

/// A strategy that leaves objects as they are.
pub(crate) struct Plain;

impl Strategy for Plain {}

/// The value at a path, as in `metadata.name`; keys with dots in them cannot be named.
pub fn at_path<'o>(object: &'o Fields, path: &str) -> Option<&'o Value> {
    let mut parts = path.split('.').filter(|part| !part.is_empty());
    let first = object.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part))
}

/// The value at a path as a field selector compares it.
pub(crate) fn text_at<'o>(object: &'o Fields, path: &str) -> Cow<'o, str> {
    match at_path(object, path) {
        Some(Value::String(text)) => Cow::Borrowed(text),
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(other) => Cow::Owned(other.to_string()),
    }
}

/// What a hook says when it refuses.
pub type Refusal = Box<Status>;

/// How long an object stays when nobody writes it.
pub type TimeToLive = Option<Duration>;

/// All that is wrong.
pub type Mistakes = Vec<FieldError>;
