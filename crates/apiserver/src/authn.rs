//! Who makes a request.

mod certificates;

use http::request::Parts;
use kube_wire::{
    Status, UserInfo,
    identity::{
        AUTHENTICATED_GROUP,
        request_header::{self, Names},
    },
};

use crate::hooks::Later;

pub use certificates::{Certificates, PeerCertificates, Trust, TrustError};

/// One way to tell who makes a request. Of several, the first that knows is believed.
pub trait Authenticator: Send + Sync {
    /// Whom the head of a request names; none when this way does not apply to it.
    ///
    /// # Errors
    /// 401 for a credential that is false, which ends the request.
    fn authenticate<'a>(&'a self, head: &'a Parts) -> Later<'a, Result<Option<UserInfo>, Status>>;
}

/// Believes `X-Remote-*` of every request: for a service that is called in this process, behind a door
/// that alone can have set them.
#[derive(Clone, Debug, Default)]
pub struct TrustedHeaders {
    names: Names,
}

impl Authenticator for TrustedHeaders {
    fn authenticate<'a>(&'a self, head: &'a Parts) -> Later<'a, Result<Option<UserInfo>, Status>> {
        Box::pin(async { named(head, &self.names) })
    }
}

/// The user that request headers name.
fn named(head: &Parts, names: &Names) -> Result<Option<UserInfo>, Status> {
    let mut lines = Vec::new();
    for (name, value) in &head.headers {
        match value.to_str() {
            Ok(text) => lines.push((name.as_str(), text)),
            // An identity of which a part is left out is another identity.
            Err(_) if is_identity(name.as_str(), names) => match std::str::from_utf8(value.as_bytes()) {
                Ok(text) => lines.push((name.as_str(), text)),
                Err(_) => return Err(Status::unauthorized()),
            },
            Err(_) => {}
        }
    }
    Ok(request_header::decode(lines, names).map(|user| user.with_group(AUTHENTICATED_GROUP)))
}

fn is_identity(header: &str, names: &Names) -> bool {
    let Names { user, group, uid, extra_prefix } = names;
    [user, group, uid].into_iter().flatten().any(|name| name.eq_ignore_ascii_case(header))
        || extra_prefix
            .iter()
            .any(|prefix| header.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)))
}
