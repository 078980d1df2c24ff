//! The little DER that rcgen does not write: a subject with several organizations.
//!
//! rcgen keeps one value for each attribute type, while Kubernetes reads one group from each
//! organization. So the subject of a finished certificate is replaced and the certificate signed
//! again.

use rcgen::SigningKey;
use rustls_pki_types::CertificateDer;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::Error;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const BIT_STRING: u8 = 0x03;
const OBJECT_IDENTIFIER: u8 = 0x06;
const UTF8_STRING: u8 = 0x0c;

/// 2.5.4.3
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// 2.5.4.10
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
/// 1.3.6.1.4.1.57683.2, where Kubernetes reads a user's uid from.
pub(crate) const UID: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xc2, 0x53, 0x02];

/// One attribute of a subject.
pub(crate) struct Attribute<'a> {
    oid: &'static [u8],
    value: &'a str,
}

impl<'a> Attribute<'a> {
    pub(crate) fn common_name(value: &'a str) -> Self {
        Self { oid: COMMON_NAME, value }
    }

    pub(crate) fn organization(value: &'a str) -> Self {
        Self { oid: ORGANIZATION, value }
    }

    pub(crate) fn uid(value: &'a str) -> Self {
        Self { oid: UID, value }
    }
}

/// The certificate with another subject, signed again by `issuer`.
pub(crate) fn with_subject(
    certificate: &CertificateDer<'_>,
    subject: &[Attribute<'_>],
    issuer: &impl SigningKey,
) -> Result<Vec<u8>, String> {
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(|e| e.to_string())?;
    let tbs = parsed.tbs_certificate.as_ref();
    let old = parsed.tbs_certificate.subject.as_raw();
    let start = (old.as_ptr() as usize)
        .checked_sub(tbs.as_ptr() as usize)
        .filter(|start| start + old.len() <= tbs.len())
        .ok_or("the subject is outside of the certificate")?;
    let header = header_len(tbs).ok_or("the certificate has no length")?;
    let tbs = element(SEQUENCE, &[&tbs[header..start], &name(subject), &tbs[start + old.len()..]]);
    // What follows the signed part is the algorithm, then the signature.
    let outer = header_len(certificate).ok_or("the certificate has no length")?;
    let after = &certificate[outer + parsed.tbs_certificate.as_ref().len()..];
    let algorithm = after.get(..element_len(after).ok_or("no signature algorithm")?).ok_or("cut short")?;
    let signature = issuer.sign(&tbs).map_err(|e| e.to_string())?;
    Ok(element(SEQUENCE, &[&tbs, algorithm, &element(BIT_STRING, &[&[0], &signature])]))
}

fn name(attributes: &[Attribute<'_>]) -> Vec<u8> {
    let relative: Vec<Vec<u8>> = attributes.iter().map(relative_name).collect();
    let parts: Vec<&[u8]> = relative.iter().map(Vec::as_slice).collect();
    element(SEQUENCE, &parts)
}

fn relative_name(attribute: &Attribute<'_>) -> Vec<u8> {
    let oid = element(OBJECT_IDENTIFIER, &[attribute.oid]);
    let value = element(UTF8_STRING, &[attribute.value.as_bytes()]);
    element(SET, &[&element(SEQUENCE, &[&oid, &value])])
}

fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = vec![tag];
    if len < 0x80 {
        out.push(len as u8);
    } else {
        let bytes = len.to_be_bytes();
        let significant = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
        out.push(0x80 | significant.len() as u8);
        out.extend_from_slice(significant);
    }
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out
}

/// Length of tag and length of the element at the start of `der`.
fn header_len(der: &[u8]) -> Option<usize> {
    match der.get(1)? {
        short if *short < 0x80 => Some(2),
        long => Some(2 + usize::from(long & 0x7f)),
    }
}

/// Length of the whole element at the start of `der`.
fn element_len(der: &[u8]) -> Option<usize> {
    let header = header_len(der)?;
    if header == 2 {
        return Some(2 + usize::from(*der.get(1)?));
    }
    let len = der
        .get(2..header)?
        .iter()
        .try_fold(0usize, |len, byte| len.checked_mul(256).map(|len| len + usize::from(*byte)))?;
    header.checked_add(len)
}

/// Whether basicConstraints say that this is a CA.
pub(crate) fn is_ca(certificate: &CertificateDer<'_>, object: &str) -> Result<bool, Error> {
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(|e| Error::certificate(object, e))?;
    Ok(parsed.is_ca())
}

/// A CERTIFICATE section, lines of 64 characters.
pub(crate) fn to_pem(der: &[u8]) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let encoded = STANDARD.encode(der);
    let mut pem = String::from("-----BEGIN CERTIFICATE-----\n");
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, tail) = rest.split_at(rest.len().min(64));
        pem.push_str(line);
        pem.push('\n');
        rest = tail;
    }
    pem.push_str("-----END CERTIFICATE-----\n");
    pem
}
