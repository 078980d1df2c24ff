//! Which OpenAPI documents are shown, and the index of those in version 3.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::Serialize;

use crate::{Contribution, Document, DocumentRef, OpenApi, Role, Server, ServerName, routes::Routes};

use super::{backends::Backends, fragment::line};

/// The OpenAPI documents of a catalog, by reference.
#[derive(Debug)]
pub(crate) struct Specs {
    pub(crate) index: Arc<Document>,
    /// By path below `/openapi/v3/`.
    pub(crate) documents: BTreeMap<String, DocumentRef>,
    /// Swagger documents, the core's first, then by name.
    pub(crate) v2: Vec<(Arc<Server>, DocumentRef)>,
    /// The generation since which the merged Swagger document is the same.
    pub(crate) v2_edition: u64,
}

#[derive(Serialize)]
struct Index<'a> {
    paths: BTreeMap<&'a str, Entry>,
}

#[derive(Serialize)]
struct Entry {
    #[serde(rename = "serverRelativeURL")]
    url: String,
}

impl Specs {
    /// Takes from each backend the documents of what it owns. No backend can place a document under a
    /// group of another one; paths outside groups are the core's.
    pub(crate) fn collect(
        backends: &Backends<'_>,
        routes: &Routes,
        before: (&Self, &Routes),
        generation: u64,
    ) -> Self {
        let (previous, previous_routes) = before;
        let silent = silent_servers(backends);
        let mut documents = BTreeMap::new();
        for contribution in backends.contributions() {
            let shown = contribution.openapi.v3.iter().filter_map(|(path, document)| {
                let path = path.trim_matches('/');
                let shows =
                    owns(contribution, path, routes) || stands_in(contribution, path, routes, &silent);
                shows.then(|| (path.to_owned(), document.clone()))
            });
            documents.extend(shown);
        }
        let mut v2: Vec<_> = backends
            .contributions()
            .iter()
            .filter_map(|c| Some((Arc::clone(&c.server), c.openapi.v2.clone()?)))
            .collect();
        v2.sort_by(|(a, _), (b, _)| (a.role != Role::Core, &a.name).cmp(&(b.role != Role::Core, &b.name)));
        let index = match documents == previous.documents {
            true => Arc::clone(&previous.index),
            false => Arc::new(index(&documents)),
        };
        let by_name =
            |(server, document): &'_ (Arc<Server>, DocumentRef)| (server.name.clone(), document.clone());
        let same_documents = v2.iter().map(by_name).eq(previous.v2.iter().map(by_name));
        let counts = |server: &Server| v2.iter().any(|(source, _)| source.name == server.name);
        let is_same = same_documents && routes.agree_with(previous_routes, counts);
        let v2_edition = if is_same { previous.v2_edition } else { generation };
        Self { index, documents, v2, v2_edition }
    }
}

impl Default for Specs {
    fn default() -> Self {
        Self {
            index: Arc::new(index(&BTreeMap::new())),
            documents: BTreeMap::new(),
            v2: Vec::new(),
            v2_edition: 0,
        }
    }
}

fn owns(contribution: &Contribution, path: &str, routes: &Routes) -> bool {
    let server: &Server = &contribution.server;
    let mut segments = path.split('/');
    match (segments.next(), segments.next(), segments.next(), segments.next()) {
        (Some("apis"), Some(group), Some(version), None) => routes.owns(server, group, version),
        (Some("apis"), Some(group), None, None) => routes.owns_all(server, group),
        (Some("api"), Some(version), None, None) => routes.owns(server, "", version),
        // `api`, `apis`, `version`, `.well-known/…` and the like.
        _ => server.role == Role::Core && !path.is_empty(),
    }
}

/// Servers that have given no OpenAPI document yet.
fn silent_servers<'a>(backends: &Backends<'a>) -> BTreeSet<&'a ServerName> {
    let silent = backends.contributions().iter().filter(|c| *c.openapi == OpenApi::default());
    silent.map(|contribution| &contribution.server.name).collect()
}

/// Whether this is the core's description of a version whose server has given none yet. When the door
/// takes a server over from the core's aggregator, its documents are thus shown without a gap.
fn stands_in(
    contribution: &Contribution,
    path: &str,
    routes: &Routes,
    silent: &BTreeSet<&ServerName>,
) -> bool {
    let version = path.strip_prefix("apis/").and_then(|rest| rest.split_once('/'));
    let Some((group, version)) = version else { return false };
    let owner = routes.find(group, version).server();
    contribution.server.role == Role::Core && owner.is_some_and(|owner| silent.contains(&owner.name))
}

/// The entries stand in the order of their paths, so that the same documents make the same index.
fn index(documents: &BTreeMap<String, DocumentRef>) -> Document {
    let entry = |path: &str, hash: &str| Entry { url: format!("/openapi/v3/{path}?hash={hash}") };
    let paths = documents.iter().map(|(path, d)| (path.as_str(), entry(path, &d.hash))).collect();
    Document::new(line(&Index { paths }), Document::JSON)
}
