//! Authentication: client certificates, bearer tokens, a front proxy's request headers.
//!
//! The order is upstream's: what a front proxy vouches for, then the client's own certificate, then a
//! bearer token. The first that says who it is decides; a token that nobody knows is a 401, never
//! another user.

mod certificate;
mod front_proxy;
mod memo;
mod possession;
mod review;
mod token;
mod token_file;

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::HeaderMap;
use kube_wire::{identity::request_header::Names, status::Status};
use rustls::{pki_types::CertificateDer, server::danger::ClientCertVerifier};

pub use certificate::{ClientTrust, FrontProxy, TrustError};
pub use token_file::{TokenFile, TokenFileError};

pub(crate) use memo::{Key, Memo, NoAnswer};

use crate::identity::Identity;
use certificate::{Chains, PeerChain};

/// Asks the core API server under the door's own identity: for TokenReviews and SubjectAccessReviews,
/// and for its version.
pub trait CoreClient: Send + Sync {
    /// Posts a JSON object and gives the body of the answer, whose status was 2xx.
    ///
    /// # Errors
    /// When there was no such answer. It must fail in bounded time.
    fn post_json(
        &self,
        path: &'static str,
        body: Bytes,
    ) -> BoxFuture<'static, Result<Bytes, catalog::Failure>>;

    /// Gets a document, the same way.
    ///
    /// # Errors
    /// As [`post_json`](Self::post_json).
    fn get(&self, path: &'static str) -> BoxFuture<'static, Result<Bytes, catalog::Failure>>;
}

/// What callers are recognised by. Replaced as a whole when one of its files changes.
#[derive(Debug, Default)]
pub struct Secrets {
    /// The certificate authorities of clients and of front proxies.
    pub trust: ClientTrust,
    /// Static bearer tokens.
    pub tokens: TokenFile,
}

/// What a connection says of its caller, worked out once after the handshake.
#[derive(Debug)]
pub struct ConnectionIdentity {
    peer: SocketAddr,
    chain: Option<Arc<PeerChain>>,
}

impl ConnectionIdentity {
    /// The address on the other side.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }
}

/// Says who sent a request. Reloadable: keys, tokens and names are swapped under it.
pub struct Authenticator {
    secrets: ArcSwap<Secrets>,
    /// Which secrets a chain was judged by.
    generation: AtomicU64,
    chains: Chains,
    proxied: front_proxy::Proxied,
    reviews: Option<review::Reviews>,
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authenticator").field("reviews", &self.reviews.is_some()).finish_non_exhaustive()
    }
}

impl Authenticator {
    /// Recognises callers by `secrets`, and by the core's TokenReview when there is a core.
    pub fn new(secrets: Secrets, core: Option<Arc<dyn CoreClient>>) -> Self {
        Self {
            secrets: ArcSwap::from_pointee(secrets),
            generation: AtomicU64::new(1),
            chains: Chains::default(),
            proxied: front_proxy::Proxied::new(Names::default()),
            reviews: core.map(review::Reviews::new),
        }
    }

    /// Reads what front proxies say from headers of these names, instead of `X-Remote-*`.
    #[must_use]
    pub fn header_names(self, names: Names) -> Self {
        Self { proxied: front_proxy::Proxied::new(names), ..self }
    }

    /// Takes new secrets. Connections stay; what they may is judged anew with their next request.
    pub fn reload(&self, secrets: Secrets) {
        self.secrets.store(Arc::new(secrets));
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// The verifier for the listener's TLS configuration. It proves that the client holds the key of its
    /// certificate; who signed that is judged per connection, and anew after a reload. So a wrong or
    /// expired certificate is answered by a 401 that clients understand and not by a broken handshake,
    /// a resumed session is judged by today's authorities, and the configuration outlives a reload.
    pub fn client_certificate_verifier(&self) -> Arc<dyn ClientCertVerifier> {
        Arc::new(possession::Possession)
    }

    /// Once for each connection. `certificates`: the chain that the client showed, leaf first; empty when
    /// none. It is verified here.
    pub(crate) fn connection(
        &self,
        certificates: &[CertificateDer<'_>],
        peer: SocketAddr,
    ) -> ConnectionIdentity {
        let chain = if certificates.is_empty() { None } else { self.chains.of(certificates) };
        if let Some(chain) = &chain
            && self.judge(chain).is_known()
        {
            self.chains.remember(chain);
        }
        ConnectionIdentity { peer, chain }
    }

    /// Once for each request; touches nothing but caches unless a token must be reviewed by the core.
    /// Headers by which only a front proxy may speak are gone from `headers` after it, whoever sent them.
    ///
    /// # Errors
    /// The answer for the client: 401, or 503 when the core cannot be asked.
    pub(crate) async fn authenticate(
        &self,
        connection: &ConnectionIdentity,
        headers: &mut HeaderMap,
    ) -> Result<Arc<Identity>, Box<Status>> {
        let caller = self.caller(connection, headers).await;
        self.proxied.take_out(headers);
        caller
    }

    async fn caller(
        &self,
        connection: &ConnectionIdentity,
        headers: &HeaderMap,
    ) -> Result<Arc<Identity>, Box<Status>> {
        if let Some(chain) = &connection.chain {
            let verdict = self.judge(chain);
            if verdict.front_proxy
                && let Some(identity) = self.proxied.identity(headers)?
            {
                return Ok(identity);
            }
            if let Some(identity) = verdict.client.clone() {
                return Ok(identity);
            }
        }
        let token = token::bearer(headers).ok_or_else(unauthorized)?;
        if let Some(identity) = self.secrets.load().tokens.find(&token) {
            return Ok(identity);
        }
        match &self.reviews {
            // Boxed: the ordinary request does not carry the room for it.
            Some(reviews) => Box::pin(reviews.identity(&token)).await,
            None => Err(unauthorized()),
        }
    }

    /// What the chain is worth under today's secrets.
    fn judge(&self, chain: &PeerChain) -> Arc<certificate::Verdict> {
        let generation = self.generation.load(Ordering::Acquire);
        chain.verdict(generation, || self.secrets.load_full())
    }
}

fn unauthorized() -> Box<Status> {
    Box::new(Status::unauthorized())
}

#[cfg(test)]
mod tests;
