//! A front proxy's request headers, from a connection whose certificate allows it to speak for others.

use std::{sync::Arc, time::Duration};

use http::HeaderMap;
use kube_wire::{
    identity::request_header::{self, Names},
    status::Status,
};
use sha2::{Digest, Sha256};

use super::{Key, Memo, unauthorized};
use crate::{headers, identity::Identity};

/// Callers remembered; a front proxy has many.
const CAPACITY: usize = 4096;
/// Rendered header lines never go stale; the time only lets the idle ones go.
const KEEP: Duration = Duration::from_secs(300);

/// The callers that front proxies have named lately, so that their lines are rendered once.
#[derive(Debug)]
pub(super) struct Proxied {
    /// In lower case.
    names: Names,
    /// Whether these are the names that never reach a server anyway.
    usual: bool,
    callers: Memo<Arc<Identity>>,
}

impl Proxied {
    /// Reads headers of these names.
    pub(super) fn new(names: Names) -> Self {
        let lower = |names: Vec<String>| names.iter().map(|name| name.to_ascii_lowercase()).collect();
        let names = Names {
            user: lower(names.user),
            group: lower(names.group),
            uid: lower(names.uid),
            extra_prefix: lower(names.extra_prefix),
        };
        Self { usual: names == Names::default(), names, callers: Memo::new(CAPACITY, 1) }
    }

    /// Takes every header out that only a front proxy may send.
    pub(super) fn take_out(&self, headers: &mut HeaderMap) {
        if !self.usual {
            headers::remove_where(headers, |name| self.is_own(name.as_str()));
        }
    }

    /// Whom the request headers name; none when they name nobody.
    ///
    /// # Errors
    /// 401 for an identity that could not be carried on.
    pub(super) fn identity(&self, headers: &HeaderMap) -> Result<Option<Arc<Identity>>, Box<Status>> {
        if !self.names.user.iter().any(|name| headers.contains_key(name)) {
            return Ok(None);
        }
        let key = self.key(headers);
        if let Some(known) = self.callers.known(&key) {
            return Ok(Some(known));
        }
        // What is not UTF-8 is nobody's name here: an identity with a part left out is another identity.
        let lines = self.own(headers).map(|(name, value)| Some((name, std::str::from_utf8(value).ok()?)));
        let lines = lines.collect::<Option<Vec<_>>>().ok_or_else(unauthorized)?;
        let Some(user) = request_header::decode(lines.iter().copied(), &self.names) else { return Ok(None) };
        let identity = Arc::new(Identity::authenticated(user).map_err(|_| unauthorized())?);
        self.callers.remember(key, identity.clone(), KEEP);
        Ok(Some(identity))
    }
    fn is_own(&self, name: &str) -> bool {
        let Names { user, group, uid, extra_prefix } = &self.names;
        [user, group, uid].into_iter().flatten().any(|own| own == name)
            || extra_prefix.iter().any(|prefix| name.starts_with(&**prefix))
    }

    fn own<'h>(&self, headers: &'h HeaderMap) -> impl Iterator<Item = (&'h str, &'h [u8])> {
        headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .filter(|(name, _)| self.is_own(name))
    }

    /// Names and values with their lengths, so that no two sets of lines give the same bytes.
    fn key(&self, headers: &HeaderMap) -> Key {
        let mut hash = Sha256::new();
        for (name, value) in self.own(headers) {
            hash.update(name.len().to_be_bytes());
            hash.update(name);
            hash.update(value.len().to_be_bytes());
            hash.update(value);
        }
        hash.finalize().into()
    }
}
