//! Which versions of everything belong to a version of Kubernetes.

use std::{fmt, str::FromStr};

/// A version of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The 37 of 1.37.2.
    pub minor: u32,
    /// The 2 of 1.37.2.
    pub patch: u32,
}

/// What is known of a minor version.
#[derive(Debug)]
pub struct Release {
    /// The 37 of 1.37.
    pub minor: u32,
    /// Newest patch release known.
    pub patch: u32,
    /// Tag of the etcd image.
    pub etcd: &'static str,
    /// Tag of the CoreDNS image.
    pub coredns: &'static str,
    /// Tag of the pause image.
    pub pause: &'static str,
}

/// Supported minor versions, oldest first, with what kubeadm of the same version takes.
pub const RELEASES: [Release; 3] = [
    Release { minor: 35, patch: 4, etcd: "3.6.6-0", coredns: "v1.13.1", pause: "3.10.1" },
    Release { minor: 36, patch: 3, etcd: "3.6.8-0", coredns: "v1.14.2", pause: "3.10.2" },
    Release { minor: 37, patch: 2, etcd: "3.7.0-0", coredns: "v1.14.6", pause: "3.10.2" },
];

/// The newest version known.
pub const NEWEST: Version = Version { minor: 37, patch: 2 };

/// Tag of the flannel image.
pub const FLANNEL: &str = "v0.26.7";
/// Tag of the metrics-server image.
pub const METRICS_SERVER: &str = "v0.8.0";

impl Version {
    /// `1.37`.
    pub fn minor_text(self) -> String {
        format!("1.{}", self.minor)
    }

    /// What belongs to it.
    pub fn release(self) -> Option<&'static Release> {
        RELEASES.iter().find(|release| release.minor == self.minor)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}.{}", self.minor, self.patch)
    }
}

/// Why a text is no supported version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoVersion {
    /// It is not written as one.
    Malformed,
    /// Older than what is supported.
    TooOld,
    /// Newer than what is known.
    TooNew,
}

impl FromStr for Version {
    type Err = NoVersion;

    /// Reads `1.37` (its newest known patch) or `1.37.2`.
    fn from_str(text: &str) -> Result<Self, NoVersion> {
        let number = |text: &str| -> Result<u32, NoVersion> {
            let plain = !text.is_empty() && text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit());
            let canonical = text == "0" || !text.starts_with('0');
            if !plain || !canonical {
                return Err(NoVersion::Malformed);
            }
            text.parse().map_err(|_| NoVersion::Malformed)
        };
        let mut parts = text.split('.');
        let major = number(parts.next().unwrap_or_default())?;
        let minor = number(parts.next().unwrap_or_default())?;
        let patch = parts.next().map(number).transpose()?;
        if parts.next().is_some() {
            return Err(NoVersion::Malformed);
        }
        let [oldest, .., newest] = &RELEASES;
        if major < 1 || (major == 1 && minor < oldest.minor) {
            return Err(NoVersion::TooOld);
        }
        let release = RELEASES.iter().find(|release| major == 1 && release.minor == minor);
        let release = release.ok_or(if major == 1 && minor < newest.minor {
            NoVersion::Malformed
        } else {
            NoVersion::TooNew
        })?;
        Ok(Self { minor, patch: patch.unwrap_or(release.patch) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        for (text, expected) in [
            ("1.37", Ok(NEWEST)),
            ("1.37.0", Ok(Version { minor: 37, patch: 0 })),
            ("1.35", Ok(Version { minor: 35, patch: 4 })),
            ("1.34.9", Err(NoVersion::TooOld)),
            ("1.38", Err(NoVersion::TooNew)),
            ("2.0", Err(NoVersion::TooNew)),
            ("v1.37.2", Err(NoVersion::Malformed)),
            ("1.37.02", Err(NoVersion::Malformed)),
            ("1", Err(NoVersion::Malformed)),
            ("1.37.2.1", Err(NoVersion::Malformed)),
            ("", Err(NoVersion::Malformed)),
        ] {
            assert_eq!(text.parse::<Version>(), expected, "{text}");
        }
    }

    #[test]
    fn the_newest_is_the_last_release() {
        assert_eq!(NEWEST.release().map(|release| release.patch), Some(NEWEST.patch));
    }
}
