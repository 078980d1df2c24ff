//! What is known of the files: identity and age of their objects, and what they last said that was good.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::parse::{FileProblem, Found};
use crate::{
    clock,
    disk::Writer,
    object::{ObjectKey, Source, declare, text},
    store::{FileObject, key_of, set_metadata},
};

/// Annotation that tells where an object of a file stands.
const ORIGIN: &str = "federation.trellis.dev/file";

#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    files: BTreeMap<PathBuf, Vec<Kept>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    line: usize,
    object: Value,
}

/// Kept in one file of the state folder.
#[derive(Debug)]
pub(super) struct Memory {
    file: PathBuf,
    writer: Writer,
    record: Record,
    unsaved: bool,
}

impl Memory {
    pub(super) fn load(file: PathBuf, writer: Writer) -> Self {
        let record = match std::fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                tracing::error!(
                    path = %file.display(), %error,
                    "cannot read what is remembered of registration files; they count as new. Nothing else is lost"
                );
                Record::default()
            }),
            Err(_) => Record::default(),
        };
        Self { file, writer, record, unsaved: false }
    }

    pub(super) fn knows(&self, path: &Path) -> bool {
        self.record.files.get(path).is_some_and(|objects| !objects.is_empty())
    }

    /// Forgets the files that `present` does not accept; tells whether there were any.
    pub(super) fn retain(&mut self, present: impl Fn(&Path) -> bool) -> bool {
        let before = self.record.files.len();
        self.record.files.retain(|path, _| present(path));
        let changed = self.record.files.len() != before;
        self.unsaved |= changed;
        changed
    }

    /// Takes what a file says. An object that was there before, in whatever file, keeps uid and age.
    pub(super) fn learn(&mut self, path: &Path, found: Vec<Found>) {
        let kept = found.into_iter().map(|found| self.with_metadata(found)).collect();
        self.record.files.insert(path.to_owned(), kept);
        self.unsaved = true;
    }

    fn with_metadata(&self, found: Found) -> Kept {
        let Found { resource, line, mut value, .. } = found;
        let before = self.find(&key_of(resource, &value), &value);
        let earlier =
            |field: &str| before.and_then(|object| object.pointer(&format!("/metadata/{field}"))).cloned();
        let same_spec = before.is_some_and(|object| object.get("spec") == value.get("spec"));
        let generation = earlier("generation").and_then(|g| g.as_i64()).unwrap_or(0) + i64::from(!same_spec);
        let uid = earlier("uid").unwrap_or_else(|| json!(uuid::Uuid::new_v4().to_string()));
        let created = earlier("creationTimestamp").unwrap_or_else(|| json!(clock::format(clock::now())));
        if let Some(object) = value.as_object_mut() {
            object.remove("status");
        }
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            for field in ["managedFields", "resourceVersion", "generateName", "ownerReferences", "finalizers"]
            {
                metadata.remove(field);
            }
        }
        set_metadata(&mut value, "uid", uid);
        set_metadata(&mut value, "creationTimestamp", created);
        set_metadata(&mut value, "generation", json!(generation.max(1)));
        Kept { line, object: value }
    }

    fn find(&self, key: &ObjectKey, like: &Value) -> Option<&Value> {
        let kind = text(like, "/kind");
        let same = |object: &&Value| {
            text(object, "/kind") == kind && text(object, "/metadata/name") == Some(key.name.as_str())
        };
        self.record.files.values().flatten().map(|kept| &kept.object).find(same)
    }

    /// Every object; of two with the same name the one in the first file counts.
    pub(super) fn objects(&self) -> (Vec<FileObject>, Vec<FileProblem>) {
        let mut objects: BTreeMap<ObjectKey, FileObject> = BTreeMap::new();
        let mut problems = Vec::new();
        for (path, kept) in
            self.record.files.iter().flat_map(|(path, all)| all.iter().map(move |kept| (path, kept)))
        {
            let Some(object) = declared(path, kept) else { continue };
            let key = object.declared.key.clone();
            match objects.get(&key) {
                None => {
                    objects.insert(key, object);
                }
                Some(first) => problems.push(twice(path, kept.line, &key, first)),
            }
        }
        (objects.into_values().collect(), problems)
    }

    /// Writes down what was learned since the last time.
    pub(super) fn save(&mut self) {
        if !std::mem::take(&mut self.unsaved) {
            return;
        }
        match serde_json::to_vec(&self.record) {
            Ok(bytes) => self.writer.write(self.file.clone(), bytes),
            Err(error) => tracing::error!(%error, "cannot note what the registration files say"),
        }
    }
}

fn declared(path: &Path, kept: &Kept) -> Option<FileObject> {
    let api_version = text(&kept.object, "/apiVersion").unwrap_or_default();
    let resource = crate::object::Resource::of(api_version, text(&kept.object, "/kind").unwrap_or_default())?;
    let source = Source::File { path: path.to_owned(), line: kept.line };
    let declared = declare(resource, &kept.object, source).ok()?;
    let mut value = kept.object.clone();
    let mut annotations = value.pointer("/metadata/annotations").cloned().unwrap_or_else(|| json!({}));
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.insert(ORIGIN.to_owned(), json!(format!("{}:{}", path.display(), kept.line)));
    }
    set_metadata(&mut value, "annotations", annotations);
    Some(FileObject { value: Arc::new(value), declared: Arc::new(declared) })
}

fn twice(path: &Path, line: usize, key: &ObjectKey, first: &FileObject) -> FileProblem {
    let other = match &first.declared.source {
        Source::File { path, line } => format!("{}:{line}", path.display()),
        _ => "another place".to_owned(),
    };
    FileProblem {
        path: path.to_owned(),
        line: Some(line),
        message: format!("{key} is already defined in {other}, which counts; delete one of the two"),
    }
}
