//! The files of one host.

use cluster_spec::{Content, Decision, Decisions, HostFacts, Resolved, ResolvedHost};

use crate::{
    deploy::Deploy,
    error::Error,
    keys::Keys,
    layout::{Entry, FILE, Hosts, Layout, Origin},
    template::{Line, Piece, Template},
};

/// Names of secrets begin so.
const KEY: &str = "key.";

/// Everything that lies on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Name of the host.
    pub host: String,
    /// Folders with a mode of their own.
    pub folders: Vec<Folder>,
    /// Files.
    pub files: Vec<File>,
}

/// A folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Path on the host.
    pub path: String,
    /// Permission bits.
    pub mode: u32,
    /// Line in `tree.txt`, from 1.
    pub layout_line: usize,
}

/// A file.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// Path on the host.
    pub path: String,
    /// Permission bits.
    pub mode: u32,
    /// Contents.
    pub contents: Vec<u8>,
    /// Whether nobody but root may see the contents.
    pub secret: bool,
    /// Line in `tree.txt`, from 1.
    pub layout_line: usize,
    /// The decision that it depends on.
    pub when: Option<String>,
    /// What it is made of.
    pub origin: Origin,
    /// Where each of its lines comes from; none for keys and certificates.
    pub lines: Vec<RenderedLine>,
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "File({}, {:o}, {} bytes)", self.path, self.mode, self.contents.len())
    }
}

/// Where a line comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedLine {
    /// Line in the file of `deploy/`, from 1.
    pub number: usize,
    /// The entry of the list that it was made for, from 0.
    pub item: Option<usize>,
}

/// Makes the files of a host.
///
/// # Errors
/// When `deploy` does not fit the decisions, or a key is missing.
pub fn render(
    deploy: &Deploy,
    resolved: &Resolved,
    host: &ResolvedHost,
    facts: &HostFacts,
    keys: &dyn Keys,
) -> Result<Tree, Error> {
    let no_layout = || Error::NoFile { by: "the deployment".to_owned(), file: FILE.to_owned() };
    let layout = Layout::parse(deploy.get(FILE).ok_or_else(no_layout)?)?;
    let decisions = resolved.decisions.clone().with(host.with(facts));
    let renderer = Renderer { deploy, decisions: &decisions, host, keys };
    let mut tree = Tree { host: host.name.clone(), folders: Vec::new(), files: Vec::new() };
    for entry in &layout.entries {
        if !renderer.is_there(entry)? {
            continue;
        }
        match &entry.origin {
            Origin::Folder => tree.folders.push(Folder {
                path: entry.path.clone(),
                mode: entry.mode,
                layout_line: entry.line,
            }),
            Origin::Template(file) => tree.files.push(renderer.template(entry, file)?),
            Origin::Key(name) => tree.files.push(renderer.key(entry, name)?),
        }
    }
    Ok(tree)
}

struct Renderer<'a> {
    deploy: &'a Deploy,
    decisions: &'a Decisions,
    host: &'a ResolvedHost,
    keys: &'a dyn Keys,
}

impl Renderer<'_> {
    fn is_there(&self, entry: &Entry) -> Result<bool, Error> {
        let here = entry.hosts == Hosts::All || self.host.control_plane;
        let wanted = entry.when.as_deref().map(|name| self.is_true(FILE, entry.line, name)).transpose()?;
        Ok(here && wanted.unwrap_or(true))
    }

    fn is_true(&self, file: &str, line: usize, name: &str) -> Result<bool, Error> {
        match self.decision(file, line, name)?.content {
            Content::Value(serde_json::Value::Bool(value)) => Ok(value),
            _ => Err(kind(file, line, name, "not true or false")),
        }
    }

    fn decision(&self, file: &str, line: usize, name: &str) -> Result<&Decision, Error> {
        let unknown = || Error::Unknown { file: file.to_owned(), line, name: name.to_owned() };
        self.decisions.get(name).ok_or_else(unknown)
    }

    fn key(&self, entry: &Entry, name: &str) -> Result<File, Error> {
        let contents = self.keys.file(self.host, name).ok_or_else(|| self.no_key(name))?;
        Ok(file(entry, contents, entry.mode & 0o077 == 0, Vec::new()))
    }

    fn no_key(&self, name: &str) -> Error {
        Error::NoKey { host: self.host.name.clone(), name: name.to_owned() }
    }

    fn template(&self, entry: &Entry, path: &str) -> Result<File, Error> {
        let missing = || Error::NoFile { by: format!("{FILE}:{}", entry.line), file: path.to_owned() };
        let template = Template::parse(path, self.deploy.get(path).ok_or_else(missing)?)?;
        let mut text = String::new();
        let mut lines = Vec::new();
        let mut secret = false;
        for line in &template.lines {
            let kept = line.when.as_deref().map(|name| self.is_true(path, line.number, name)).transpose()?;
            if kept == Some(false) {
                continue;
            }
            secret |= line.names().any(|name| name.starts_with(KEY));
            for (item, rendered) in self.line(path, line)? {
                text.push_str(&rendered);
                text.push('\n');
                lines.push(RenderedLine { number: line.number, item });
            }
        }
        Ok(file(entry, text.into_bytes(), secret, lines))
    }

    /// The lines that a line becomes, each with the entry of the list that it is for.
    fn line(&self, path: &str, line: &Line) -> Result<Vec<(Option<usize>, String)>, Error> {
        let Some(list) = line.list() else { return Ok(vec![(None, self.fill(path, line, "")?)]) };
        let decision = self.decision(path, line.number, list)?;
        let Content::Items(items) = &decision.content else {
            return Err(kind(path, line.number, list, "one value, not a list"));
        };
        let each = items.iter().enumerate();
        each.map(|(index, item)| Ok((Some(index), self.fill(path, line, &item.text(decision.quoted))?)))
            .collect()
    }

    fn fill(&self, path: &str, line: &Line, item: &str) -> Result<String, Error> {
        let mut text = String::new();
        for piece in &line.pieces {
            let (name, value) = match piece {
                Piece::Text(piece) => {
                    text.push_str(piece);
                    continue;
                }
                Piece::List(name) => (name, item.to_owned()),
                Piece::Value(name) => (name, self.value(path, line.number, name)?),
            };
            if value.contains(['\n', '\r']) {
                return Err(Error::Lines { file: path.to_owned(), line: line.number, name: name.clone() });
            }
            text.push_str(&value);
        }
        Ok(text)
    }

    fn value(&self, path: &str, line: usize, name: &str) -> Result<String, Error> {
        if let Some(key) = name.strip_prefix(KEY) {
            return self.keys.value(key).ok_or_else(|| self.no_key(key));
        }
        let text = self.decision(path, line, name)?.text();
        text.ok_or_else(|| kind(path, line, name, "a list, not one value"))
    }
}

fn kind(file: &str, line: usize, name: &str, problem: &'static str) -> Error {
    Error::Kind { file: file.to_owned(), line, name: name.to_owned(), problem }
}

fn file(entry: &Entry, contents: Vec<u8>, secret: bool, lines: Vec<RenderedLine>) -> File {
    File {
        path: entry.path.clone(),
        mode: entry.mode,
        contents,
        secret,
        layout_line: entry.line,
        when: entry.when.clone(),
        origin: entry.origin.clone(),
        lines,
    }
}
