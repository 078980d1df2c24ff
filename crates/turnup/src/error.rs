//! What can go wrong, each with the host and the step.

use std::{io, path::PathBuf, time::Duration};

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `ssh` could not be started on this machine.
    #[error("cannot start {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A host cannot be reached, or the connection broke.
    #[error("{host}: {step}: {cause}{detail}")]
    Ssh {
        /// The host.
        host: String,
        /// What was being done.
        step: String,
        /// What ssh complained of.
        cause: SshCause,
        /// The last it said, made printable, after ": "; or nothing.
        detail: String,
    },
    /// A host did not answer in time.
    #[error("{host}: {step}: no answer within {} s", after.as_secs())]
    Silent {
        /// The host.
        host: String,
        /// What was being done.
        step: String,
        /// How long was waited.
        after: Duration,
    },
    /// What came from a host is not an answer.
    #[error("{host}: {step}: not understood: {problem}")]
    Garbled {
        /// The host.
        host: String,
        /// What was being done.
        step: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A host could not do what it was asked for.
    #[error("{host}: {step}: {why}")]
    Refused {
        /// The host.
        host: String,
        /// What was being done.
        step: String,
        /// What the host says.
        why: String,
    },
    /// A path that cannot lie on a host.
    #[error("{path:?} cannot be laid down: {problem}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// What shall lie on a host cannot be made.
    #[error("{host}: {source}")]
    Render {
        /// The host.
        host: String,
        /// Why.
        source: render::Error,
    },
    /// The rules about units are not understood.
    #[error("host.txt:{line}: {problem}")]
    Units {
        /// Line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A file of this machine.
    #[error("cannot {step} {}: {source}", path.display())]
    File {
        /// `read`, `write`, ...
        step: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Why ssh does not work, as far as it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SshCause {
    /// The key of the host is not known here.
    UnknownHostKey,
    /// The key of the host is another one than that known here.
    ChangedHostKey,
    /// The user or the key is not let in.
    Denied,
    /// Nothing listens there.
    NotListening,
    /// Nothing answers there.
    NoAnswer,
    /// The name does not resolve.
    NoSuchName,
    /// sudo wants a password, or does not let the user in.
    SudoRefused,
    /// The connection ended.
    Ended,
}

impl SshCause {
    /// What to do about it.
    pub fn fix(self) -> &'static str {
        match self {
            Self::UnknownHostKey => {
                "compare its fingerprint and connect once with ssh, or give --accept-new-host-keys"
            }
            Self::ChangedHostKey => "if the host was made anew, remove its old key with ssh-keygen -R",
            Self::Denied => "correct ssh.user and ssh.key of the host, and try it with ssh",
            Self::NotListening => "start sshd there, or correct address and ssh.port of the host",
            Self::NoAnswer => "start the host, or correct its address and the firewall before it",
            Self::NoSuchName => "correct the name of ssh.bastion",
            Self::SudoRefused => "allow the user sudo without a password, or give ssh.user root",
            Self::Ended => "run it again: it goes on where it stopped",
        }
    }

    /// Reads what ssh or sudo said.
    pub(crate) fn of(stderr: &str) -> Self {
        const SIGNS: [(&str, SshCause); 12] = [
            ("REMOTE HOST IDENTIFICATION HAS CHANGED", SshCause::ChangedHostKey),
            ("Host key verification failed", SshCause::UnknownHostKey),
            ("Permission denied", SshCause::Denied),
            ("Too many authentication failures", SshCause::Denied),
            ("sudo:", SshCause::SudoRefused),
            ("not in the sudoers", SshCause::SudoRefused),
            ("Connection refused", SshCause::NotListening),
            ("Could not resolve", SshCause::NoSuchName),
            ("timed out", SshCause::NoAnswer),
            ("not responding", SshCause::NoAnswer),
            ("No route to host", SshCause::NoAnswer),
            ("unreachable", SshCause::NoAnswer),
        ];
        let found = SIGNS.iter().find(|(sign, _)| stderr.contains(sign));
        found.map_or(Self::Ended, |(_, cause)| *cause)
    }
}

impl std::fmt::Display for SshCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::UnknownHostKey => "its host key is not known here",
            Self::ChangedHostKey => "its host key is another one than before",
            Self::Denied => "ssh is not let in",
            Self::NotListening => "nothing listens there",
            Self::NoAnswer => "nothing answers there",
            Self::NoSuchName => "the name does not resolve",
            Self::SudoRefused => "sudo was refused",
            Self::Ended => "the connection ended",
        })
    }
}

impl Error {
    /// What to do about it, when that is known.
    pub fn fix(&self) -> Option<&'static str> {
        match self {
            Self::Ssh { cause, .. } => Some(cause.fix()),
            Self::Silent { .. } => Some("see what the host is busy with, and run it again"),
            Self::Start { .. } => Some("install the OpenSSH client"),
            _ => None,
        }
    }

    /// Makes one of a file of this machine.
    pub(crate) fn file(step: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::File { step, path: path.into(), source }
    }
}
