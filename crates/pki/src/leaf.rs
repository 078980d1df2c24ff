//! What a certificate to be issued shall say.

use std::{
    net::IpAddr,
    time::{Duration, SystemTime},
};

use crate::{Error, authority::BACKDATE};

/// How long a leaf is valid when nothing else is said: one year, as kubeadm's.
const DEFAULT_VALIDITY: Duration = Duration::from_secs(365 * 24 * 3600);

/// A request for a server or client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    pub(crate) usage: Usage,
    pub(crate) common_name: String,
    pub(crate) organizations: Vec<String>,
    pub(crate) uid: Option<String>,
    pub(crate) dns: Vec<String>,
    pub(crate) ips: Vec<IpAddr>,
    pub(crate) validity: Validity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    Server,
    Client,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validity {
    For(Duration),
    Between(SystemTime, SystemTime),
}

impl Leaf {
    /// A serving certificate; add at least one name.
    pub fn server(common_name: impl Into<String>) -> Self {
        Self::new(Usage::Server, common_name.into())
    }

    /// A client certificate: the common name is the user.
    pub fn client(common_name: impl Into<String>) -> Self {
        Self::new(Usage::Client, common_name.into())
    }

    /// A certificate for both: members of a group that call each other; add at least one name.
    pub fn peer(common_name: impl Into<String>) -> Self {
        Self::new(Usage::Both, common_name.into())
    }

    fn new(usage: Usage, common_name: String) -> Self {
        Self {
            usage,
            common_name,
            organizations: Vec::new(),
            uid: None,
            dns: Vec::new(),
            ips: Vec::new(),
            validity: Validity::For(DEFAULT_VALIDITY),
        }
    }

    /// Adds a group of the user.
    #[must_use]
    pub fn organization(mut self, group: impl Into<String>) -> Self {
        self.organizations.push(group.into());
        self
    }

    /// The user's uid, in the attribute that Kubernetes reads it from.
    #[must_use]
    pub fn uid(mut self, uid: impl Into<String>) -> Self {
        self.uid = Some(uid.into());
        self
    }

    /// Adds a DNS name.
    #[must_use]
    pub fn dns(mut self, name: impl Into<String>) -> Self {
        self.dns.push(name.into());
        self
    }

    /// Adds an IP address.
    #[must_use]
    pub fn ip(mut self, address: IpAddr) -> Self {
        self.ips.push(address);
        self
    }

    /// Adds a name of either kind.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        match name.parse() {
            Ok(address) => self.ip(address),
            Err(_) => self.dns(name),
        }
    }

    /// Valid from now (back-dated five minutes, for clocks that differ) for this long.
    #[must_use]
    pub fn valid_for(mut self, validity: Duration) -> Self {
        self.validity = Validity::For(validity);
        self
    }

    /// Valid exactly between these two moments.
    #[must_use]
    pub fn valid_between(mut self, not_before: SystemTime, not_after: SystemTime) -> Self {
        self.validity = Validity::Between(not_before, not_after);
        self
    }

    /// The two ends, as of `now`.
    pub(crate) fn interval(&self, now: SystemTime) -> Result<(SystemTime, SystemTime), Error> {
        match self.validity {
            Validity::Between(not_before, not_after) => Ok((not_before, not_after)),
            Validity::For(validity) => crate::authority::interval(now, BACKDATE, validity)
                .ok_or_else(|| Error::issue(&self.common_name, "the validity is out of range")),
        }
    }
}
