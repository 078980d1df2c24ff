//! Paths on hosts: such that a shell takes each as one word.

use std::fmt;

use serde::Serialize;

use crate::Error;

/// Longest path, in bytes.
const LONGEST: usize = 1024;

/// An absolute path of letters, digits and `._/@+-`, with no `.`, `..` or empty part, no `/` at its end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct HostPath(String);

impl HostPath {
    /// Takes a path; a `/` at its end is left out.
    ///
    /// # Errors
    /// [`Error::Path`] when it is another one than described above.
    pub fn new(path: &str) -> Result<Self, Error> {
        let refused = |problem| Err(Error::Path { path: path.chars().take(200).collect(), problem });
        let trimmed = path.strip_suffix('/').unwrap_or(path);
        let Some(relative) = trimmed.strip_prefix('/') else { return refused("it is not absolute") };
        if trimmed.len() > LONGEST {
            return refused("it is too long");
        }
        if relative.split('/').any(|part| matches!(part, "" | "." | "..") || part.starts_with('-')) {
            return refused("a part is empty, \".\" or \"..\", or begins with \"-\"");
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "._/@+-".contains(c);
        if !trimmed.chars().all(plain) {
            return refused("only letters, digits and \"._/@+-\" may stand in it");
        }
        Ok(Self(trimmed.to_owned()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folders that it is in, the outermost first; the root is none of them.
    pub fn parents(&self) -> impl Iterator<Item = HostPath> {
        self.0.match_indices('/').skip(1).map(|(at, _)| HostPath(self.0[..at].to_owned()))
    }

    /// Whether it lies below that folder.
    pub fn is_below(&self, folder: &HostPath) -> bool {
        self.0.strip_prefix(&folder.0).is_some_and(|rest| rest.starts_with('/'))
    }
}

impl fmt::Display for HostPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, good: bool) {
        assert_eq!(HostPath::new(path).is_ok(), good, "{path}");
    }

    #[test]
    fn only_plain_paths() {
        for path in ["/etc/a", "/a", "/var/lib/etcd/", "/etc/systemd/system/a@b.service"] {
            check(path, true);
        }
        for path in
            ["", "/", "etc/a", "/etc//a", "/etc/../a", "/a b", "/a'b", "/a\nb", "/a/-rf", "/a$(b)", "/a*"]
        {
            check(path, false);
        }
        check(&format!("/{}", "a".repeat(2000)), false);
    }

    #[test]
    fn parents_from_outside() {
        let path = HostPath::new("/a/b/c").expect("good");
        let parents: Vec<String> = path.parents().map(|path| path.to_string()).collect();
        assert_eq!(parents, ["/a", "/a/b"]);
        assert!(path.is_below(&HostPath::new("/a/b").expect("good")));
        assert!(!HostPath::new("/a/bc").expect("good").is_below(&HostPath::new("/a/b").expect("good")));
    }
}
