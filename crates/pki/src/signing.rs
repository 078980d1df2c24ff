//! Keys without certificates: pairs that sign tokens, and secrets that encrypt.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};

use crate::{Ensured, Error, files, provider};

/// The key pair in these two files, PEM: made, P-256, when the private key is not there. The public
/// key follows from it and is written when it is missing or another one.
///
/// # Errors
/// When the private key is damaged or no P-256 key, or a file cannot be read or written.
pub fn ensure_signing_key(private: &Path, public: &Path) -> Result<Ensured, Error> {
    let object = private.display().to_string();
    if !private.try_exists().map_err(|source| Error::file("look for", private, source))? {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|e| Error::issue(&object, e))?;
        files::write_private(private, key.serialize_pem().as_bytes())?;
        files::write_private(public, key.public_key_pem().as_bytes())?;
        return Ok(Ensured::Made);
    }
    let pem = String::from_utf8(files::read_limited(private)?)
        .map_err(|_| Error::pem(&object, "no PEM: it is not text"))?;
    let key = KeyPair::from_pem_and_sign_algo(&pem, &PKCS_ECDSA_P256_SHA256)
        .map_err(|e| Error::pem(&object, format!("no private key of P-256: {e}")))?;
    let expected = key.public_key_pem();
    let there = public.try_exists().map_err(|source| Error::file("look for", public, source))?;
    if there && files::read_limited(public)? == expected.as_bytes() {
        return Ok(Ensured::Kept);
    }
    files::write_private(public, expected.as_bytes())?;
    Ok(Ensured::Renewed("the public key was not that of the private one".to_owned()))
}

/// The secret of 32 bytes in this file, base64 on one line; made when it is not there.
///
/// # Errors
/// When the file has something else, cannot be read or written, or the system gives no randomness.
pub fn ensure_secret(path: &Path) -> Result<String, Error> {
    let object = path.display().to_string();
    if path.try_exists().map_err(|source| Error::file("look for", path, source))? {
        let text = String::from_utf8_lossy(&files::read_limited(path)?).trim().to_owned();
        let length = STANDARD.decode(&text).map_or(0, |bytes| bytes.len());
        return if length == 32 {
            Ok(text)
        } else {
            Err(Error::pem(&object, "no secret of 32 bytes in base64"))
        };
    }
    let mut bytes = [0; 32];
    provider()
        .secure_random
        .fill(&mut bytes)
        .map_err(|_| Error::issue(&object, "the system gives no randomness"))?;
    let text = STANDARD.encode(bytes);
    files::write_private(path, format!("{text}\n").as_bytes())?;
    Ok(text)
}
