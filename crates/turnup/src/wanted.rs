//! What shall lie on a host.

use std::{collections::BTreeMap, sync::Arc};

use sha2::{Digest as _, Sha256};

use crate::{Error, HostPath, Payload, units::Units};

/// The credential of a kubelet. Where the tree does not bring it, the host joins and gets it.
const CREDENTIAL: &str = "/etc/kubernetes/kubelet.conf";
/// What the kubelet joins with: it lives an hour, and is removed as soon as the host has joined.
const BOOTSTRAP: &str = "/etc/kubernetes/bootstrap-kubelet.conf";
/// Where units of ours lie.
const UNIT_FOLDER: &str = "/etc/systemd/system";
/// The program of the kubelet, as its unit names it.
pub(crate) const KUBELET_PROGRAM: &str = "/usr/local/bin/kubelet";
/// The unit that joins.
pub(crate) const KUBELET: &str = "kubelet.service";

/// The contents of a file, with their hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The bytes, or where they are.
    pub payload: Payload,
    /// SHA-256, lower-case hexadecimal.
    pub sha256: String,
}

impl Content {
    /// Bytes in memory.
    pub fn bytes(bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { sha256: sha256(&bytes), payload: Payload::Bytes(bytes) }
    }

    /// The text, when there is one in memory.
    pub fn text(&self) -> Option<&str> {
        match &self.payload {
            Payload::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            Payload::Local { .. } => None,
        }
    }
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Permission bits.
    pub mode: u32,
    /// What is in it.
    pub content: Content,
    /// Whether nobody but root may see that; then no difference is shown either.
    pub secret: bool,
}

/// A folder with a mode of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Permission bits.
    pub mode: u32,
}

/// Everything that shall lie on a host. Owner is root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Name of the host.
    pub host: String,
    /// Name of the cluster.
    pub cluster: String,
    /// Files.
    pub files: BTreeMap<HostPath, File>,
    /// Folders.
    pub folders: BTreeMap<HostPath, Folder>,
    /// Units and what components leave.
    pub units: Units,
}

impl Wanted {
    /// That of a rendered tree.
    ///
    /// # Errors
    /// [`Error::Path`] when a path of it cannot be laid down.
    pub fn new(cluster: &str, tree: &render::Tree, units: &Units) -> Result<Self, Error> {
        let mut wanted = Self {
            host: tree.host.clone(),
            cluster: cluster.to_owned(),
            files: BTreeMap::new(),
            folders: BTreeMap::new(),
            units: units.clone(),
        };
        for file in &tree.files {
            wanted.add(&file.path, file.mode, Content::bytes(file.contents.clone()), file.secret)?;
        }
        for folder in &tree.folders {
            wanted.folders.insert(HostPath::new(&folder.path)?, Folder { mode: folder.mode });
        }
        Ok(wanted)
    }

    /// Adds a file that is no part of the tree, such as a binary.
    ///
    /// # Errors
    /// [`Error::Path`] when it cannot be laid down.
    pub fn add(&mut self, path: &str, mode: u32, content: Content, secret: bool) -> Result<(), Error> {
        self.files.insert(HostPath::new(path)?, File { mode, content, secret });
        Ok(())
    }

    /// Every path that has to be looked at, the folders above included.
    pub fn paths(&self) -> Vec<HostPath> {
        let own = self.files.keys().chain(self.folders.keys()).cloned();
        let leaves = self.units.leaves.iter().filter_map(crate::units::Leaf::path);
        // The program of the kubelet is looked for, also where others brought it.
        let known = [CREDENTIAL, KUBELET_PROGRAM].into_iter().filter_map(|path| HostPath::new(path).ok());
        let mut paths: Vec<HostPath> = own
            .chain(known)
            .flat_map(|path| {
                let mut all: Vec<HostPath> = path.parents().collect();
                all.push(path);
                all
            })
            .chain(leaves)
            .collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// Units of ours: their own file is among the files. In the order in which they start.
    pub fn own_units(&self) -> impl Iterator<Item = &str> {
        let names = self.units.rules.iter().map(|rule| rule.name.as_str());
        names.filter(|name| {
            let path = HostPath::new(&format!("{UNIT_FOLDER}/{name}"));
            path.is_ok_and(|path| self.files.contains_key(&path))
        })
    }

    /// Whether the host has to join: its kubelet gets its credential from the cluster.
    pub fn joins(&self) -> bool {
        let kubelet = self.own_units().any(|unit| unit == KUBELET);
        kubelet && HostPath::new(CREDENTIAL).is_ok_and(|path| !self.files.contains_key(&path))
    }

    /// Where the credential of the kubelet lies.
    ///
    /// # Errors
    /// Never for the path that it is.
    pub(crate) fn credential() -> Result<HostPath, Error> {
        HostPath::new(CREDENTIAL)
    }

    /// Where that lies with which it joins.
    ///
    /// # Errors
    /// Never for the path that it is.
    pub(crate) fn bootstrap() -> Result<HostPath, Error> {
        HostPath::new(BOOTSTRAP)
    }
}

/// SHA-256 as lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
