//! Who asks: what the front proxy says, when it is the front proxy that says it.

use std::sync::Arc;

use http::HeaderMap;
use kube_wire::{
    Status, UserInfo,
    identity::request_header::{Names, decode},
};
use pki::{ClientAuthorities, Peer, PeerAuthority};
use rustls::pki_types::CertificateDer;

/// Decides once per connection whether the peer may name users, and once per request whom it names.
#[derive(Clone)]
pub(super) struct FrontProxy {
    /// Authorities of the front proxy.
    pub(super) authorities: ClientAuthorities,
    /// Common names that its certificate may have; empty for any.
    pub(super) names: Arc<[String]>,
}

impl FrontProxy {
    /// Whether this certificate chain is the front proxy's.
    pub(super) fn is_shown_by(&self, chain: Option<&[CertificateDer<'_>]>) -> bool {
        let Some(chain) = chain else { return false };
        let Some(leaf) = chain.first() else { return false };
        let signed = self.authorities.authority_of(chain) == Some(PeerAuthority::FrontProxy);
        let named = || Peer::parse(leaf).is_ok_and(|peer| self.names.contains(&peer.common_name));
        signed && (self.names.is_empty() || named())
    }
}

/// The user that the headers name; 401 when the peer is not the front proxy, or names nobody.
pub(super) fn caller(trusted: bool, headers: &HeaderMap) -> Result<UserInfo, Status> {
    if !trusted {
        return Err(Status::unauthorized());
    }
    let lines: Vec<(&str, &str)> =
        headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect();
    decode(lines, &Names::default()).ok_or_else(Status::unauthorized)
}
