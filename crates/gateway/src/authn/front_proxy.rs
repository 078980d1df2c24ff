//! A front proxy's request headers, from a connection whose certificate allows it to speak for others.

use std::{sync::Arc, time::Duration};

use http::HeaderMap;
use kube_wire::{
    identity::request_header::{self, Names},
    status::Status,
};
use sha2::{Digest, Sha256};

use super::{Key, Memo, unauthorized};
use crate::identity::Identity;

/// Callers remembered; a front proxy has many.
const CAPACITY: usize = 4096;
/// Rendered header lines never go stale; the time only lets the idle ones go.
const KEEP: Duration = Duration::from_secs(300);

/// The callers that front proxies have named lately, so that their lines are rendered once.
#[derive(Debug)]
pub(super) struct Proxied {
    names: Names,
    callers: Memo<Arc<Identity>>,
}

impl Default for Proxied {
    fn default() -> Self {
        Self { names: Names::default(), callers: Memo::new(CAPACITY, 1) }
    }
}

impl Proxied {
    /// Whom the request headers name; none when they name nobody.
    ///
    /// # Errors
    /// 401 for an identity that could not be carried on.
    pub(super) fn identity(&self, headers: &HeaderMap) -> Result<Option<Arc<Identity>>, Box<Status>> {
        if !headers.contains_key(request_header::USER) {
            return Ok(None);
        }
        let key = key(headers);
        if let Some(known) = self.callers.known(&key) {
            return Ok(Some(known));
        }
        // What is not UTF-8 is nobody's name here: an identity with a part left out is another identity.
        let lines = own(headers).map(|(name, value)| Some((name, std::str::from_utf8(value).ok()?)));
        let lines = lines.collect::<Option<Vec<_>>>().ok_or_else(unauthorized)?;
        let Some(user) = request_header::decode(lines.iter().copied(), &self.names) else { return Ok(None) };
        let identity = Arc::new(Identity::authenticated(user).map_err(|_| unauthorized())?);
        self.callers.remember(key, identity.clone(), KEEP);
        Ok(Some(identity))
    }
}

fn own(headers: &HeaderMap) -> impl Iterator<Item = (&str, &[u8])> {
    headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .filter(|(name, _)| name.starts_with("x-remote-"))
}

/// Names and values with their lengths, so that no two sets of lines give the same bytes.
fn key(headers: &HeaderMap) -> Key {
    let mut hash = Sha256::new();
    for (name, value) in own(headers) {
        hash.update(name.len().to_be_bytes());
        hash.update(name);
        hash.update(value.len().to_be_bytes());
        hash.update(value);
    }
    hash.finalize().into()
}
