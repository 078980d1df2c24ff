//! Certificates of a test, gone with it.

use std::{
    net::{IpAddr, Ipv4Addr},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use pki::{Authority, CertifiedKey, Leaf};
use tempfile::TempDir;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// A CA for servers, one for users, one for front proxies, and one that nobody trusts; with a folder
/// for files.
pub struct TempPki {
    /// Signs servers.
    pub server_ca: Authority,
    /// Signs users.
    pub client_ca: Authority,
    /// Signs front proxies.
    pub front_proxy_ca: Authority,
    /// Signs nobody that anybody should trust.
    pub unknown_ca: Authority,
    dir: TempDir,
}

/// What a test server shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Serving {
    /// A certificate for `localhost` and `127.0.0.1`.
    #[default]
    Good,
    /// One for `elsewhere.example.com`.
    WrongName,
    /// One that expired yesterday.
    Expired,
    /// One that is valid from tomorrow.
    NotYetValid,
    /// One of the CA that nobody trusts.
    UnknownAuthority,
}

impl TempPki {
    /// Makes all four.
    ///
    /// # Panics
    /// When the machine has no place for temporary files.
    pub fn new() -> Self {
        let ca = |name: &str| Authority::make(name, 30 * DAY).expect("a CA");
        Self {
            server_ca: ca("test server CA"),
            client_ca: ca("test client CA"),
            front_proxy_ca: ca("test front proxy CA"),
            unknown_ca: ca("test unknown CA"),
            dir: TempDir::new().expect("a temporary folder"),
        }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A certificate for a server on this machine.
    ///
    /// # Panics
    /// Never, but for a bug in the making of certificates.
    pub fn serving(&self, serving: Serving) -> CertifiedKey {
        let local = Leaf::server("localhost").dns("localhost").ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let now = SystemTime::now();
        let (authority, leaf) = match serving {
            Serving::Good => (&self.server_ca, local),
            Serving::WrongName => (&self.server_ca, Leaf::server("elsewhere").dns("elsewhere.example.com")),
            Serving::Expired => (&self.server_ca, local.valid_between(now - 9 * DAY, now - DAY)),
            Serving::NotYetValid => (&self.server_ca, local.valid_between(now + DAY, now + 9 * DAY)),
            Serving::UnknownAuthority => (&self.unknown_ca, local),
        };
        authority.issue(&leaf).expect("a serving certificate")
    }

    /// A user's certificate.
    ///
    /// # Panics
    /// Never, but for a bug in the making of certificates.
    pub fn user(&self, name: &str, groups: &[&str]) -> CertifiedKey {
        let leaf = groups.iter().fold(Leaf::client(name), |leaf, group| leaf.organization(*group));
        self.client_ca.issue(&leaf).expect("a client certificate")
    }

    /// A front proxy's certificate.
    ///
    /// # Panics
    /// Never, but for a bug in the making of certificates.
    pub fn front_proxy(&self, name: &str) -> CertifiedKey {
        self.front_proxy_ca.issue(&Leaf::client(name)).expect("a front proxy's certificate")
    }

    /// Writes a file into the folder and gives its path.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.dir.path().join(name);
        fs_err::write(&path, content).expect("a file of the test");
        path
    }
}

impl Default for TempPki {
    fn default() -> Self {
        Self::new()
    }
}
