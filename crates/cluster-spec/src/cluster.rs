//! A cluster object in which nothing is wrong.

use std::net::Ipv4Addr;

use crate::{
    cidr::Cidr,
    finding::Source,
    object::{Host, Object},
    versions::Version,
};

/// A valid object with its hosts; made by [`crate::read`] alone.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub(crate) object: Object,
    pub(crate) hosts: Vec<PlacedHost>,
    pub(crate) source: Source,
    pub(crate) version: Version,
    pub(crate) networks: Networks,
    pub(crate) endpoint: Endpoint,
}

/// A host and what its place among the others makes of it.
#[derive(Clone, Debug)]
pub(crate) struct PlacedHost {
    /// Place in the list of hosts.
    pub(crate) index: usize,
    pub(crate) address: Ipv4Addr,
    pub(crate) control_plane: bool,
    /// Whether ordinary pods may run there.
    pub(crate) takes_pods: bool,
    /// Whether any host says which roles it has.
    pub(crate) roles_given: bool,
    pub(crate) host: Host,
}

/// The networks, read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Networks {
    pub(crate) pods: Cidr,
    pub(crate) services: Cidr,
    pub(crate) dns: Ipv4Addr,
    pub(crate) first_service: Ipv4Addr,
}

/// Where the API is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl Endpoint {
    /// Whether it is the host itself, and nothing in front of it.
    pub(crate) fn is_at(&self, placed: &PlacedHost) -> bool {
        self.host == placed.host.name || self.host == placed.address.to_string()
    }
}

impl Cluster {
    /// The object as it was given, with defaults.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Where the hosts were given.
    pub fn hosts_from(&self) -> Source {
        self.source
    }
}
