//! The data file `upstream/components.toml`.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result, bail};
use fs_err as fs;
use serde::Deserialize;

/// Everything in the data file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Components {
    /// Linker flags by name.
    #[serde(default)]
    pub(crate) stamps: BTreeMap<String, Vec<String>>,
    /// Built with the Go client.
    #[serde(default)]
    pub(crate) go: Vec<GoComponent>,
    /// Programs that come in Python packages.
    #[serde(default)]
    pub(crate) pip: Vec<PipComponent>,
    /// The Python environment.
    pub(crate) python: PythonEnvironment,
    /// The JavaScript environment.
    pub(crate) node: NodeEnvironment,
    /// What Debian has.
    pub(crate) debian: Debian,
}

/// Which runs need a component.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Run {
    /// Every run.
    #[default]
    Suite,
    /// Long runs only.
    Full,
    /// Whatever sets up clusters on test hosts.
    Hosts,
}

/// How a Go component is built.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// `go build`.
    #[default]
    Build,
    /// `go test -c`.
    Test,
}

/// One binary built from a Go module.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoComponent {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Folder below `upstream/go`.
    pub(crate) module: String,
    /// Main package (or the package under test).
    pub(crate) package: String,
    pub(crate) run: Run,
    #[serde(default)]
    pub(crate) kind: Kind,
    /// Name of a stamp.
    pub(crate) stamp: Option<String>,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    #[serde(default)]
    pub(crate) cgo: bool,
    /// Folders of the package's module that are kept beside the binary, for example manifests.
    #[serde(default)]
    pub(crate) files: Vec<String>,
}

/// One program out of a Python package.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PipComponent {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) package: String,
    pub(crate) run: Run,
}

/// A virtual environment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PythonEnvironment {
    /// File with pinned packages, below `upstream`.
    pub(crate) requirements: String,
    /// What tests call its interpreter.
    pub(crate) program: String,
    pub(crate) run: Run,
}

/// A `node_modules` folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeEnvironment {
    /// Folder with package.json and its lock, below `upstream`.
    pub(crate) folder: String,
    /// What tests call the folder with the installed packages.
    pub(crate) program: String,
    pub(crate) run: Run,
}

/// Packages of the system.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Debian {
    pub(crate) packages: Vec<DebianPackage>,
}

/// One package.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DebianPackage {
    pub(crate) name: String,
    /// The command, or with slashes the file, that shows that it is there.
    pub(crate) command: String,
    /// Which runs need it.
    #[serde(default)]
    pub(crate) run: Run,
}

impl Components {
    /// Reads and checks the data file of the checkout at `root`.
    ///
    /// # Errors
    /// When it cannot be read, is not what it should be, or names a module folder or stamp that is not there.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let path = root.join("upstream/components.toml");
        let text = fs::read_to_string(&path)?;
        let components: Self = toml::from_str(&text).with_context(|| format!("{}", path.display()))?;
        components.check(root).with_context(|| format!("{}", path.display()))?;
        Ok(components)
    }

    fn check(&self, root: &Path) -> Result<()> {
        for component in &self.go {
            let label = component.label();
            if let Some(stamp) = component.stamp.as_ref().filter(|stamp| !self.stamps.contains_key(*stamp)) {
                bail!("{label} wants the stamp {stamp:?}, which is not in [stamps]");
            }
            if !root.join("upstream/go").join(&component.module).join("go.mod").is_file() {
                bail!(
                    "{label} wants the module folder upstream/go/{}, which has no go.mod",
                    component.module
                );
            }
        }
        Ok(())
    }
}

impl GoComponent {
    /// `name version`.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// The linker flags: always stripped, stamped when the entry says so.
    pub(crate) fn ldflags(&self, stamps: &BTreeMap<String, Vec<String>>) -> String {
        let mut parts = self.version.split('.');
        let (major, minor) = (parts.next().unwrap_or("0"), parts.next().unwrap_or("0"));
        let stamp =
            self.stamp.as_ref().and_then(|name| stamps.get(name)).map(Vec::as_slice).unwrap_or_default();
        let filled = stamp.iter().map(|flag| {
            flag.replace("{version}", &self.version).replace("{major}", major).replace("{minor}", minor)
        });
        ["-s".to_owned(), "-w".to_owned()].into_iter().chain(filled).collect::<Vec<_>>().join(" ")
    }
}
