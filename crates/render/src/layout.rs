//! `tree.txt`: what lies on which host.

use crate::error::Error;

/// Name of the file.
pub(crate) const FILE: &str = "tree.txt";

/// Every folder and file of a cluster's hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// In the order in which they are laid down.
    pub entries: Vec<Entry>,
}

/// A line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Line in `tree.txt`, from 1.
    pub line: usize,
    /// On which hosts.
    pub hosts: Hosts,
    /// The decision that it depends on; none: always.
    pub when: Option<String>,
    /// Permission bits.
    pub mode: u32,
    /// Path on the host.
    pub path: String,
    /// What it is made of.
    pub origin: Origin,
}

/// On which hosts something lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// All of them.
    All,
    /// That of the control plane.
    ControlPlane,
}

/// What something on a host is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is a folder.
    Folder,
    /// A file of `deploy/`, filled in.
    Template(String),
    /// A key or certificate.
    Key(String),
}

impl Layout {
    /// Reads it.
    ///
    /// # Errors
    /// [`Error::Layout`] at the first line that is not understood.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        let entries = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let entries: Result<Vec<Entry>, Error> = entries
            .map(|(line, text)| entry(line, text).map_err(|problem| Error::Layout { line, problem }))
            .collect();
        Ok(Self { entries: entries? })
    }
}

fn entry(line: usize, text: &str) -> Result<Entry, &'static str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [hosts, when, mode, path, from @ ..] = words.as_slice() else {
        return Err("five columns belong here: hosts, when, mode, path, from");
    };
    let hosts = match *hosts {
        "all" => Hosts::All,
        "control-plane" => Hosts::ControlPlane,
        _ => return Err("the hosts are \"all\" or \"control-plane\""),
    };
    let origin = match from {
        ["folder"] => Origin::Folder,
        ["key", name] => Origin::Key((*name).to_owned()),
        [file] => Origin::Template((*file).to_owned()),
        _ => return Err("the last column is \"folder\", \"key NAME\" or a file"),
    };
    let clean = path.starts_with('/') && !path.split('/').any(|part| part == ".." || part == ".");
    if !clean || path.ends_with('/') != (origin == Origin::Folder) {
        return Err("a path begins with \"/\", and that of a folder ends with it");
    }
    let mode = u32::from_str_radix(mode, 8).ok().filter(|mode| *mode <= 0o777);
    Ok(Entry {
        line,
        hosts,
        when: (*when != "always").then(|| (*when).to_owned()),
        mode: mode.ok_or("the mode is octal, as 0644")?,
        path: (*path).to_owned(),
        origin,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<Entry, &'static str>) {
        let found = Layout::parse(&format!("# first\n\n{text}\n"));
        let expected = expected.map(|entry| Layout { entries: vec![entry] });
        assert_eq!(found, expected.map_err(|problem| Error::Layout { line: 3, problem }), "{text}");
    }

    #[test]
    fn lines_are_understood_or_named() {
        let entry = |hosts, when: Option<&str>, mode, path: &str, origin| Entry {
            line: 3,
            hosts,
            when: when.map(str::to_owned),
            mode,
            path: path.to_owned(),
            origin,
        };
        let file = Origin::Template("host/a".to_owned());
        check("all always 0644 /etc/a host/a", Ok(entry(Hosts::All, None, 0o644, "/etc/a", file)));
        let key = Origin::Key("etcd/ca.crt".to_owned());
        let expected = entry(Hosts::ControlPlane, Some("x.y"), 0o600, "/etc/b", key);
        check("control-plane x.y 0600 /etc/b key etcd/ca.crt", Ok(expected));
        check(
            "all always 0700 /var/c/ folder",
            Ok(entry(Hosts::All, None, 0o700, "/var/c/", Origin::Folder)),
        );
        check("all always 0644", Err("five columns belong here: hosts, when, mode, path, from"));
        check("some always 0644 /etc/a host/a", Err("the hosts are \"all\" or \"control-plane\""));
        check("all always 9 /etc/a host/a", Err("the mode is octal, as 0644"));
        check(
            "all always 0644 /etc/../a host/a",
            Err("a path begins with \"/\", and that of a folder ends with it"),
        );
        check(
            "all always 0644 /etc/a/ host/a",
            Err("a path begins with \"/\", and that of a folder ends with it"),
        );
        check("all always 0644 /etc/a a b c", Err("the last column is \"folder\", \"key NAME\" or a file"));
    }
}
