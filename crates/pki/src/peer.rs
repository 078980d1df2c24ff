//! What a certificate says of its holder.

use std::{
    net::IpAddr,
    time::{Duration, SystemTime},
};

use rustls_pki_types::CertificateDer;
use sha2::{Digest as _, Sha256};
use x509_parser::{
    extensions::GeneralName,
    prelude::{FromDer as _, X509Certificate},
    x509::AttributeTypeAndValue,
};

use crate::{Error, der};

/// A certificate's subject and dates, as Kubernetes reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The user. Empty when the subject has no common name: such a certificate names nobody.
    pub common_name: String,
    /// The user's groups, in their order.
    pub organizations: Vec<String>,
    /// The user's uid, when the subject carries one.
    pub uid: Option<String>,
    /// DNS names of the certificate.
    pub dns_names: Vec<String>,
    /// IP addresses of the certificate.
    pub ip_addresses: Vec<IpAddr>,
    /// Start of its validity.
    pub not_before: SystemTime,
    /// End of its validity.
    pub not_after: SystemTime,
    /// SHA-256 of the DER, lower-case hexadecimal.
    pub fingerprint: String,
}

impl Peer {
    /// Reads a certificate. It is not verified here: that was rustls' part.
    ///
    /// # Errors
    /// When it is not a certificate, or the subject carries values that are not text, or more than
    /// one uid.
    pub fn parse(certificate: &CertificateDer<'_>) -> Result<Self, Error> {
        let (_, parsed) = X509Certificate::from_der(certificate)
            .map_err(|e| Error::certificate("the peer's certificate", e))?;
        let subject = parsed.subject();
        let (dns_names, ip_addresses) = names(&parsed);
        Ok(Self {
            common_name: texts(subject.iter_common_name(), "a common name")?.pop().unwrap_or_default(),
            organizations: texts(subject.iter_organization(), "an organization")?,
            uid: uid(&parsed)?,
            dns_names,
            ip_addresses,
            not_before: system_time(parsed.validity().not_before.timestamp()),
            not_after: system_time(parsed.validity().not_after.timestamp()),
            fingerprint: hex(&Sha256::digest(certificate)),
        })
    }

    /// All names of the certificate as text, DNS names first.
    pub fn names(&self) -> Vec<String> {
        let addresses = self.ip_addresses.iter().map(IpAddr::to_string);
        self.dns_names.iter().cloned().chain(addresses).collect()
    }
}

fn texts<'a>(
    attributes: impl Iterator<Item = &'a AttributeTypeAndValue<'a>>,
    what: &str,
) -> Result<Vec<String>, Error> {
    attributes
        .map(|attribute| match attribute.as_str() {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(Error::Subject { problem: format!("{what} that is not text") }),
        })
        .collect()
}

fn uid(certificate: &X509Certificate<'_>) -> Result<Option<String>, Error> {
    let attributes = certificate
        .subject()
        .iter_attributes()
        .filter(|attribute| attribute.attr_type().as_bytes() == der::UID);
    let mut found = texts(attributes, "a uid")?;
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => Err(Error::Subject { problem: "more than one uid".to_owned() }),
    }
}

fn names(certificate: &X509Certificate<'_>) -> (Vec<String>, Vec<IpAddr>) {
    let (mut dns, mut ips) = (Vec::new(), Vec::new());
    // A damaged extension gives no names; rustls has refused such a certificate already.
    let Ok(Some(extension)) = certificate.subject_alternative_name() else { return (dns, ips) };
    for name in &extension.value.general_names {
        match name {
            GeneralName::DNSName(name) => dns.push((*name).to_owned()),
            GeneralName::IPAddress(bytes) => ips.extend(address(bytes)),
            _ => {}
        }
    }
    (dns, ips)
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
        _ => None,
    }
}

fn system_time(seconds: i64) -> SystemTime {
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let time = match seconds < 0 {
        true => SystemTime::UNIX_EPOCH.checked_sub(distance),
        false => SystemTime::UNIX_EPOCH.checked_add(distance),
    };
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::der::{Attribute, with_subject};

    fn read(subject: &[Attribute<'_>]) -> Result<Peer, Error> {
        let key = rcgen::KeyPair::generate().expect("a key");
        let plain = rcgen::CertificateParams::default().self_signed(&key).expect("a certificate");
        let der = with_subject(plain.der(), subject, &key).expect("the same with this subject");
        Peer::parse(&CertificateDer::from(der))
    }

    /// Of two uids, two readers could each believe another one.
    #[test]
    fn two_uids_are_refused() {
        let error =
            read(&[Attribute::uid("1"), Attribute::common_name("jane"), Attribute::uid("1")]).unwrap_err();
        assert_eq!(error.to_string(), "the client certificate carries more than one uid");
    }

    /// As Go's parser, by which Kubernetes reads them.
    #[test]
    fn of_two_common_names_the_last_counts() {
        let peer = read(&[Attribute::common_name("a"), Attribute::common_name("b")]).expect("a peer");
        assert_eq!(peer.common_name, "b");
    }
}
