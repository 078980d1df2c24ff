//! Made when absent, kept when there, an error when damaged.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use crate::{Authority, CertifiedKey, ClientAuthorities, Error, Leaf, Peer, Roots, leaf::Usage, verifier};

/// What was found, or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ensured {
    /// It was there and good.
    Kept,
    /// It was not there.
    Made,
    /// It was there but no longer fit; the reason in words.
    Renewed(String),
}

/// The authority in these two files; made, valid for `validity`, when neither is there.
///
/// # Errors
/// When one of the two is missing or damaged, they do not match, or they cannot be written. Nothing
/// is overwritten: whoever trusts this CA would lose it.
pub fn ensure_authority(
    certificate: &Path,
    key: &Path,
    common_name: &str,
    validity: Duration,
) -> Result<(Authority, Ensured), Error> {
    if both_present(certificate, key)? {
        return Ok((Authority::load(certificate, key)?, Ensured::Kept));
    }
    let authority = Authority::make(common_name, validity)?;
    authority.save(certificate, key)?;
    Ok((authority, Ensured::Made))
}

/// The leaf in these two files, signed by `authority`; made when neither is there. One that is
/// expired (or in the last fifth of its life), of another authority, or that lacks what is asked for
/// now is made anew.
///
/// # Errors
/// When one of the two is missing or damaged, they do not match, or they cannot be written.
pub fn ensure_leaf(
    authority: &Authority,
    certificate: &Path,
    key: &Path,
    leaf: &Leaf,
) -> Result<(CertifiedKey, Ensured), Error> {
    let outcome = match both_present(certificate, key)? {
        false => Ensured::Made,
        true => {
            let kept = CertifiedKey::load(certificate, key)?;
            match unfit(authority, &kept, leaf)? {
                None => return Ok((kept, Ensured::Kept)),
                Some(reason) => Ensured::Renewed(reason),
            }
        }
    };
    authority.issue(leaf)?.save(certificate, key)?;
    Ok((CertifiedKey::load(certificate, key)?, outcome))
}

fn both_present(certificate: &Path, key: &Path) -> Result<bool, Error> {
    let exists = |path: &Path| path.try_exists().map_err(|source| Error::file("look for", path, source));
    let half =
        |present: &Path, missing: &Path| Error::HalfPair { present: present.into(), missing: missing.into() };
    match (exists(certificate)?, exists(key)?) {
        (true, true) => Ok(true),
        (false, false) => Ok(false),
        (true, false) => Err(half(certificate, key)),
        (false, true) => Err(half(key, certificate)),
    }
}

/// Why a stored leaf no longer does what is asked of it.
fn unfit(authority: &Authority, kept: &CertifiedKey, leaf: &Leaf) -> Result<Option<String>, Error> {
    let found = kept.leaf()?;
    if let Some(reason) = wrong_dates(&found, SystemTime::now()) {
        return Ok(Some(reason));
    }
    if let Some(reason) = lacking(&found, leaf) {
        return Ok(Some(reason));
    }
    Ok(match signed_by(authority, kept, leaf.usage)? {
        true => None,
        false => Some("it was signed by another CA".to_owned()),
    })
}

fn wrong_dates(found: &Peer, now: SystemTime) -> Option<String> {
    let life = found.not_after.duration_since(found.not_before).unwrap_or_default();
    match found.not_after.duration_since(now) {
        Err(_) => Some("it has expired".to_owned()),
        Ok(left) if left < life / 5 => Some("it is near its end".to_owned()),
        Ok(_) => None,
    }
}

fn lacking(found: &Peer, leaf: &Leaf) -> Option<String> {
    if let Some(name) = leaf.dns.iter().find(|name| !found.dns_names.contains(name)) {
        return Some(format!("it lacks the name {name}"));
    }
    if let Some(address) = leaf.ips.iter().find(|address| !found.ip_addresses.contains(address)) {
        return Some(format!("it lacks the address {address}"));
    }
    let same = found.common_name == leaf.common_name
        && found.organizations == leaf.organizations
        && found.uid == leaf.uid;
    (!same).then(|| "its subject is another one".to_owned())
}

fn signed_by(authority: &Authority, kept: &CertifiedKey, usage: Usage) -> Result<bool, Error> {
    let chain = crate::certificates(kept.chain_pem(), "the stored certificate")?;
    if usage == Usage::Client {
        let authorities = ClientAuthorities::new(authority.certificate_pem(), "the CA")?;
        return Ok(authorities.authority_of(&chain).is_some());
    }
    // A serving certificate without a name fits nobody; it is judged by the rest.
    let Some(name) = kept.leaf()?.names().into_iter().next() else { return Ok(true) };
    verifier::serves(&Roots::Pem(authority.certificate_pem()), &chain, &name)
}
