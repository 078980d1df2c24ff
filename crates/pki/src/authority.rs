//! A certificate authority of ours.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, SanType,
};
use rustls_pki_types::CertificateDer;
use time::OffsetDateTime;

use crate::{
    CertifiedKey, Error, Leaf, certificates,
    der::{self, Attribute},
    leaf::Usage,
};

/// Certificates start this much before now, for peers whose clock is behind.
pub(crate) const BACKDATE: Duration = Duration::from_secs(5 * 60);

/// A certificate authority: signs leaves, P-256.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pair: CertifiedKey,
}

impl Authority {
    /// Makes a new one, valid from five minutes ago for `validity`.
    ///
    /// # Errors
    /// When the validity is out of range or the name cannot stand in a certificate.
    pub fn make(common_name: &str, validity: Duration) -> Result<Self, Error> {
        let failed = |problem: rcgen::Error| Error::issue(common_name, problem);
        let (not_before, not_after) = interval(SystemTime::now(), BACKDATE, validity)
            .ok_or_else(|| Error::issue(common_name, "the validity is out of range"))?;
        let mut params = CertificateParams::default();
        params.not_before = OffsetDateTime::from(not_before);
        params.not_after = OffsetDateTime::from(not_after);
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, common_name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(failed)?;
        let certificate = params.self_signed(&key).map_err(failed)?;
        Ok(Self {
            pair: CertifiedKey::from_pem(certificate.pem(), key.serialize_pem(), common_name),
            certificate: certificate.der().clone(),
            issuer: Issuer::new(params, key),
        })
    }

    /// From PEM; `object` names it in errors.
    ///
    /// # Errors
    /// When PEM is damaged, the certificate is no CA, or the key does not match.
    pub fn from_pem(certificate: &[u8], key: &[u8], object: &str) -> Result<Self, Error> {
        let pair = CertifiedKey::from_pem(certificate, key, object);
        Self::from_pair(pair, object)
    }

    /// Reads one from its two files.
    ///
    /// # Errors
    /// As [`Authority::from_pem`], naming the file; or when a file cannot be read.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, Error> {
        Self::from_pair(CertifiedKey::load(certificate, key)?, &certificate.display().to_string())
    }

    fn from_pair(pair: CertifiedKey, object: &str) -> Result<Self, Error> {
        pair.to_rustls()?;
        let certificate = certificates(pair.chain_pem(), object)?.swap_remove(0);
        let key = std::str::from_utf8(pair.key_pem()).map_err(|e| Error::pem(object, e))?;
        let key = KeyPair::from_pem(key)
            .map_err(|e| Error::pem(object, format!("the key cannot sign certificates: {e}")))?;
        if !der::is_ca(&certificate, object)? {
            return Err(Error::NotAnAuthority { object: object.to_owned() });
        }
        let issuer =
            Issuer::from_ca_cert_der(&certificate, key).map_err(|e| Error::certificate(object, e))?;
        Ok(Self { issuer, certificate, pair })
    }

    /// Writes certificate and key, both 0600, each atomically.
    ///
    /// # Errors
    /// When a file or its folder cannot be written.
    pub fn save(&self, certificate: &Path, key: &Path) -> Result<(), Error> {
        self.pair.save(certificate, key)
    }

    /// The CA certificate, PEM: what those who shall trust it are given.
    pub fn certificate_pem(&self) -> &[u8] {
        self.pair.chain_pem()
    }

    /// The CA certificate, DER.
    pub fn certificate_der(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// Signs a leaf with a new key. The chain holds the leaf alone.
    ///
    /// # Errors
    /// When a name cannot stand in a certificate or the validity is out of range.
    pub fn issue(&self, leaf: &Leaf) -> Result<CertifiedKey, Error> {
        let failed = |problem: rcgen::Error| Error::issue(&leaf.common_name, problem);
        let params = params(leaf)?;
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(failed)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(failed)?;
        let subject = subject(leaf);
        let der = der::with_subject(certificate.der(), &subject, self.issuer.key())
            .map_err(|problem| Error::issue(&leaf.common_name, problem))?;
        let pem = der::to_pem(&der);
        Ok(CertifiedKey::from_pem(pem, key.serialize_pem(), &leaf.common_name))
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Authority({:?})", self.pair)
    }
}

fn params(leaf: &Leaf) -> Result<CertificateParams, Error> {
    let (not_before, not_after) = leaf.interval(SystemTime::now())?;
    let mut params = CertificateParams::default();
    params.not_before = OffsetDateTime::from(not_before);
    params.not_after = OffsetDateTime::from(not_after);
    params.distinguished_name = DistinguishedName::new();
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = match leaf.usage {
        Usage::Server => vec![ExtendedKeyUsagePurpose::ServerAuth],
        Usage::Client => vec![ExtendedKeyUsagePurpose::ClientAuth],
        Usage::Both => vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth],
    };
    for name in &leaf.dns {
        // Names with letters beyond ASCII stand in certificates in their IDNA form only.
        let name = name.as_str().try_into().map_err(|_| Error::Name { name: name.clone() })?;
        params.subject_alt_names.push(SanType::DnsName(name));
    }
    params.subject_alt_names.extend(leaf.ips.iter().map(|ip| SanType::IpAddress(*ip)));
    Ok(params)
}

fn subject(leaf: &Leaf) -> Vec<Attribute<'_>> {
    let organizations = leaf.organizations.iter().map(|value| Attribute::organization(value));
    let uid = leaf.uid.iter().map(|value| Attribute::uid(value));
    organizations.chain([Attribute::common_name(&leaf.common_name)]).chain(uid).collect()
}

/// The two ends of a validity, within what X.509 can say (year 9999).
pub(crate) fn interval(
    now: SystemTime,
    backdate: Duration,
    validity: Duration,
) -> Option<(SystemTime, SystemTime)> {
    const YEAR_9999: Duration = Duration::from_secs(253_370_764_800);
    let not_after = now.checked_add(validity)?;
    let limit = SystemTime::UNIX_EPOCH.checked_add(YEAR_9999)?;
    (not_after < limit).then_some((now.checked_sub(backdate)?, not_after))
}
