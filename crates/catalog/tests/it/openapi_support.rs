//! Swagger documents in memory, and who owns what in them.

use std::{collections::HashMap, io};

use bytes::Bytes;
use catalog::{
    DocumentRef, Documents, ServerName,
    openapi::{Claim, MergedV2, OpenApiError, Owner, Source, merge_v2},
};
use kube_wire::etag::sha512_hex;
use serde_json::Value;

/// One server of a test: its name, the groups that it owns (none for the core), its document.
pub(crate) struct Server {
    name: ServerName,
    groups: Vec<String>,
    document: DocumentRef,
}

/// Servers, the most important first.
#[derive(Default)]
pub(crate) struct Federation {
    servers: Vec<Server>,
    store: HashMap<String, Bytes>,
}

impl Federation {
    /// Adds a server; without groups it is the core.
    pub(crate) fn with(mut self, name: &str, groups: &[&str], document: &str) -> Self {
        let hash = sha512_hex(document.as_bytes());
        let reference = DocumentRef { hash: hash.as_str().into(), len: document.len() as u64 };
        self.store.insert(hash, Bytes::copy_from_slice(document.as_bytes()));
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        self.servers.push(Server { name: ServerName::new(name), groups, document: reference });
        self
    }

    /// Lets the store lose a server's document.
    pub(crate) fn lose(&mut self, name: &str) {
        let lost = self.servers.iter().find(|server| server.name.as_str() == name).expect("known");
        self.store.remove(&*lost.document.hash);
    }

    pub(crate) fn merge(&self) -> Result<MergedV2, OpenApiError> {
        let taken: Vec<String> = self.servers.iter().flat_map(|server| server.groups.clone()).collect();
        let owners: Vec<_> =
            self.servers.iter().map(|server| Groups { own: &server.groups, taken: &taken }).collect();
        let sources: Vec<_> = self
            .servers
            .iter()
            .zip(&owners)
            .map(|(server, owner)| Source { server: &server.name, document: &server.document, owner })
            .collect();
        merge_v2(&sources, self)
    }

    /// The merged document; nothing may have been skipped.
    pub(crate) fn merged(&self) -> Value {
        let merged = self.merge().expect("merged");
        assert!(merged.skipped.is_empty(), "{:?}", merged.skipped);
        serde_json::from_slice(&merged.json.body).expect("JSON")
    }
}

impl Documents for Federation {
    fn get(&self, document: &DocumentRef) -> io::Result<Bytes> {
        self.store.get(&*document.hash).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

struct Groups<'a> {
    own: &'a [String],
    taken: &'a [String],
}

impl Owner for Groups<'_> {
    fn owns(&self, claim: Claim<'_>) -> bool {
        match claim {
            Claim::Version(group, _) | Claim::Group(group) if self.is_core() => {
                self.taken.iter().all(|taken| taken != group)
            }
            Claim::Version(group, _) | Claim::Group(group) => self.own.iter().any(|own| own == group),
            Claim::Other => self.is_core(),
        }
    }

    fn is_core(&self) -> bool {
        self.own.is_empty()
    }
}
