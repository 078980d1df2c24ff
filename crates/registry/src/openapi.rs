//! The OpenAPI documents of a server: fetched only when they changed, kept by their hash.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bytes::Bytes;
use catalog::{Cause, DocumentRef, Documents as _, Failure, OpenApi};
use futures_util::{StreamExt as _, stream};
use http::StatusCode;
use serde::{Deserialize, Serialize, de::IgnoredAny};

use crate::{
    asker::{Asker, Kind, etag_of, is_absent, json_body},
    disk::Writer,
    documents::DocumentStore,
    registration::OpenApiPaths,
};

/// Requests at once for the documents of one server.
const PARALLEL: usize = 4;
/// Documents in one index.
const MAX_DOCUMENTS: usize = 4096;

/// What the URL of a document made out of the v2 document begins with; its hash follows.
const CONVERTED: &str = "converted:";

/// What is known of a server's documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) index_etag: Option<String>,
    pub(crate) index_hash: String,
    pub(crate) v2: Option<Kept>,
    /// By path below `/openapi/v3/`.
    pub(crate) v3: BTreeMap<String, Kept>,
    /// Whether the server has an index of v3 documents.
    pub(crate) has_v3: bool,
}

/// A document with what tells whether it is still the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) document: DocumentRef,
    /// `serverRelativeURL`, hash included.
    pub(crate) url: String,
    pub(crate) etag: Option<String>,
}

/// Which documents to look at.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) paths: OpenApiPaths,
    /// Paths of the v3 index that are the server's own to describe; none: all of them (the core).
    pub(crate) own: Option<BTreeSet<String>>,
    pub(crate) v2: bool,
}

/// Where documents are put.
#[derive(Clone, Debug)]
pub(crate) struct Keeper {
    pub(crate) documents: Arc<DocumentStore>,
    pub(crate) writer: Writer,
}

impl Known {
    /// As the catalog wants it.
    pub(crate) fn references(&self) -> OpenApi {
        OpenApi {
            v2: self.v2.as_ref().map(|kept| kept.document.clone()),
            v3: self.v3.iter().map(|(path, kept)| (path.clone(), kept.document.clone())).collect(),
        }
    }
}

#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    paths: BTreeMap<String, IndexEntry>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct IndexEntry {
    #[serde(rename = "serverRelativeURL")]
    server_relative_url: String,
}

/// Whether everything that is wanted is certainly as it was. False says nothing.
pub(crate) async fn unchanged(asker: &Asker, wanted: &Wanted, known: &Known) -> bool {
    let accept = "application/json";
    if known.has_v3 && !asker.unchanged(&wanted.paths.v3, accept, known.index_etag.as_deref()).await {
        return false;
    }
    if known.has_v3 && !wanted.v2 {
        return true;
    }
    let etag = known.v2.as_ref().and_then(|kept| kept.etag.as_deref());
    asker.unchanged(&wanted.paths.v2, accept, etag).await
}

/// Looks at everything that is wanted. What could be had is in the result even when something failed.
pub(crate) async fn refresh(
    asker: &Asker,
    keeper: &Keeper,
    wanted: &Wanted,
    mut known: Known,
) -> (Known, Option<Failure>) {
    let mut failure = v3(asker, keeper, wanted, &mut known).await.err();
    // Without v3 the v2 document is all there is, and it is looked at as often.
    if (wanted.v2 || !known.has_v3)
        && let Err(other) = v2(asker, keeper, wanted, &mut known).await
    {
        failure.get_or_insert(other);
    }
    if !known.has_v3
        && let Err(other) = convert(keeper, wanted, &mut known).await
    {
        failure.get_or_insert(other);
    }
    (known, failure)
}

/// Makes v3 documents out of the v2 document, for a server that has none of its own.
async fn convert(keeper: &Keeper, wanted: &Wanted, known: &mut Known) -> Result<(), Failure> {
    let Some((v2, own)) = known.v2.as_ref().zip(wanted.own.as_ref()) else {
        known.v3.clear();
        return Ok(());
    };
    let source = v2.document.clone();
    let url = format!("{CONVERTED}{}", source.hash);
    known.v3.retain(|path, _| own.contains(path));
    let missing: Vec<&String> =
        own.iter().filter(|path| known.v3.get(*path).is_none_or(|kept| kept.url != url)).collect();
    for path in missing {
        match keeper.convert(source.clone(), path).await? {
            Some(document) => {
                known.v3.insert(path.clone(), Kept { document, url: url.clone(), etag: None });
            }
            None => {
                known.v3.remove(path);
            }
        }
    }
    Ok(())
}

/// Group and version of a path of the v3 index.
fn group_version(path: &str) -> (&str, &str) {
    let path = path.strip_prefix("apis/").or_else(|| path.strip_prefix("api/")).unwrap_or(path);
    path.split_once('/').unwrap_or(("", path))
}

async fn v3(asker: &Asker, keeper: &Keeper, wanted: &Wanted, known: &mut Known) -> Result<(), Failure> {
    let path = &wanted.paths.v3;
    let answer = asker.get(Kind::OpenApi, path, "application/json", known.index_etag.as_deref()).await?;
    if answer.status == StatusCode::NOT_MODIFIED {
        return Ok(());
    }
    if is_absent(&answer) {
        known.has_v3 = false;
        known.index_etag = None;
        known.v3.retain(|_, kept| kept.url.starts_with(CONVERTED));
        return Ok(());
    }
    let body = json_body(path, &answer)?;
    let hash = format!("{}{:?}", kube_wire::etag::sha512_hex(&body), wanted.own);
    known.has_v3 = true;
    if known.index_hash == hash {
        known.index_etag = etag_of(&answer);
        return Ok(());
    }
    let index: Index = serde_json::from_slice(&body)
        .map_err(|error| Failure::new(Cause::InvalidDocument, format!("GET {path}: {error}")))?;
    let entries = own_entries(index, wanted);
    known.v3.retain(|path, _| entries.contains_key(path));
    let stale: Vec<(String, String, Option<Kept>)> = entries
        .into_iter()
        .filter_map(|(path, url)| {
            let kept = known.v3.get(&path).cloned();
            // The hash in the URL names the content.
            let same = kept.as_ref().is_some_and(|kept| kept.url == url && url.contains("hash="));
            (!same).then_some((path, url, kept))
        })
        .collect();
    let mut fetched = stream::iter(stale)
        .map(|(path, url, kept)| async move { (path, document(asker, keeper, url, kept).await) })
        .buffer_unordered(PARALLEL);
    let mut failure = None;
    while let Some((path, outcome)) = fetched.next().await {
        match outcome {
            Ok(Some(kept)) => {
                known.v3.insert(path, kept);
            }
            Ok(None) => {
                known.v3.remove(&path);
            }
            Err(other) => failure = failure.or(Some(other)),
        }
    }
    match failure {
        // The index counts as seen only when all of it is here.
        None => {
            known.index_etag = etag_of(&answer);
            known.index_hash = hash;
            Ok(())
        }
        Some(failure) => Err(failure),
    }
}

/// The paths that this server may describe, with URLs that lead to itself.
fn own_entries(index: Index, wanted: &Wanted) -> BTreeMap<String, String> {
    let owned = |path: &str| wanted.own.as_ref().is_none_or(|own| own.contains(path));
    index
        .paths
        .into_iter()
        .filter(|(path, _)| owned(path))
        .take(MAX_DOCUMENTS)
        .map(|(path, entry)| {
            let url = entry.server_relative_url;
            let url = match url.find("/openapi/") {
                // A server behind a path prefix may know of the prefix or not.
                Some(at) if url.starts_with('/') => url[at..].to_owned(),
                _ => format!("{}/{path}", wanted.paths.v3),
            };
            (path, url)
        })
        .collect()
}

async fn v2(asker: &Asker, keeper: &Keeper, wanted: &Wanted, known: &mut Known) -> Result<(), Failure> {
    let before = known.v2.clone();
    known.v2 = document(asker, keeper, wanted.paths.v2.clone(), before).await?;
    Ok(())
}

/// One document, when there is one.
async fn document(
    asker: &Asker,
    keeper: &Keeper,
    url: String,
    before: Option<Kept>,
) -> Result<Option<Kept>, Failure> {
    let etag = before.as_ref().and_then(|kept| kept.etag.as_deref());
    let answer = asker.get(Kind::OpenApi, &url, "application/json", etag).await?;
    if answer.status == StatusCode::NOT_MODIFIED
        && let Some(before) = before
    {
        return Ok(Some(Kept { url, ..before }));
    }
    if is_absent(&answer) {
        return Ok(None);
    }
    let body = json_body(&url, &answer)?;
    let document = keeper.keep(&url, body).await?;
    Ok(Some(Kept { document, url, etag: etag_of(&answer) }))
}

impl Keeper {
    /// Checks that `body` is JSON and keeps it.
    async fn keep(&self, url: &str, body: Bytes) -> Result<DocumentRef, Failure> {
        let documents = Arc::clone(&self.documents);
        let kept =
            self.aside(move || check(&body).and_then(|()| documents.put(&body).map_err(unkept))).await?;
        kept.map_err(|failure| Failure::new(failure.cause, format!("GET {url}: {}", failure.detail)))
    }

    /// The v3 document of one group version out of the v2 document `source`, if that says anything of it.
    async fn convert(&self, source: DocumentRef, path: &str) -> Result<Option<DocumentRef>, Failure> {
        let documents = Arc::clone(&self.documents);
        let path = path.to_owned();
        self.aside(move || {
            let bytes = documents.get(&source).map_err(unkept)?;
            let (group, version) = group_version(&path);
            let converted = catalog::openapi::v2_to_v3(&bytes, group, version)
                .map_err(|error| Failure::new(Cause::InvalidDocument, format!("the v2 document: {error}")))?;
            converted.map(|document| documents.put(&document).map_err(unkept)).transpose()
        })
        .await?
    }

    /// Does something on the thread that writes the state folder: one document at a time is in work.
    async fn aside<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
        let (done, outcome) = tokio::sync::oneshot::channel();
        self.writer.run(move || {
            let _ = done.send(job());
        });
        outcome.await.map_err(|_| Failure::new(Cause::InvalidDocument, "the registry is stopping"))
    }
}

fn unkept(error: std::io::Error) -> Failure {
    let detail = format!("{error}; free some space below the state folder");
    Failure::new(Cause::InvalidDocument, detail)
}

fn check(body: &[u8]) -> Result<(), Failure> {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    let valid = first == Some(&b'{') && serde_json::from_slice::<IgnoredAny>(body).is_ok();
    if valid { Ok(()) } else { Err(Failure::new(Cause::InvalidDocument, "the answer is no JSON object")) }
}
