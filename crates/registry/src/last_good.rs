//! What was last learned of each server, on disk: one file for each, restored before anything is asked.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use catalog::{Discovery, DocumentRef, GroupOffer, Origin, ServerName, VersionOffer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    discovery::Mark,
    disk::Writer,
    documents::DocumentStore,
    openapi::{Kept, Known},
};

/// Version of the file format; another one is as good as no file.
const FORMAT: u32 = 1;

/// What is known of one server.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastGood {
    pub(crate) discovery: Option<Arc<Discovery>>,
    pub(crate) mark: Option<Mark>,
    pub(crate) openapi: Known,
    /// Seconds since the Unix epoch of the last discovery that succeeded; 0: never.
    pub(crate) at: i64,
}

#[derive(Serialize, Deserialize)]
struct Record {
    format: u32,
    uid: String,
    at: i64,
    mark: Option<Mark>,
    core: Vec<VersionRecord>,
    groups: Vec<GroupRecord>,
    openapi: OpenApiRecord,
}

#[derive(Serialize, Deserialize)]
struct GroupRecord {
    name: String,
    origin: u8,
    versions: Vec<VersionRecord>,
}

#[derive(Serialize, Deserialize)]
struct VersionRecord {
    version: String,
    current: bool,
    resources: Arc<RawValue>,
    legacy: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct OpenApiRecord {
    index_etag: Option<String>,
    index_hash: String,
    has_v3: bool,
    v2: Option<DocumentRecord>,
    v3: BTreeMap<String, DocumentRecord>,
}

#[derive(Serialize, Deserialize)]
struct DocumentRecord {
    hash: Arc<str>,
    len: u64,
    url: String,
    etag: Option<String>,
}

/// The folder with these files.
#[derive(Clone, Debug)]
pub(crate) struct LastGoodStore {
    folder: PathBuf,
    writer: Writer,
    documents: Arc<DocumentStore>,
}

impl LastGoodStore {
    pub(crate) fn open(
        folder: &Path,
        writer: Writer,
        documents: Arc<DocumentStore>,
    ) -> std::io::Result<Self> {
        crate::disk::make_folder(folder)?;
        Ok(Self { folder: folder.to_owned(), writer, documents })
    }

    /// What is known of a server, if it is the one with this uid. Documents that are not on disk any
    /// more are forgotten: they will be fetched again.
    pub(crate) fn load(&self, name: &ServerName, uid: &str) -> LastGood {
        let path = self.path(name);
        let Ok(bytes) = std::fs::read(&path) else { return LastGood::default() };
        match serde_json::from_slice::<Record>(&bytes) {
            Ok(record) if record.format == FORMAT && record.uid == uid => restored(record, &self.documents),
            Ok(_) => LastGood::default(),
            Err(error) => {
                tracing::error!(
                    path = %path.display(), %error,
                    "cannot read what was last known of a server; it is asked again. Delete the file if this comes back"
                );
                LastGood::default()
            }
        }
    }

    /// Notes what is known, some time soon.
    pub(crate) fn save(&self, name: &ServerName, uid: &str, known: &LastGood) {
        let record = recorded(uid, known);
        match serde_json::to_vec(&record) {
            Ok(bytes) => self.writer.write(self.path(name), bytes),
            Err(error) => tracing::error!(%name, %error, "cannot note what is known of a server"),
        }
    }

    /// Forgets a server.
    pub(crate) fn forget(&self, name: &ServerName) {
        self.writer.remove(self.path(name));
    }

    fn path(&self, name: &ServerName) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }
}

fn restored(record: Record, documents: &DocumentStore) -> LastGood {
    let groups = record.groups.into_iter().map(|group| GroupOffer {
        name: group.name,
        versions: group.versions.into_iter().map(VersionRecord::restored).collect(),
        origin: origin(group.origin),
    });
    let core = record.core.into_iter().map(VersionRecord::restored).collect();
    let discovery = record.mark.is_some().then(|| Arc::new(Discovery { core, groups: groups.collect() }));
    let kept = |document: DocumentRecord| {
        let DocumentRecord { hash, len, url, etag } = document;
        let document = DocumentRef { hash, len };
        documents.contains(&document).then_some(Kept { document, url, etag })
    };
    let noted = record.openapi.v3.len() + usize::from(record.openapi.v2.is_some());
    let v2 = record.openapi.v2.and_then(kept);
    let v3: BTreeMap<_, _> =
        record.openapi.v3.into_iter().filter_map(|(path, document)| Some((path, kept(document)?))).collect();
    let complete = v3.len() + usize::from(v2.is_some()) == noted;
    let openapi = Known {
        // An index whose documents are not all here is asked for again.
        index_etag: record.openapi.index_etag.filter(|_| complete),
        index_hash: if complete { record.openapi.index_hash } else { String::new() },
        has_v3: record.openapi.has_v3,
        v2,
        v3,
    };
    LastGood { discovery, mark: record.mark, openapi, at: record.at }
}

fn recorded(uid: &str, known: &LastGood) -> Record {
    let discovery = known.discovery.clone().unwrap_or_default();
    let document = |kept: &Kept| DocumentRecord {
        hash: Arc::clone(&kept.document.hash),
        len: kept.document.len,
        url: kept.url.clone(),
        etag: kept.etag.clone(),
    };
    Record {
        format: FORMAT,
        uid: uid.to_owned(),
        at: known.at,
        mark: known.mark.clone(),
        core: discovery.core.iter().map(VersionRecord::of).collect(),
        groups: discovery
            .groups
            .iter()
            .map(|group| GroupRecord {
                name: group.name.clone(),
                origin: number(group.origin),
                versions: group.versions.iter().map(VersionRecord::of).collect(),
            })
            .collect(),
        openapi: OpenApiRecord {
            index_etag: known.openapi.index_etag.clone(),
            index_hash: known.openapi.index_hash.clone(),
            has_v3: known.openapi.has_v3,
            v2: known.openapi.v2.as_ref().map(document),
            v3: known.openapi.v3.iter().map(|(path, kept)| (path.clone(), document(kept))).collect(),
        },
    }
}

impl VersionRecord {
    fn of(offer: &VersionOffer) -> Self {
        Self {
            version: offer.version.clone(),
            current: offer.current,
            resources: Arc::clone(&offer.resources),
            legacy: offer.legacy.as_ref().map(|body| String::from_utf8_lossy(body).into_owned()),
        }
    }

    fn restored(self) -> VersionOffer {
        VersionOffer {
            version: self.version,
            resources: self.resources,
            legacy: self.legacy.map(Bytes::from),
            current: self.current,
        }
    }
}

fn number(origin: Origin) -> u8 {
    match origin {
        Origin::BuiltIn => 0,
        Origin::CustomResource => 1,
        Origin::Server => 2,
    }
}

fn origin(number: u8) -> Origin {
    match number {
        0 => Origin::BuiltIn,
        1 => Origin::CustomResource,
        _ => Origin::Server,
    }
}
