//! What a kept component was made from: nothing is made again while its inputs are the same.

use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err as fs;
use sha2::{Digest, Sha256};

/// A hash over everything that a component is made from.
#[derive(Default)]
pub(crate) struct Inputs(Sha256);

impl Inputs {
    /// Adds one value.
    pub(crate) fn text(mut self, text: &str) -> Self {
        self.add(text.as_bytes());
        self
    }

    /// Adds a file, or all files of a folder with their names.
    pub(crate) fn path(mut self, path: &Path) -> Result<Self> {
        let mut files = Vec::new();
        collect(path, &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(path).unwrap_or(&file).to_string_lossy().into_owned();
            self.add(name.as_bytes());
            self.add(&fs::read(&file)?);
        }
        Ok(self)
    }

    fn add(&mut self, bytes: &[u8]) {
        self.0.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
        self.0.update(bytes);
    }

    /// The stamp of these inputs in `folder`.
    pub(crate) fn stamp(self, folder: &Path) -> Stamp {
        let hash = self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Stamp { file: folder.join("inputs.sha256"), hash }
    }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() != "node_modules" {
            collect(&entry.path(), files)?;
        }
    }
    Ok(())
}

/// The recorded hash beside a component.
pub(crate) struct Stamp {
    file: PathBuf,
    hash: String,
}

impl Stamp {
    /// Whether the component was made from these inputs.
    pub(crate) fn is_current(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|kept| kept == self.hash)
    }

    /// Records the inputs; the last step of making a component.
    pub(crate) fn record(&self) -> Result<()> {
        Ok(fs::write(&self.file, &self.hash)?)
    }
}
