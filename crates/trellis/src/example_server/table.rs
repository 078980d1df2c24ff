//! Notes as a `Table`, which is what `kubectl get` prints.

use kube_wire::{
    object::ListMeta,
    table::{IncludeObject, Table, TableColumnDefinition, TableRow},
};
use serde_json::{Value, json};

use super::answer::metadata_only;
use crate::output::age;

/// The table of these notes, at this resource version.
pub(super) fn table<'a>(
    version: &str,
    revision: u64,
    notes: impl IntoIterator<Item = &'a Value>,
    include: IncludeObject,
) -> Table {
    let metadata = ListMeta { resource_version: revision.to_string(), ..ListMeta::default() };
    let mut table = Table::new(version, metadata, columns());
    table.rows = notes.into_iter().map(|note| row(note, include)).collect();
    table
}

fn columns() -> Vec<TableColumnDefinition> {
    vec![
        TableColumnDefinition::new("Name", "string", "Name of the note, unique in its namespace")
            .with_format("name"),
        TableColumnDefinition::new("Text", "string", "What it says"),
        TableColumnDefinition::new("Tags", "string", "What it is about"),
        TableColumnDefinition::new("Author", "string", "Who wrote it first, as the server was told"),
        TableColumnDefinition::new("Age", "string", "Time since it was made"),
        TableColumnDefinition::new("Words", "integer", "How long it is").wide(),
        TableColumnDefinition::new("Pinned", "boolean", "Whether it stays on top").wide(),
    ]
}

fn row(note: &Value, include: IncludeObject) -> TableRow {
    let (metadata, spec, status) = (&note["metadata"], &note["spec"], &note["status"]);
    let tags: Vec<&str> = spec["tags"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let cells = vec![
        metadata["name"].clone(),
        json!(shortened(spec["text"].as_str().unwrap_or_default())),
        json!(tags.join(",")),
        status["author"].clone(),
        json!(age::since(metadata["creationTimestamp"].as_str().unwrap_or_default())),
        status["words"].clone(),
        json!(spec["pinned"].as_bool().unwrap_or_default()),
    ];
    let object = match include {
        IncludeObject::Metadata => Some(metadata_only(note)),
        IncludeObject::Object => Some(note.clone()),
        IncludeObject::None => None,
    };
    TableRow { cells, object }
}

/// The first line of a text, cut to the width of a column.
fn shortened(text: &str) -> String {
    const WIDTH: usize = 48;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
