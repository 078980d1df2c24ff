//! Client certificates: of users, and of front proxies that speak for users.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use arc_swap::ArcSwap;
use http::request::Parts;
use kube_wire::{
    Status, UserInfo,
    identity::{AUTHENTICATED_GROUP, request_header::Names},
};
use pki::{ClientAuthorities, Peer, PeerAuthority};
use rustls_pki_types::CertificateDer;

use super::{Authenticator, named};
use crate::hooks::Later;

/// The extra key under which upstream tells with which credential a user came.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Whose certificates count.
#[derive(Clone, Debug)]
pub struct Trust {
    clients: Option<ClientAuthorities>,
    proxies: Option<ClientAuthorities>,
    allowed_names: Vec<String>,
    names: Names,
}

/// Authorities that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// A bundle is damaged.
    #[error(transparent)]
    Bundle(#[from] pki::Error),
    /// Everybody with an ordinary client certificate could call itself anybody.
    #[error(
        "a CA signs both clients and front proxies: every client could name itself as it likes. Use another \
         CA for front proxies, or list their common names as allowed names"
    )]
    SharedAuthority,
}

impl Trust {
    /// Users signed by the one bundle (PEM), front proxies signed by the other and with one of these common
    /// names; without names every certificate of that bundle.
    ///
    /// # Errors
    /// For a damaged bundle, and for an authority of both without a list of names.
    pub fn new(
        client_ca: Option<&[u8]>,
        front_proxy_ca: Option<&[u8]>,
        allowed_names: &[String],
    ) -> Result<Self, TrustError> {
        const CLIENTS: &str = "the CA bundle of clients";
        const PROXIES: &str = "the CA bundle of front proxies";
        if let (Some(clients), Some(proxies), []) = (client_ca, front_proxy_ca, allowed_names) {
            let clients = pki::certificates(clients, CLIENTS)?;
            if pki::certificates(proxies, PROXIES)?.iter().any(|proxy| clients.contains(proxy)) {
                return Err(TrustError::SharedAuthority);
            }
        }
        Ok(Self {
            clients: client_ca.map(|pem| ClientAuthorities::new(pem, CLIENTS)).transpose()?,
            proxies: front_proxy_ca
                .map(|pem| ClientAuthorities::front_proxy_only(pem, PROXIES))
                .transpose()?,
            allowed_names: allowed_names.to_vec(),
            names: Names::default(),
        })
    }

    /// This trust with other names of the headers in which front proxies speak.
    #[must_use]
    pub fn with_header_names(mut self, names: Names) -> Self {
        self.names = names;
        self
    }

    /// The authorities for the TLS handshake; none when no certificate counts.
    ///
    /// # Errors
    /// For a damaged bundle.
    pub fn authorities(
        client_ca: Option<&[u8]>,
        front_proxy_ca: Option<&[u8]>,
    ) -> Result<Option<ClientAuthorities>, pki::Error> {
        let (clients, proxies) = ("the CA bundle of clients", "the CA bundle of front proxies");
        match (client_ca, front_proxy_ca) {
            (Some(client), Some(proxy)) => {
                ClientAuthorities::new(client, clients)?.with_front_proxy(proxy, proxies).map(Some)
            }
            (Some(client), None) => ClientAuthorities::new(client, clients).map(Some),
            (None, Some(proxy)) => ClientAuthorities::front_proxy_only(proxy, proxies).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn verdict(&self, chain: &[CertificateDer<'_>]) -> Verdict {
        let signed = |by: &Option<ClientAuthorities>, as_whom| {
            by.as_ref().and_then(|authorities| authorities.authority_of(chain)) == Some(as_whom)
        };
        let (client, proxy) =
            (signed(&self.clients, PeerAuthority::Client), signed(&self.proxies, PeerAuthority::FrontProxy));
        let Some(peer) = chain.first().filter(|_| client || proxy).and_then(|leaf| Peer::parse(leaf).ok())
        else {
            return Verdict::default();
        };
        let allowed = self.allowed_names.is_empty() || self.allowed_names.contains(&peer.common_name);
        Verdict {
            front_proxy: proxy && allowed,
            user: client.then(|| holder(&peer)).flatten(),
            until: Some(peer.not_after),
        }
    }
}

/// The user whom a verified certificate names: common name and organizations.
fn holder(peer: &Peer) -> Option<UserInfo> {
    let mut user = UserInfo::new(&peer.common_name, &peer.organizations);
    user.uid = peer.uid.clone().unwrap_or_default();
    user.extra.insert(CREDENTIAL_ID.to_owned(), vec![format!("X509SHA256={}", peer.fingerprint)]);
    user.check().ok().map(|()| user.with_group(AUTHENTICATED_GROUP))
}

/// What a chain is worth.
#[derive(Clone, Debug, Default)]
struct Verdict {
    front_proxy: bool,
    user: Option<UserInfo>,
    /// When the certificate expires; none when it counts for nothing.
    until: Option<SystemTime>,
}

/// The certificates that a client has shown; the listener puts them into the extensions of each request.
#[derive(Debug, Default)]
pub struct PeerCertificates {
    chain: Vec<CertificateDer<'static>>,
    /// Worked out once for each connection, and anew when the trust has changed.
    verdict: Mutex<Option<(Arc<Trust>, Arc<Verdict>)>>,
}

impl PeerCertificates {
    /// A chain, the client's own certificate first.
    pub fn new(chain: &[CertificateDer<'_>]) -> Self {
        let chain = chain.iter().map(|certificate| certificate.clone().into_owned()).collect();
        Self { chain, verdict: Mutex::default() }
    }

    fn verdict(&self, trust: &Arc<Trust>) -> Arc<Verdict> {
        let mut known = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((under, verdict)) = &*known
            && Arc::ptr_eq(under, trust)
            && verdict.until.is_none_or(|until| SystemTime::now() < until)
        {
            return Arc::clone(verdict);
        }
        let verdict = Arc::new(trust.verdict(&self.chain));
        *known = Some((Arc::clone(trust), Arc::clone(&verdict)));
        verdict
    }
}

/// Front proxies first, then users, as upstream has it.
#[derive(Clone, Debug)]
pub struct Certificates(Arc<ArcSwap<Trust>>);

impl Certificates {
    /// Certificates that this trust knows. It may be replaced at any time: from then on it counts for new
    /// requests, also of connections that are there.
    pub fn new(trust: Arc<ArcSwap<Trust>>) -> Self {
        Self(trust)
    }
}

impl Authenticator for Certificates {
    fn authenticate<'a>(&'a self, head: &'a Parts) -> Later<'a, Result<Option<UserInfo>, Status>> {
        Box::pin(async {
            let Some(peer) = head.extensions.get::<Arc<PeerCertificates>>() else { return Ok(None) };
            if peer.chain.is_empty() {
                return Ok(None);
            }
            let trust = self.0.load_full();
            let verdict = peer.verdict(&trust);
            if verdict.front_proxy
                && let Some(user) = named(head, &trust.names)?
            {
                return Ok(Some(user));
            }
            Ok(verdict.user.clone())
        })
    }
}
