//! Client certificates: which authority signed a chain, and who its holder is.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwapOption;
use kube_wire::identity::{IdentityError, UserInfo};
use pki::{ClientAuthorities, Peer};
use rustls::pki_types::CertificateDer;
use sha2::{Digest, Sha256};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::{Key, Memo, Secrets};
use crate::identity::Identity;

/// The extra key under which upstream tells with which credential a user came.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";
/// Chains remembered: connections of one client share the chain and what is known of it.
const CAPACITY: usize = 4096;
/// Bytes of a chain; those of clients have 1 to 4 kB.
const MAX_CHAIN_BYTES: usize = 16 * 1024;
/// How long a chain is shared with new connections.
const KEEP: Duration = Duration::from_secs(3600);
/// After this time a chain that was refused is looked at again: it may have become valid.
const REFUSED: Duration = Duration::from_secs(10);

/// The certificate authorities of clients and of front proxies.
#[derive(Debug, Default)]
pub struct ClientTrust {
    clients: Option<ClientAuthorities>,
    proxies: Option<ClientAuthorities>,
    allowed_names: Vec<String>,
}

/// Front proxies that may speak for others in request headers.
#[derive(Clone, Debug)]
pub struct FrontProxy<'a> {
    /// The authorities that sign them, PEM.
    pub ca: &'a [u8],
    /// Common names that may; empty: every certificate of these authorities.
    pub allowed_names: &'a [String],
}

/// Certificate authorities that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// A bundle is damaged.
    #[error(transparent)]
    Bundle(#[from] pki::Error),
    /// Everybody with an ordinary client certificate could call itself anybody.
    #[error(
        "the CA {subject:?} signs both clients and front proxies: every client could name itself as it likes. \
         Use another CA for front proxies, or list their common names as allowed names"
    )]
    SharedAuthority {
        /// Subject of the CA.
        subject: String,
    },
}

impl ClientTrust {
    /// The authorities of clients (a PEM bundle) and of front proxies.
    ///
    /// # Errors
    /// For a damaged bundle, and for an authority of both without a list of allowed names.
    pub fn new(client_ca: Option<&[u8]>, front_proxy: Option<FrontProxy<'_>>) -> Result<Self, TrustError> {
        const CLIENT_CA: &str = "the CA bundle of clients";
        const PROXY_CA: &str = "the CA bundle of front proxies";
        if let (Some(client_ca), Some(proxy)) = (client_ca, &front_proxy)
            && proxy.allowed_names.is_empty()
            && let Some(subject) = shared(client_ca, CLIENT_CA, proxy.ca, PROXY_CA)?
        {
            return Err(TrustError::SharedAuthority { subject });
        }
        let clients = client_ca.map(|pem| ClientAuthorities::new(pem, CLIENT_CA)).transpose()?;
        let proxies = match &front_proxy {
            Some(proxy) => Some(ClientAuthorities::front_proxy_only(proxy.ca, PROXY_CA)?),
            None => None,
        };
        let allowed_names = front_proxy.map(|proxy| proxy.allowed_names.to_vec()).unwrap_or_default();
        Ok(Self { clients, proxies, allowed_names })
    }

    fn verdict(&self, generation: u64, chain: &[CertificateDer<'_>]) -> Verdict {
        let signed = |by: &Option<ClientAuthorities>| {
            by.as_ref().is_some_and(|authorities| authorities.authority_of(chain).is_some())
        };
        let refused =
            Verdict { generation, client: None, front_proxy: false, until: SystemTime::now() + REFUSED };
        let (client, proxy) = (signed(&self.clients), signed(&self.proxies));
        if !client && !proxy {
            return refused;
        }
        let Some(peers) =
            chain.iter().map(|certificate| Peer::parse(certificate).ok()).collect::<Option<Vec<_>>>()
        else {
            return refused;
        };
        // A chain is good until its first certificate expires; later ones that are not needed count too.
        let (Some(leaf), Some(until)) = (peers.first(), peers.iter().map(|peer| peer.not_after).min()) else {
            return refused;
        };
        let allowed = self.allowed_names.is_empty() || self.allowed_names.contains(&leaf.common_name);
        let client = client.then(|| holder(leaf).ok()).flatten().map(Arc::new);
        Verdict { generation, client, front_proxy: proxy && allowed, until }
    }
}

/// The subject of an authority that stands in both bundles; the key counts, since a renewed
/// certificate of the same key signs for the same holder.
fn shared(a: &[u8], a_name: &str, b: &[u8], b_name: &str) -> Result<Option<String>, pki::Error> {
    let (a, b) = (pki::certificates(a, a_name)?, pki::certificates(b, b_name)?);
    let parse = |certificate: &'_ CertificateDer<'static>| {
        let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
        Some((parsed.public_key().raw.to_vec(), parsed.subject().to_string()))
    };
    let keys: Vec<_> = a.iter().filter_map(parse).collect();
    let both = b.iter().filter_map(parse).find(|(key, _)| keys.iter().any(|(known, _)| known == key));
    Ok(both.map(|(_, subject)| subject))
}

/// The user whom a verified certificate names: common name and organizations.
fn holder(leaf: &Peer) -> Result<Identity, IdentityError> {
    let mut user = UserInfo::new(&leaf.common_name, &leaf.organizations);
    user.uid = leaf.uid.clone().unwrap_or_default();
    user.extra.insert(CREDENTIAL_ID.to_owned(), vec![format!("X509SHA256={}", leaf.fingerprint)]);
    Identity::authenticated(user)
}

/// What a chain is worth under one generation of secrets.
#[derive(Debug)]
pub(super) struct Verdict {
    generation: u64,
    /// The holder, when an authority of clients signed it.
    pub(super) client: Option<Arc<Identity>>,
    /// Whether its holder may speak for others.
    pub(super) front_proxy: bool,
    until: SystemTime,
}

impl Verdict {
    /// Whether any authority signed the chain.
    pub(super) fn is_known(&self) -> bool {
        self.client.is_some() || self.front_proxy
    }
}

/// A certificate chain as a client showed it, and the last verdict on it.
#[derive(Debug)]
pub(super) struct PeerChain {
    certificates: Vec<CertificateDer<'static>>,
    verdict: ArcSwapOption<Verdict>,
}

impl PeerChain {
    /// The verdict under these secrets, worked out when they have changed or its time is over.
    pub(super) fn verdict(&self, generation: u64, secrets: impl FnOnce() -> Arc<Secrets>) -> Arc<Verdict> {
        if let Some(verdict) = &*self.verdict.load()
            && verdict.generation == generation
            && SystemTime::now() < verdict.until
        {
            return verdict.clone();
        }
        let verdict = Arc::new(secrets().trust.verdict(generation, &self.certificates));
        self.verdict.store(Some(verdict.clone()));
        verdict
    }
}

/// The chains of late, shared by all connections that showed the same.
#[derive(Debug)]
pub(super) struct Chains(Memo<Arc<PeerChain>>);

impl Default for Chains {
    fn default() -> Self {
        Self(Memo::new(CAPACITY, 1))
    }
}

impl Chains {
    /// The chain of these certificates; none when it is longer than any honest one.
    pub(super) fn of(&self, certificates: &[CertificateDer<'_>]) -> Option<Arc<PeerChain>> {
        if certificates.iter().map(|certificate| certificate.len()).sum::<usize>() > MAX_CHAIN_BYTES {
            return None;
        }
        if let Some(chain) = self.0.known(&key(certificates)) {
            return Some(chain);
        }
        let certificates = certificates.iter().map(|certificate| certificate.clone().into_owned()).collect();
        Some(Arc::new(PeerChain { certificates, verdict: ArcSwapOption::empty() }))
    }

    /// Shares `chain` with later connections. Only for what some authority has signed: anybody can make
    /// any number of others.
    pub(super) fn remember(&self, chain: &Arc<PeerChain>) {
        self.0.remember(key(&chain.certificates), chain.clone(), KEEP);
    }
}

fn key(certificates: &[CertificateDer<'_>]) -> Key {
    let mut hash = Sha256::new();
    for certificate in certificates {
        hash.update(certificate.len().to_be_bytes());
        hash.update(certificate);
    }
    hash.finalize().into()
}
