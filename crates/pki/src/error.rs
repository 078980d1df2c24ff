//! What can go wrong, each with the thing it went wrong with.

use std::{io, path::PathBuf};

/// An error of this crate. `object` is what the caller was told to name: a file, or words such as
/// "the CA bundle".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be read, written or made.
    #[error("cannot {step} {}: {source}", path.display())]
    File {
        /// `read`, `write`, `make`, ...
        step: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// PEM that is not what it should be.
    #[error("{object}: {problem}")]
    Pem {
        /// Where it stands.
        object: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Only one of certificate and key is there.
    #[error(
        "{} is there but {} is missing; restore it, or remove both and they are made anew",
        present.display(),
        missing.display()
    )]
    HalfPair {
        /// The file that is there.
        present: PathBuf,
        /// The file that is not.
        missing: PathBuf,
    },
    /// The key is not the one in the certificate.
    #[error("the private key of {key} does not match the certificate of {certificate}")]
    KeyMismatch {
        /// Where the certificate stands.
        certificate: String,
        /// Where the key stands.
        key: String,
    },
    /// A certificate that cannot be read.
    #[error("{object}: not an X.509 certificate: {problem}")]
    Certificate {
        /// Where it stands.
        object: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A certificate that is no CA was given as one.
    #[error("{object}: the certificate is not a CA (basicConstraints)")]
    NotAnAuthority {
        /// Where it stands.
        object: String,
    },
    /// A certificate could not be made.
    #[error("cannot make the certificate of {subject}: {problem}")]
    Issue {
        /// Common name asked for.
        subject: String,
        /// Why.
        problem: String,
    },
    /// A TLS configuration could not be built.
    #[error("cannot set up TLS with {object}: {problem}")]
    Tls {
        /// The part that does not fit.
        object: String,
        /// Why.
        problem: String,
    },
    /// A name that cannot stand in a certificate.
    #[error("{name:?} is neither a DNS name nor an IP address")]
    Name {
        /// The name.
        name: String,
    },
    /// A subject that tells no user.
    #[error("the client certificate carries {problem}")]
    Subject {
        /// What is wrong with it.
        problem: String,
    },
}

impl Error {
    pub(crate) fn file(step: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::File { step, path: path.into(), source }
    }

    pub(crate) fn pem(object: &str, problem: impl ToString) -> Self {
        Self::Pem { object: object.to_owned(), problem: problem.to_string() }
    }

    pub(crate) fn certificate(object: &str, problem: impl ToString) -> Self {
        Self::Certificate { object: object.to_owned(), problem: problem.to_string() }
    }

    pub(crate) fn issue(subject: &str, problem: impl ToString) -> Self {
        Self::Issue { subject: subject.to_owned(), problem: problem.to_string() }
    }

    pub(crate) fn tls(object: impl Into<String>, problem: impl ToString) -> Self {
        Self::Tls { object: object.into(), problem: problem.to_string() }
    }
}
