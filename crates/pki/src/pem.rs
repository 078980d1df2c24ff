//! PEM to DER, with errors that say which input is damaged.

use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

use crate::Error;

/// Certificates that one bundle may hold; system bundles have about 150.
const MAX_CERTIFICATES: usize = 4096;

/// All certificates of a PEM text, in their order. Other sections are passed over.
///
/// # Errors
/// When the PEM is damaged, holds no certificate or more than 4096; `object` is named in the message.
pub fn certificates(pem: &[u8], object: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let mut found = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        found.push(certificate.map_err(|e| Error::pem(object, format!("damaged PEM: {e}")))?);
        if found.len() > MAX_CERTIFICATES {
            return Err(Error::pem(object, format!("more than {MAX_CERTIFICATES} certificates")));
        }
    }
    if found.is_empty() {
        return Err(Error::pem(object, "no CERTIFICATE section in PEM form"));
    }
    Ok(found)
}

/// The first private key of a PEM text: PKCS#8, SEC1 or PKCS#1.
///
/// # Errors
/// When there is none or the PEM is damaged; `object` is named in the message, the key never.
pub fn private_key(pem: &[u8], object: &str) -> Result<PrivateKeyDer<'static>, Error> {
    PrivateKeyDer::from_pem_slice(pem)
        .map_err(|_| Error::pem(object, "no readable PRIVATE KEY section in PEM form"))
}
