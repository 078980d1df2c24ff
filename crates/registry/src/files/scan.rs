//! Looks through the directory and reads what changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::{Instant, SystemTime},
};

use super::{
    FileSet, QUIET, Writers,
    parse::{FileProblem, Found, MAX_FILE, parse},
    remember::Memory,
};

/// What tells one content of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    len: u64,
    inode: u64,
}

#[derive(Debug)]
struct Seen {
    stamp: Stamp,
    since: Instant,
    /// Whether what it says now has been read.
    read: bool,
    problems: Vec<FileProblem>,
}

#[derive(Debug)]
pub(super) struct Scanner {
    directory: PathBuf,
    files: BTreeMap<PathBuf, Seen>,
    memory: Memory,
    writers: Writers,
    unreadable: Option<FileProblem>,
}

impl Scanner {
    pub(super) fn new(directory: PathBuf, memory: Memory) -> Self {
        Self { directory, files: BTreeMap::new(), memory, writers: Writers::default(), unreadable: None }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// To be told who is writing.
    pub(super) fn writers(&self) -> Writers {
        self.writers.clone()
    }

    /// Whether a file waits until it has been quiet for long enough.
    pub(super) fn unsettled(&self) -> bool {
        self.files.values().any(|seen| !seen.read)
    }

    /// Everything as it lies there, without waiting for quiet: what is written right now is read again.
    pub(super) fn scan_now(&mut self) -> FileSet {
        self.look();
        self.read_settled(Instant::now() + QUIET);
        self.set()
    }

    /// The new contents, if anything changed.
    pub(super) fn scan(&mut self) -> Option<FileSet> {
        let looked = self.look();
        let read = self.read_settled(Instant::now());
        (looked || read).then(|| self.set())
    }

    /// Notes which files there are; tells whether one is gone or the directory's own state changed.
    fn look(&mut self) -> bool {
        let listed = match list(&self.directory) {
            Ok(listed) => listed,
            Err(error) => {
                // A directory that cannot be read says nothing: everything stays as it was.
                let message =
                    format!("cannot read the directory: {error}; its registrations stay as they were");
                let problem = FileProblem { path: self.directory.clone(), line: None, message };
                return self.unreadable.replace(problem.clone()) != Some(problem);
            }
        };
        let mut changed = self.unreadable.take().is_some();
        let present: BTreeSet<&PathBuf> = listed.iter().map(|(path, _)| path).collect();
        let gone: Vec<PathBuf> = self.files.keys().filter(|path| !present.contains(path)).cloned().collect();
        let forgotten = self.memory.retain(|path| present.contains(&path.to_path_buf()));
        changed |= forgotten || !gone.is_empty();
        for path in gone {
            self.files.remove(&path);
        }
        for (path, stamp) in listed {
            let known = self.files.get(&path).is_some_and(|seen| seen.stamp == stamp);
            if !known {
                let problems = self.files.remove(&path).map(|seen| seen.problems).unwrap_or_default();
                self.files.insert(path, Seen { stamp, since: Instant::now(), read: false, problems });
            }
        }
        changed
    }

    fn read_settled(&mut self, now: Instant) -> bool {
        let mut changed = false;
        for (path, seen) in self.files.iter_mut().filter(|(_, seen)| !seen.read) {
            if now.duration_since(seen.since) < self.writers.quiet(path) {
                continue;
            }
            seen.read = true;
            changed = true;
            match read(path) {
                Ok(found) => {
                    seen.problems.clear();
                    self.memory.learn(path, found);
                }
                Err(mistakes) => {
                    let kept =
                        if self.memory.knows(path) { "; what it said before stays in force" } else { "" };
                    let problem = |(line, message): (Option<usize>, String)| FileProblem {
                        path: path.clone(),
                        line,
                        message: format!("{message}{kept}"),
                    };
                    seen.problems = mistakes.into_iter().map(problem).collect();
                }
            }
        }
        changed
    }

    fn set(&mut self) -> FileSet {
        self.memory.save();
        let (objects, mut problems) = self.memory.objects();
        problems.extend(self.files.values().flat_map(|seen| seen.problems.clone()));
        problems.extend(self.unreadable.clone());
        FileSet { objects, problems }
    }
}

fn list(directory: &Path) -> std::io::Result<Vec<(PathBuf, Stamp)>> {
    use std::os::unix::fs::MetadataExt as _;
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let ours = path.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json");
        // Follows symbolic links, as a mounted ConfigMap has them. What has just gone is not there.
        let Ok(metadata) = std::fs::metadata(&path) else { continue };
        if ours && !hidden && metadata.is_file() {
            let stamp =
                Stamp { modified: metadata.modified().ok(), len: metadata.len(), inode: metadata.ino() };
            files.push((path, stamp));
        }
    }
    Ok(files)
}

fn read(path: &Path) -> Result<Vec<Found>, Vec<(Option<usize>, String)>> {
    let whole = |message: String| vec![(None, message)];
    let length = std::fs::metadata(path).map_err(|error| whole(format!("cannot be read: {error}")))?.len();
    if length > MAX_FILE {
        return Err(whole(format!("is {length} bytes long, more than the {MAX_FILE} that are read")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| whole(format!("cannot be read: {error}")))?;
    if text.is_empty() {
        return Err(whole("is empty; to withdraw its registrations delete the file".to_owned()));
    }
    let json = path.extension().is_some_and(|extension| extension == "json");
    parse(&text, json)
        .map_err(|mistakes| mistakes.into_iter().map(|(line, message)| (Some(line), message)).collect())
}
