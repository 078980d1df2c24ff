//! How objects of the watched directory join those of the state folder.

use std::sync::Arc;

use serde_json::Value;

use super::{ChangeKind, FileObject, Inner, StoreProblem, entry::Entry};
use crate::object::{ObjectKey, Source};

impl Inner {
    pub(super) fn set_files(&mut self, objects: Vec<FileObject>) {
        let by_key = objects.into_iter().map(|object| (object.declared.key.clone(), object));
        self.files = by_key.collect();
        let gone: Vec<ObjectKey> = self
            .objects
            .iter()
            .filter(|(key, entry)| is_file(entry) && !self.files.contains_key(*key))
            .map(|(key, _)| key.clone())
            .collect();
        for key in gone {
            self.remove(&key);
        }
        self.show_hidden_files();
    }

    /// Brings every object of a file to light whose name is not taken by one of the state folder.
    pub(super) fn show_hidden_files(&mut self) {
        self.hidden.clear();
        for (key, file) in self.files.clone() {
            let kind = match self.objects.get(&key) {
                Some(stored) if !is_file(stored) => {
                    self.hidden.extend(hidden(&key, &file));
                    continue;
                }
                Some(shown)
                    if shown.declared == file.declared && same_metadata(&shown.value(), &file.value) =>
                {
                    continue;
                }
                Some(_) => ChangeKind::Modified,
                None => ChangeKind::Added,
            };
            let mut value = Value::clone(&file.value);
            if let Some(shown) = self.objects.get(&key) {
                super::copy_status(&shown.value(), &mut value);
            }
            self.insert(key, value, Arc::clone(&file.declared), kind);
        }
    }
}

fn is_file(entry: &Entry) -> bool {
    matches!(entry.declared.source, Source::File { .. })
}

fn same_metadata(a: &Value, b: &Value) -> bool {
    ["/metadata/labels", "/metadata/annotations"]
        .iter()
        .all(|pointer| a.pointer(pointer) == b.pointer(pointer))
}

fn hidden(key: &ObjectKey, file: &FileObject) -> Option<StoreProblem> {
    let Source::File { path, line } = &file.declared.source else { return None };
    let message = format!(
        "line {line}: {key} was registered through the API before; this one is not used. Delete one of the two"
    );
    Some(StoreProblem { path: path.clone(), message })
}
