//! Where things are: the checkout, the cache of upstream components, the build folder.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::command::Step;

/// The checkout and its two folders outside.
pub(crate) struct Workspace {
    root: PathBuf,
    cache: PathBuf,
}

impl Workspace {
    /// The workspace that this program was built from.
    pub(crate) fn find() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in a workspace")?;
        Ok(Self { root: root.to_owned(), cache: cache()? })
    }

    /// The checkout.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder for everything that outlives the checkout.
    pub(crate) fn cache(&self) -> &Path {
        &self.cache
    }

    /// Where components are kept, by name and version: outside the build folder, so that neither
    /// `cargo clean` nor a new clone builds them again.
    pub(crate) fn upstream(&self) -> PathBuf {
        self.cache.join("upstream")
    }

    /// Where logs of this run's steps go.
    pub(crate) fn logs(&self) -> PathBuf {
        self.cache.join("logs")
    }

    /// The build folder of `cargo xtask test`, the same for every clone unless `CARGO_TARGET_DIR` says
    /// otherwise.
    pub(crate) fn target(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.cache.join("target"), PathBuf::from)
    }

    /// The commit that is checked out, with `-dirty` when files differ from it. Result files do not
    /// count: they are what a run on this very commit writes.
    pub(crate) fn commit(&self) -> String {
        let git = |arguments: &[&str]| {
            Step::new("git", "git").arguments(arguments).directory(&self.root).output().unwrap_or_default()
        };
        let head = git(&["rev-parse", "HEAD"]);
        if head.is_empty() {
            return "unknown".to_owned();
        }
        let changes = git(&["status", "--porcelain", "--", ".", ":(exclude)results"]);
        let dirty = if changes.is_empty() { "" } else { "-dirty" };
        format!("{}{dirty}", head.trim())
    }
}

/// `$TRELLIS_CACHE`, else the `trellis` folder of the user's cache.
fn cache() -> Result<PathBuf> {
    if let Some(cache) = env::var_os("TRELLIS_CACHE") {
        return Ok(PathBuf::from(cache));
    }
    let base = match env::var_os("XDG_CACHE_HOME") {
        Some(base) => PathBuf::from(base),
        None => PathBuf::from(env::var_os("HOME").context("neither TRELLIS_CACHE nor HOME is set")?)
            .join(".cache"),
    };
    Ok(base.join("trellis"))
}
