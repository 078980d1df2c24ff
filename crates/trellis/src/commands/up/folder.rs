//! Where `trellis up` keeps its state.

use std::{
    env,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::exit::{Code, Outcome, Problem};

/// The folder, removed at the end when it is temporary.
pub(super) enum Folder {
    /// It stays.
    Kept(PathBuf),
    /// It goes when this is dropped.
    Temporary(TempDir),
}

impl Folder {
    /// The folder that was asked for, or the usual one.
    pub(super) fn choose(data: Option<PathBuf>, ephemeral: bool) -> Outcome<Self> {
        if ephemeral {
            let made = tempfile::Builder::new().prefix("trellis-").tempdir();
            return made.map(Self::Temporary).map_err(|error| {
                Problem::new(Code::State, format!("cannot make a temporary folder: {error}"))
                    .next("make room there, or name a folder with --data")
            });
        }
        let folder = match data {
            Some(folder) => folder,
            None => usual_folder().ok_or_else(|| {
                Problem::new(Code::State, "there is no home folder to keep state in")
                    .next("name a folder with --data")
            })?,
        };
        pki::create_private_dir(&folder).map_err(|error| {
            Problem::new(Code::State, error).next("name another folder with --data, or use --ephemeral")
        })?;
        // What is printed is to work in another terminal, wherever that is.
        let absolute = fs_err::canonicalize(&folder).map_err(|error| Problem::new(Code::State, error))?;
        Ok(Self::Kept(absolute))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }

    /// Whether it goes at the end.
    pub(super) fn is_temporary(&self) -> bool {
        matches!(self, Self::Temporary(_))
    }
}

/// `$XDG_STATE_HOME/trellis/up`, by default `~/.local/state/trellis/up`.
fn usual_folder() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base =
        absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")))?;
    Some(base.join("trellis/up"))
}
