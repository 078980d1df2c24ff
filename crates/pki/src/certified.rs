//! A certificate chain with its private key, as PEM.

use std::{fmt, path::Path};

use crate::{Error, Peer, certificates, files, private_key, provider};

/// A certificate chain, leaf first, and the private key of the leaf. `Debug` shows nothing of the key.
#[derive(Clone, PartialEq, Eq)]
pub struct CertifiedKey {
    chain_pem: Vec<u8>,
    key_pem: Vec<u8>,
    object: String,
}

impl CertifiedKey {
    /// Takes PEM as it is; nothing is checked until it is used. `object` names it in errors.
    pub fn from_pem(chain: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>, object: &str) -> Self {
        Self { chain_pem: chain.into(), key_pem: key.into(), object: object.to_owned() }
    }

    /// Reads and checks a pair of files.
    ///
    /// # Errors
    /// When a file cannot be read, is damaged, or the key does not belong to the certificate.
    pub fn load(chain: &Path, key: &Path) -> Result<Self, Error> {
        let loaded = Self {
            chain_pem: files::read_limited(chain)?,
            key_pem: files::read_limited(key)?,
            object: chain.display().to_string(),
        };
        certificates(&loaded.chain_pem, &loaded.object)?;
        private_key(&loaded.key_pem, &key.display().to_string())?;
        loaded.to_rustls().map_err(|error| match error {
            Error::KeyMismatch { certificate, .. } => {
                Error::KeyMismatch { certificate, key: key.display().to_string() }
            }
            // The certificate is whole, so it is most likely the key.
            Error::Tls { object, problem } => {
                Error::Tls { object: format!("{object} and its key {}", key.display()), problem }
            }
            other => other,
        })?;
        Ok(loaded)
    }

    /// Writes both files, each atomically and readable for the owner only; the key first, so that a
    /// certificate never stands there without its key.
    ///
    /// # Errors
    /// When a file or its folder cannot be written.
    pub fn save(&self, chain: &Path, key: &Path) -> Result<(), Error> {
        files::write_private(key, &self.key_pem)?;
        files::write_private(chain, &self.chain_pem)
    }

    /// The chain, leaf first.
    pub fn chain_pem(&self) -> &[u8] {
        &self.chain_pem
    }

    /// The private key; for files and TLS only.
    pub fn key_pem(&self) -> &[u8] {
        &self.key_pem
    }

    /// What the leaf says of itself.
    ///
    /// # Errors
    /// When the leaf cannot be read.
    pub fn leaf(&self) -> Result<Peer, Error> {
        let chain = certificates(&self.chain_pem, &self.object)?;
        Peer::parse(&chain[0])
    }

    /// The form in which rustls takes it, checked: the key belongs to the leaf.
    ///
    /// # Errors
    /// When PEM is damaged, the key is of a kind that TLS does not know, or it does not match.
    pub fn to_rustls(&self) -> Result<rustls::sign::CertifiedKey, Error> {
        let chain = certificates(&self.chain_pem, &self.object)?;
        let key = private_key(&self.key_pem, &self.object)?;
        rustls::sign::CertifiedKey::from_der(chain, key, &provider()).map_err(|error| match error {
            rustls::Error::InconsistentKeys(rustls::InconsistentKeys::KeyMismatch) => {
                Error::KeyMismatch { certificate: self.object.clone(), key: self.object.clone() }
            }
            other => Error::tls(&self.object, other),
        })
    }
}

impl fmt::Debug for CertifiedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CertifiedKey({})", self.object)
    }
}
