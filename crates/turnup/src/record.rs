//! What is kept on a host about what was laid down there: the one source for drift, resuming and removal.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use serde::Serialize;

use crate::{Error, HostPath, units::Leaf};

/// First line of the file.
const HEADER: &str = "trellis-record 1";

/// What was laid down on a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Name of the cluster; empty when nothing was ever laid down.
    pub cluster: String,
    /// Files and folders.
    pub entries: BTreeMap<HostPath, Entry>,
    /// Units that were enabled.
    pub units: BTreeSet<String>,
    /// What components leave, and was not there before.
    pub leaves: BTreeSet<Leaf>,
    /// Files of others that were replaced and are kept.
    pub saved: BTreeSet<HostPath>,
    /// Units that have yet to start anew: their files changed, and the run that changed them ended before.
    pub pending: BTreeSet<String>,
}

/// Something on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Entry {
    /// A file.
    File {
        /// Permission bits.
        mode: u32,
        /// SHA-256 of the contents, lower-case hexadecimal.
        sha256: String,
    },
    /// A folder of the tree.
    Folder {
        /// Permission bits.
        mode: u32,
        /// Whether it came with us. Then everything in it is ours.
        made: bool,
    },
    /// A folder that had to be there for a file, and was not. It is removed when it is empty.
    Parent,
}

impl Record {
    /// Whether nothing was ever laid down.
    pub fn is_empty(&self) -> bool {
        self.cluster.is_empty()
    }

    /// Reads it.
    ///
    /// # Errors
    /// [`Error::Garbled`] when it is damaged: then nothing may be done to the host that depends on it.
    pub fn parse(host: &str, lines: &[String]) -> Result<Self, Error> {
        let mut record = Self::default();
        let mut lines = lines.iter().filter(|line| !line.is_empty()).enumerate();
        let garbled = |line: usize, problem: &str| Error::Garbled {
            host: host.to_owned(),
            step: "recorded".to_owned(),
            problem: format!("the record of what was laid down, line {}: {problem}", line + 1),
        };
        match lines.next() {
            None => return Ok(record),
            Some((_, header)) if header == HEADER => {}
            Some((line, _)) => return Err(garbled(line, "it is of another version of this program")),
        }
        let mut ended = false;
        for (number, line) in lines {
            let words: Vec<&str> = line.split(' ').collect();
            ended = words == ["end"];
            record.take(&words).ok_or_else(|| garbled(number, "it is damaged"))?;
        }
        if !ended || record.cluster.is_empty() {
            return Err(garbled(record.entries.len(), "its end is missing"));
        }
        Ok(record)
    }

    fn take(&mut self, words: &[&str]) -> Option<()> {
        let path = |text: &str| HostPath::new(text).ok();
        match *words {
            ["cluster", name] => self.cluster = name.to_owned(),
            ["file", mode, sha256, at] => {
                let entry = Entry::File { mode: octal(mode)?, sha256: hash(sha256)? };
                self.entries.insert(path(at)?, entry);
            }
            ["folder", mode, made, at] => {
                let entry = Entry::Folder { mode: octal(mode)?, made: made == "made" };
                self.entries.insert(path(at)?, entry);
            }
            ["parent", at] => {
                self.entries.insert(path(at)?, Entry::Parent);
            }
            ["unit", name] => {
                self.units.insert(unit(name)?);
            }
            ["leaves", kind, name] => {
                self.leaves.insert(Leaf::parse(kind, name)?);
            }
            ["saved", at] => {
                self.saved.insert(path(at)?);
            }
            ["pending", name] => {
                self.pending.insert(unit(name)?);
            }
            ["end"] => {}
            _ => return None,
        }
        Some(())
    }

    /// The text that is kept on the host.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\ncluster {}\n", self.cluster);
        for (path, entry) in &self.entries {
            let _ = match entry {
                Entry::File { mode, sha256 } => writeln!(text, "file {mode:04o} {sha256} {path}"),
                Entry::Folder { mode, made } => {
                    writeln!(text, "folder {mode:04o} {} {path}", if *made { "made" } else { "found" })
                }
                Entry::Parent => writeln!(text, "parent {path}"),
            };
        }
        for unit in &self.units {
            let _ = writeln!(text, "unit {unit}");
        }
        for leaf in &self.leaves {
            let _ = writeln!(text, "leaves {leaf}");
        }
        for path in &self.saved {
            let _ = writeln!(text, "saved {path}");
        }
        for unit in &self.pending {
            let _ = writeln!(text, "pending {unit}");
        }
        text.push_str("end\n");
        text
    }
}

fn octal(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o7777)
}

fn hash(text: &str) -> Option<String> {
    (text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_owned())
}

fn unit(name: &str) -> Option<String> {
    crate::units::is_unit(name).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Record {
        let path = |path| HostPath::new(path).expect("good");
        Record {
            cluster: "demo".to_owned(),
            entries: BTreeMap::from([
                (path("/etc/a"), Entry::File { mode: 0o600, sha256: "0a".repeat(32) }),
                (path("/var/b"), Entry::Folder { mode: 0o700, made: true }),
                (path("/etc/c"), Entry::Parent),
            ]),
            units: BTreeSet::from(["kubelet.service".to_owned()]),
            leaves: BTreeSet::from([Leaf::Link("cni0".to_owned()), Leaf::Folder(path("/var/lib/cni"))]),
            saved: BTreeSet::from([path("/etc/a")]),
            pending: BTreeSet::from(["containerd.service".to_owned()]),
        }
    }

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let record = full();
        assert_eq!(Record::parse("n1", &lines(&record.to_text())).expect("good"), record);
        assert_eq!(Record::parse("n1", &[]).expect("good"), Record::default());
    }

    /// Half a record would make foreign files of ours, or ours of foreign ones.
    #[test]
    fn damage_is_an_error() {
        let text = full().to_text();
        let all = lines(&text);
        for kept in 1..all.len() {
            assert!(Record::parse("n1", &all[..kept]).is_err(), "{kept} lines");
        }
        for (from, to) in
            [("/etc/a", "/etc/../a"), ("0600", "06x0"), ("kubelet.service", "-x"), ("record 1", "record 2")]
        {
            assert!(Record::parse("n1", &lines(&text.replacen(from, to, 1))).is_err(), "{to}");
        }
    }
}
