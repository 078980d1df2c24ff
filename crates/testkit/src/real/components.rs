//! Where `cargo xtask upstream` keeps the programs.

use std::{
    env, fmt,
    path::{Path, PathBuf},
};

use serde::Deserialize;

/// Why a test cannot be run on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable(
    /// A sentence.
    pub String,
);

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Default, Deserialize)]
struct Manifest {
    components: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    version: String,
    path: PathBuf,
}

/// The default version of a component.
///
/// # Errors
/// When it is not there.
pub fn program(name: &str) -> Result<PathBuf, Unavailable> {
    find(name, |_| true)
        .ok_or_else(|| Unavailable(format!("{name} is not there: cargo xtask upstream {name} builds it")))
}

/// One version of a component.
///
/// # Errors
/// When it is not there.
pub fn program_version(name: &str, version: &str) -> Result<PathBuf, Unavailable> {
    find(name, |entry| entry.version == version).ok_or_else(|| {
        Unavailable(format!("{name} {version} is not there: cargo xtask upstream --full builds it"))
    })
}

/// A file that is kept beside a component, out of its own project: for example a manifest.
///
/// # Errors
/// When the component or the file is not there.
pub fn companion(name: &str, file: &str) -> Result<PathBuf, Unavailable> {
    let path = program(name)?.parent().unwrap_or(Path::new("/")).join("files").join(file);
    if path.exists() { Ok(path) } else { Err(Unavailable(format!("{} is not there", path.display()))) }
}

fn find(name: &str, wanted: impl Fn(&Entry) -> bool) -> Option<PathBuf> {
    let file = cache()?.join("upstream/manifest.json");
    let manifest: Manifest = serde_json::from_slice(&fs_err::read(file).ok()?).ok()?;
    let entry = manifest.components.into_iter().find(|entry| entry.name == name && wanted(entry))?;
    entry.path.exists().then_some(entry.path)
}

/// The same folder as `cargo xtask` uses.
fn cache() -> Option<PathBuf> {
    if let Some(cache) = env::var_os("TRELLIS_CACHE") {
        return Some(cache.into());
    }
    let base = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))?;
    Some(base.join("trellis"))
}
