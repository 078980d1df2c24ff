//! `host.txt` of the deployment: units and what makes them start anew, and what components leave on a host.

use crate::{Error, HostPath};

/// Name of the file below `deploy/`.
const FILE: &str = "host.txt";

/// What happens on a host besides files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// Units, in the order in which they start.
    pub rules: Vec<UnitRule>,
    /// What components leave.
    pub leaves: Vec<Leaf>,
}

/// A unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitRule {
    /// Name, with its suffix.
    pub name: String,
    /// Files, and folders with everything below: when one changes, the unit starts anew.
    pub triggers: Vec<HostPath>,
}

/// What a component leaves on a host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Leaf {
    /// A file.
    File(HostPath),
    /// A folder and everything in it.
    Folder(HostPath),
    /// An interface.
    Link(String),
    /// A table of nftables, `FAMILY/NAME`.
    Table(String),
}

impl Leaf {
    /// Where it is seen in the file system. A table is not.
    pub fn path(&self) -> Option<HostPath> {
        match self {
            Self::File(path) | Self::Folder(path) => Some(path.clone()),
            Self::Link(name) => HostPath::new(&format!("/sys/class/net/{name}")).ok(),
            Self::Table(_) => None,
        }
    }

    /// Reads `folder PATH`, `link NAME` or `table FAMILY/NAME`.
    pub(crate) fn parse(kind: &str, name: &str) -> Option<Self> {
        match kind {
            "file" => HostPath::new(name).ok().map(Self::File),
            "folder" => HostPath::new(name).ok().map(Self::Folder),
            "link" if is_word(name) && !name.contains('/') => Some(Self::Link(name.to_owned())),
            "table" if is_word(name) && name.split('/').count() == 2 => Some(Self::Table(name.to_owned())),
            _ => None,
        }
    }
}

impl std::fmt::Display for Leaf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "file {path}"),
            Self::Folder(path) => write!(f, "folder {path}"),
            Self::Link(name) => write!(f, "link {name}"),
            Self::Table(name) => write!(f, "table {name}"),
        }
    }
}

impl UnitRule {
    /// Whether a change of this file makes it start anew.
    pub fn is_triggered_by(&self, path: &HostPath) -> bool {
        self.triggers.iter().any(|trigger| trigger == path || path.is_below(trigger))
    }
}

impl Units {
    /// Those of a deployment.
    ///
    /// # Errors
    /// [`Error::Units`] at the first line that is not understood.
    pub fn of(deploy: &render::Deploy) -> Result<Self, Error> {
        Self::parse(deploy.get(FILE).unwrap_or_default())
    }

    /// Reads the file.
    ///
    /// # Errors
    /// [`Error::Units`] at the first line that is not understood.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut units = Self::default();
        for (index, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let refused = |problem| Error::Units { line: index + 1, problem };
            match words.as_slice() {
                [] => {}
                [first, ..] if first.starts_with('#') => {}
                ["unit", name, triggers @ ..] => {
                    if !is_unit(name) {
                        return Err(refused("this is no name of a unit"));
                    }
                    let triggers: Result<Vec<HostPath>, Error> =
                        triggers.iter().map(|path| HostPath::new(path)).collect();
                    let triggers = triggers.map_err(|_| refused("a path here cannot lie on a host"))?;
                    units.rules.push(UnitRule { name: (*name).to_owned(), triggers });
                }
                ["leaves", kind, name] => units.leaves.push(Leaf::parse(kind, name).ok_or_else(|| {
                    refused(
                        "\"file PATH\", \"folder PATH\", \"link NAME\" or \"table FAMILY/NAME\" belongs here",
                    )
                })?),
                _ => return Err(refused("a line begins with \"unit NAME\" or \"leaves KIND NAME\"")),
            }
        }
        Ok(units)
    }
}

/// Whether it is the name of a unit that a shell takes as one word.
pub(crate) fn is_unit(name: &str) -> bool {
    let suffix = [".service", ".timer", ".socket", ".mount"].iter().any(|suffix| name.ends_with(suffix));
    suffix && is_word(name) && !name.contains('/')
}

fn is_word(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._@-/".contains(c);
    !text.is_empty() && text.len() <= 256 && !text.starts_with(['-', '.']) && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, problem: Option<&str>) {
        let found = Units::parse(text).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), problem, "{text}");
    }

    #[test]
    fn lines_are_understood_or_named() {
        check("# a\n\nunit a.service /etc/a /etc/b/\nleaves link cni0\nleaves table ip/x\n", None);
        check("unit a", Some("host.txt:1: this is no name of a unit"));
        check("\nunit a.service etc", Some("host.txt:2: a path here cannot lie on a host"));
        let kinds =
            "host.txt:1: \"file PATH\", \"folder PATH\", \"link NAME\" or \"table FAMILY/NAME\" belongs here";
        check("leaves link a;b", Some(kinds));
        check("leaves table x", Some(kinds));
        check("what", Some("host.txt:1: a line begins with \"unit NAME\" or \"leaves KIND NAME\""));
    }

    #[test]
    fn that_of_the_deployment_is_good() {
        let units = Units::of(&render::Deploy::embedded()).expect("good");
        let kubelet = units.rules.iter().find(|rule| rule.name == "kubelet.service").expect("there");
        let path = |path| HostPath::new(path).expect("good");
        assert!(kubelet.is_triggered_by(&path("/var/lib/kubelet/config.yaml.d/50-cluster.conf")));
        assert!(!kubelet.is_triggered_by(&path("/etc/kubernetes/manifests/etcd.yaml")));
    }
}
