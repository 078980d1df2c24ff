//! `trellis cluster render`.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use ::render::{Deploy, Explanation, Tree};
use cluster_spec::HostFacts;
use serde::{Deserialize, Serialize};

use super::{keys, object::Files};
use crate::{
    args::ClusterRenderArgs,
    commands::print,
    exit::{Code, Outcome, Problem},
};

/// What `trellis cluster explain` reads, beside the folders of the hosts.
pub(super) const EXPLANATIONS: &str = "explain.json";

/// Why every line of every file is there.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Explained {
    /// By path below the folder.
    pub(super) files: BTreeMap<String, ExplainedFile>,
}

/// Why the lines of a file are there.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExplainedFile {
    /// Whether its lines may not be shown.
    #[serde(default)]
    pub(super) secret: bool,
    /// One for each line; one alone for a key.
    pub(super) lines: Vec<Explanation>,
}

/// Writes the files of every host below a folder.
pub(super) fn run(args: &ClusterRenderArgs) -> Outcome {
    let resolved = Files::read(&args.file)?.cluster()?.resolve();
    let deploy = deploy(args.deploy.as_deref())?;
    let state = args.state.clone().unwrap_or_else(|| args.file.with_extension("state"));
    let keys = keys::ensure(&state, &resolved)?;
    let facts = HostFacts::default();
    let mut explained = Explained::default();
    let mut trees = Vec::new();
    for host in &resolved.hosts {
        let tree = ::render::render(&deploy, &resolved, host, &facts, &keys).map_err(unfit)?;
        let decisions = resolved.decisions.clone().with(host.with(&facts));
        for file in &tree.files {
            let lines = ::render::explain(&deploy, &decisions, file).map_err(unfit)?;
            explained
                .files
                .insert(format!("{}{}", tree.host, file.path), ExplainedFile { secret: file.secret, lines });
        }
        trees.push(tree);
    }
    write(&args.output, &trees, &explained).map_err(|problem| match problem {
        WriteProblem::Foreign => {
            let what = format!("{} has files that are not of this command", args.output.display());
            Problem::new(Code::Conflict, what).next("choose another folder with -o")
        }
        WriteProblem::Io(error) => {
            Problem::new(Code::Failure, error).next("make room there, or choose another folder")
        }
    })?;
    let files: usize = trees.iter().map(|tree| tree.files.len()).sum();
    let folder = args.output.display();
    print(&format!(
        "wrote {files} files of {} hosts to {folder}; keys are in {}\nnext: trellis cluster explain {folder}/HOST/PATH:LINE\n",
        trees.len(),
        state.display()
    ))
}

pub(super) fn unfit(error: ::render::Error) -> Problem {
    Problem::new(Code::Input, format!("the deployment does not fit: {error}"))
        .next("correct the folder given with --deploy, or leave it out")
}

/// The files of `--deploy`, or those of the program.
pub(super) fn deploy(folder: Option<&Path>) -> Outcome<Deploy> {
    let Some(folder) = folder else { return Ok(Deploy::embedded()) };
    let mut files = Vec::new();
    below(folder, folder, &mut files).map_err(|error| {
        Problem::new(Code::Input, error).next("give a folder like deploy/ of the sources")
    })?;
    Ok(Deploy::from_files(files))
}

fn below(top: &Path, folder: &Path, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            below(top, &path, files)?;
        } else {
            let name = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().into_owned();
            files.push((name, fs_err::read_to_string(&path)?));
        }
    }
    Ok(())
}

enum WriteProblem {
    /// Something lies there that this command did not write.
    Foreign,
    Io(io::Error),
}

impl From<io::Error> for WriteProblem {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Replaces what an earlier run wrote; nothing else is touched.
fn write(folder: &Path, trees: &[Tree], explained: &Explained) -> Result<(), WriteProblem> {
    let note = folder.join(EXPLANATIONS);
    let there = folder.try_exists()? && fs_err::read_dir(folder)?.next().is_some();
    if there && !note.try_exists()? {
        return Err(WriteProblem::Foreign);
    }
    if there {
        remove_earlier(folder, &note)?;
    }
    // Private, because keys are among the files; on a host each has the mode that it has here.
    fs_err::create_dir_all(folder)?;
    fs_err::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
    fs_err::write(&note, serde_json::to_vec(explained).map_err(io::Error::from)?)?;
    for tree in trees {
        let host = folder.join(&tree.host);
        for of_host in &tree.folders {
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(of_host.mode)
                .create(on_host(&host, &of_host.path))?;
        }
        for file in &tree.files {
            let path = on_host(&host, &file.path);
            fs_err::create_dir_all(path.parent().unwrap_or(&host))?;
            let mut written = std::fs::OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(file.mode)
                .open(&path)?;
            written.write_all(&file.contents)?;
            written.set_permissions(std::fs::Permissions::from_mode(file.mode))?;
        }
    }
    Ok(())
}

fn remove_earlier(folder: &Path, note: &Path) -> io::Result<()> {
    let earlier: Explained = serde_json::from_slice(&fs_err::read(note)?)?;
    for path in earlier.files.keys() {
        // The names were written by this command, but the file may have been edited since.
        let inside = !path.starts_with('/') && !path.split('/').any(|part| part == "..");
        let path = folder.join(path);
        if inside && path.try_exists()? {
            fs_err::remove_file(path)?;
        }
    }
    Ok(())
}

fn on_host(host: &Path, path: &str) -> PathBuf {
    host.join(path.trim_start_matches('/'))
}
