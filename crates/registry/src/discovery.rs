//! What a server offers: its aggregated discovery where it has one, else the legacy documents.

mod legacy;
mod parse;

use std::sync::Arc;

use bytes::Bytes;
use catalog::{Cause, Discovery, Failure, Role, VersionOffer};
use futures_util::{StreamExt as _, stream};
use http::StatusCode;

pub(crate) use legacy::lists_of;

use crate::asker::{Asker, Kind, etag_of, is_absent, json_body};
use parse::Document;

/// Both forms, in the words of kubectl; servers compare the parameters in this order.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
/// The legacy form alone.
const ACCEPT_LEGACY: &str = "application/json";
/// A document longer than this is parsed on a thread of its own.
const LONG: usize = 128 << 10;
/// Requests at once for the legacy lists of one server.
const PARALLEL: usize = 8;

/// What tells whether a server's discovery is another one than last time.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Mark {
    /// The server's own.
    pub(crate) etag: Option<String>,
    /// Hash of the document, for servers that give no ETag.
    pub(crate) hash: String,
    /// Whether the document is of the legacy form.
    pub(crate) legacy: bool,
}

/// The outcome of asking.
#[derive(Debug)]
pub(crate) enum Found {
    /// What was known still holds.
    Unchanged,
    /// Something new.
    New(Discovery, Mark),
}

/// `group` and `version` of everything that APIServices name; none for a server that offers what it likes.
pub(crate) type Named = Option<Arc<[(String, String)]>>;

/// Asks for the list of groups, and for everything in it when it has changed.
pub(crate) async fn discover(asker: &Asker, named: &Named, known: Option<&Mark>) -> Result<Found, Failure> {
    let etag = known.and_then(|mark| mark.etag.as_deref());
    if asker.unchanged("/apis", ACCEPT, etag).await {
        return Ok(Found::Unchanged);
    }
    let mut answer = asker.get(Kind::Discovery, "/apis", ACCEPT, etag).await?;
    if answer.status == StatusCode::NOT_ACCEPTABLE {
        answer = asker.get(Kind::Discovery, "/apis", ACCEPT_LEGACY, etag).await?;
    }
    if answer.status == StatusCode::NOT_MODIFIED {
        return Ok(Found::Unchanged);
    }
    let wants_core = asker.role() == Role::Core
        || named.as_ref().is_some_and(|named| named.iter().any(|(group, _)| group.is_empty()));
    if is_absent(&answer) {
        return named_only(asker, named, answer.status).await;
    }
    let body = json_body("/apis", &answer)?;
    let etag = etag_of(&answer);
    let hash = kube_wire::etag::sha512_hex(&body);
    if known.is_some_and(|mark| mark.hash == hash) && etag.is_some() {
        return Ok(Found::Unchanged);
    }
    match parse("/apis", body).await? {
        Document::Aggregated(groups) => {
            if let Some(failure) = parse::too_many(groups.len(), asker.role()) {
                return Err(failure);
            }
            let core = if wants_core { core_versions(asker).await? } else { Vec::new() };
            let mark = Mark { etag, hash, legacy: false };
            Ok(Found::New(Discovery { core, groups }, mark))
        }
        Document::Legacy(list) => {
            if known.is_some_and(|mark| mark.hash == hash) {
                // A list of groups without ETag says nothing of the resources: these are looked at when
                // the OpenAPI documents are.
                return Ok(Found::Unchanged);
            }
            let groups = legacy::groups(asker, &list).await?;
            let core = if wants_core { core_versions(asker).await? } else { Vec::new() };
            Ok(Found::New(Discovery { core, groups }, Mark { etag, hash, legacy: true }))
        }
        Document::Core(_) => Err(Failure::new(Cause::InvalidDocument, "/apis is no list of groups")),
    }
}

/// A server that has no `/apis`, but of which APIServices say what it has.
async fn named_only(asker: &Asker, named: &Named, status: StatusCode) -> Result<Found, Failure> {
    let Some(named) = named else {
        let detail = format!("GET /apis was answered with {status}: no API server, or another base path");
        return Err(Failure::new(Cause::UnexpectedStatus, detail));
    };
    let discovery = legacy::named(asker, named).await?;
    // Without a list there is nothing to compare: everything is asked for each time.
    Ok(Found::New(discovery, Mark { etag: None, hash: String::new(), legacy: true }))
}

/// The versions of the legacy group.
async fn core_versions(asker: &Asker) -> Result<Vec<VersionOffer>, Failure> {
    let answer = asker.get(Kind::Discovery, "/api", ACCEPT, None).await?;
    if is_absent(&answer) {
        return Ok(Vec::new());
    }
    match parse("/api", json_body("/api", &answer)?).await? {
        Document::Aggregated(groups) => {
            Ok(groups.into_iter().find(|group| group.name.is_empty()).map(|g| g.versions).unwrap_or_default())
        }
        Document::Core(versions) => {
            let offers = stream::iter(versions)
                .map(|version| async move { legacy::version(asker, "", &version).await })
                .buffered(PARALLEL);
            Ok(offers.collect().await)
        }
        Document::Legacy(_) => Ok(Vec::new()),
    }
}

/// Whether two discoveries say the same.
pub(crate) fn same(a: &Discovery, b: &Discovery) -> bool {
    let same_versions = |a: &[VersionOffer], b: &[VersionOffer]| {
        a.len() == b.len()
            && a.iter().zip(b).all(|(a, b)| {
                a.version == b.version
                    && a.current == b.current
                    && a.resources.get() == b.resources.get()
                    // A list that has not been fetched yet says nothing.
                    && (a.legacy == b.legacy || b.legacy.is_none())
            })
    };
    same_versions(&a.core, &b.core)
        && a.groups.len() == b.groups.len()
        && a.groups
            .iter()
            .zip(&b.groups)
            .all(|(a, b)| a.name == b.name && a.origin == b.origin && same_versions(&a.versions, &b.versions))
}

async fn parse(path: &'static str, body: Bytes) -> Result<Document, Failure> {
    let invalid = |why: String| Failure::new(Cause::InvalidDocument, format!("GET {path}: {why}"));
    if body.len() < LONG {
        return parse::document(&body).map_err(|problem| problem.at(path));
    }
    tokio::task::spawn_blocking(move || parse::document(&body))
        .await
        .map_err(|error| invalid(error.to_string()))?
        .map_err(|problem| problem.at(path))
}
