//! `manifest.json` in the cache: where tests find the components.

use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err as fs;
use serde::{Deserialize, Serialize};

/// One component that is there.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Entry {
    /// As in the data file.
    pub(crate) name: String,
    /// As in the data file; empty where the system has one only.
    pub(crate) version: String,
    /// The program (or folder, for JavaScript packages).
    pub(crate) path: PathBuf,
}

/// All components that are there, in the order of the data file: the first of a name is its default.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Manifest {
    components: Vec<Entry>,
}

impl Manifest {
    /// Adds a component and writes the manifest into `cache`. Components of an earlier run that were
    /// not asked for this time stay in it, behind, as long as they are there.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn add(&mut self, entry: Entry, cache: &Path) -> Result<()> {
        self.components.push(entry);
        let file = cache.join("manifest.json");
        let earlier: Self =
            fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let mut components = self.components.clone();
        for entry in earlier.components {
            let known = components.iter().any(|e| e.name == entry.name && e.version == entry.version);
            if !known && entry.path.exists() {
                components.push(entry);
            }
        }
        let fresh = cache.join(".manifest.json");
        fs::write(&fresh, serde_json::to_vec_pretty(&Self { components })?)?;
        Ok(fs::rename(fresh, file)?)
    }
}
