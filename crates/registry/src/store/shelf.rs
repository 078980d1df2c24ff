//! One JSON file for each object: `FOLDER/PLURAL/NAME.json`, with a copy of the last good state beside
//! it in `NAME.json.last`.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{StoreError, StoreProblem};
use crate::{
    disk::{self, Durability},
    object::{Declared, ObjectKey, Resource, Source, declare, text},
};

/// Extension of the copy.
const COPY: &str = "last";

#[derive(Debug)]
pub(super) struct Shelf {
    folder: PathBuf,
}

type Loaded = (Vec<(Value, Declared)>, Vec<StoreProblem>);

impl Shelf {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        for resource in Resource::ALL {
            disk::make_folder(&folder.join(resource.plural()))?;
        }
        Ok(Self { folder: folder.to_owned() })
    }

    /// Everything that can be read, and what is wrong with the rest.
    pub(super) fn load(&self) -> io::Result<Loaded> {
        let mut objects = Vec::new();
        let mut problems = Vec::new();
        for resource in Resource::ALL {
            let folder = self.folder.join(resource.plural());
            for entry in std::fs::read_dir(&folder).map_err(|error| disk::named(&folder, &error))? {
                let path = entry?.path();
                if path.extension().is_none_or(|extension| extension != "json") {
                    continue;
                }
                match read(resource, &path) {
                    Ok(object) => objects.push(object),
                    Err(reason) => objects.extend(last_good(resource, &path, &reason, &mut problems)),
                }
            }
        }
        Ok((objects, problems))
    }

    /// Writes an object without its status. The file is on disk when this returns.
    pub(super) fn save(&self, key: &ObjectKey, value: &Value) -> Result<(), StoreError> {
        let path = self.path(key);
        let failed = |source| StoreError::Disk { path: path.clone(), source };
        let mut value = value.clone();
        if let Some(object) = value.as_object_mut() {
            object.remove("status");
        }
        let mut bytes = serde_json::to_vec_pretty(&value).map_err(|error| failed(error.into()))?;
        bytes.push(b'\n');
        disk::write(&path, &bytes, Durability::Synced).map_err(|error| {
            restore(&path, &bytes);
            failed(error)
        })?;
        // Only now: until the new content is safe, the copy is that of before. One that cannot be written
        // costs nothing but a second chance.
        if let Err(error) = disk::write(&copy_of(&path), &bytes, Durability::Relaxed) {
            tracing::warn!(path = %path.display(), %error, "cannot write the spare copy of a registration");
        }
        Ok(())
    }

    pub(super) fn remove(&self, key: &ObjectKey) -> Result<(), StoreError> {
        let path = self.path(key);
        // The copy goes first: with the file gone and the copy there, nothing would come back, but with
        // the copy gone and the file there the object is still whole.
        for path in [copy_of(&path), path] {
            match std::fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::Disk { path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn path(&self, key: &ObjectKey) -> PathBuf {
        self.folder.join(key.resource.plural()).join(format!("{}.json", key.name))
    }
}

/// What was refused is not to come back with the next start.
fn restore(path: &Path, refused: &[u8]) {
    if std::fs::read(path).is_ok_and(|found| found != refused) {
        return;
    }
    let before = std::fs::read(copy_of(path));
    let outcome = match before {
        Ok(before) => disk::write(path, &before, Durability::Relaxed),
        Err(_) => std::fs::remove_file(path),
    };
    if let Err(error) = outcome {
        tracing::debug!(path = %path.display(), %error, "nothing to restore");
    }
}

fn copy_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(COPY);
    PathBuf::from(name)
}

fn read(resource: Resource, path: &Path) -> Result<(Value, Declared), String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let named = text(&value, "/metadata/name").unwrap_or_default();
    if path.file_name().is_none_or(|file| file != format!("{named}.json").as_str()) {
        return Err(format!("the object in it is named {named:?}"));
    }
    let declared = declare(resource, &value, Source::Store).map_err(|problems| problems.to_string())?;
    Ok((value, declared))
}

fn last_good(
    resource: Resource,
    path: &Path,
    reason: &str,
    problems: &mut Vec<StoreProblem>,
) -> Option<(Value, Declared)> {
    // The copy carries the name of the file it belongs to.
    let copy =
        std::fs::read(copy_of(path)).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let kept = copy.and_then(|value| {
        let declared = declare(resource, &value, Source::Store).ok()?;
        Some((value, declared))
    });
    let next_step = if kept.is_some() {
        "its last good copy is used. Repair the file or apply the registration again"
    } else {
        "this registration is not used. Repair the file, or delete it and register the server again"
    };
    problems.push(StoreProblem {
        path: path.to_owned(),
        message: format!("cannot read this registration: {reason}; {next_step}"),
    });
    kept
}
