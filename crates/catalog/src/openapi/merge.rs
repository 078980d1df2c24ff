//! One Swagger document made of those of all servers.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::Value;

use super::{
    MAX_MERGED_BYTES, OpenApiError, Owner, V2_PROTOBUF, gvk,
    names::Names,
    parts::{Parts, Piece, Section},
    plan::{self, MoreKinds, Plan},
    proto, refs,
};
use crate::{Document, DocumentRef, Documents, ServerName};

/// One server's Swagger document.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Who it is from.
    pub server: &'a ServerName,
    /// Which one it is.
    pub document: &'a DocumentRef,
    /// What the server owns: only such paths are taken.
    pub owner: &'a dyn Owner,
}

/// A document that could not be used.
#[derive(Debug)]
pub struct Skipped {
    /// Who it is from.
    pub server: ServerName,
    /// Why.
    pub error: OpenApiError,
}

/// The merged document.
#[derive(Debug)]
pub struct MergedV2 {
    /// As JSON, with its entity tag.
    pub json: Document,
    /// What is not in it.
    pub skipped: Vec<Skipped>,
}

impl MergedV2 {
    /// As protobuf, with the entity tag of the JSON, as upstream: answers carry `Vary: Accept`.
    ///
    /// # Errors
    /// Only when the document is nested too deeply.
    pub fn protobuf(&self) -> Result<Document, OpenApiError> {
        let body = Bytes::from(proto::encode(&self.json.body)?);
        Ok(Document { body, etag: self.json.etag.clone(), content_type: V2_PROTOBUF })
    }
}

struct Planned<'a> {
    source: Source<'a>,
    plan: Plan,
}

/// Merges the documents, the most important first: `info` and the like are the first one's, and of
/// different definitions with the same name the first keeps it, the later ones become `NAME_v2` and so
/// on. Equal ones are shared. A document that cannot be read is left out and reported.
///
/// Reads each document twice, so that only one is in memory at a time; may block on the disk.
///
/// # Errors
/// When the result is too large, or a document cannot be read again.
pub fn merge_v2(sources: &[Source<'_>], documents: &dyn Documents) -> Result<MergedV2, OpenApiError> {
    let (mut names, mut more) = (Names::default(), MoreKinds::default());
    let (mut planned, mut skipped) = (Vec::with_capacity(sources.len()), Vec::new());
    for source in sources {
        match first_pass(source, documents, &mut names, &mut more) {
            Ok(plan) => planned.push(Planned { source: *source, plan }),
            Err(error) => skipped.push(Skipped { server: source.server.clone(), error }),
        }
    }
    let json = Document::new(write(&planned, documents, &more)?, Document::JSON);
    Ok(MergedV2 { json, skipped })
}

fn first_pass(
    source: &Source<'_>,
    documents: &dyn Documents,
    names: &mut Names,
    more: &mut MoreKinds,
) -> Result<Plan, OpenApiError> {
    let bytes = read(source.document, documents)?;
    let parts = Parts::read(&bytes)?;
    // Every piece is read once here, so that a broken document is left out as a whole.
    parts.rest.iter().try_for_each(|piece| refs::collect(piece.text).map(|_| ()))?;
    plan::plan(&parts, source.owner, names, more)
}

fn read(document: &DocumentRef, documents: &dyn Documents) -> Result<Bytes, OpenApiError> {
    documents.get(document).map_err(|source| OpenApiError::Read { hash: document.hash.to_string(), source })
}

/// Paths go straight into the result; components are gathered beside it, because they come after all
/// paths.
fn write(
    planned: &[Planned<'_>],
    documents: &dyn Documents,
    more: &MoreKinds,
) -> Result<Vec<u8>, OpenApiError> {
    let mut object = Object::new(planned.iter().map(|one| one.source.document.len).sum());
    let mut sections = Section::ALL.map(|_| Object::new(0));
    if planned.is_empty() {
        object.entry("swagger", "\"2.0\"")?;
        object.entry("info", NOBODY)?;
        object.open("paths")?;
    }
    for (number, one) in planned.iter().enumerate() {
        let bytes = read(one.source.document, documents)?;
        let parts = Parts::read(&bytes)?;
        if number == 0 {
            parts.rest.iter().try_for_each(|piece| object.entry(&piece.name, piece.text.get()))?;
            object.open("paths")?;
        }
        for path in plan::owned_paths(&parts, one.source.owner) {
            object.entry(&path.name, &renamed(path, one)?)?;
        }
        components(&parts, one, more, &mut sections)?;
    }
    object.close();
    for (section, entries) in Section::ALL.into_iter().zip(sections) {
        if section == Section::Definitions || !entries.first {
            object.entry(section.key(), std::str::from_utf8(&entries.finish())?)?;
        }
    }
    Ok(object.finish())
}

/// `info` when no server has a document.
const NOBODY: &str = r#"{"title":"Kubernetes","version":"unversioned"}"#;

/// Writes the components that are to be taken from one document, each into its section.
fn components(
    parts: &Parts<'_>,
    one: &Planned<'_>,
    more: &MoreKinds,
    sections: &mut [Object; 3],
) -> Result<(), OpenApiError> {
    for (number, (section, piece)) in parts.components.iter().enumerate() {
        let Some(emitted) = one.plan.emitted.get(&number) else { continue };
        let name = format!("{}{}", piece.name, emitted.suffix);
        let added = more.get(&name).filter(|_| *section == Section::Definitions);
        let text = if emitted.kinds.is_none() && added.is_none() {
            renamed(piece, one)?
        } else {
            Cow::Owned(changed(piece, one, |value| {
                let mut kinds = emitted.kinds.clone().unwrap_or_else(|| gvk::read(value));
                kinds.extend(added.cloned().unwrap_or_default());
                if let Value::Object(fields) = value {
                    gvk::write(fields, kinds);
                }
            })?)
        };
        sections[*section as usize].entry(&name, &text)?;
    }
    Ok(())
}

/// The piece as it stands when its server's names are kept, else with new references.
fn renamed<'a>(piece: &Piece<'a>, one: &Planned<'_>) -> Result<Cow<'a, str>, OpenApiError> {
    if one.plan.renames.is_empty() {
        return Ok(piece.text.get().into());
    }
    changed(piece, one, |_| {}).map(Cow::Owned)
}

fn changed(
    piece: &Piece<'_>,
    one: &Planned<'_>,
    change: impl FnOnce(&mut Value),
) -> Result<String, OpenApiError> {
    let mut value: Value = serde_json::from_str(piece.text.get())?;
    refs::rename(&mut value, &one.plan.renames);
    change(&mut value);
    Ok(serde_json::to_string(&value)?)
}

/// A JSON object that is written piece by piece.
pub(super) struct Object {
    text: Vec<u8>,
    first: bool,
}

impl Object {
    pub(super) fn new(estimate: u64) -> Self {
        let capacity = usize::try_from(estimate).unwrap_or(MAX_MERGED_BYTES).min(MAX_MERGED_BYTES);
        let mut text = Vec::with_capacity(capacity);
        text.push(b'{');
        Self { text, first: true }
    }

    fn key(&mut self, key: &str) -> Result<(), OpenApiError> {
        if !std::mem::replace(&mut self.first, false) {
            self.text.push(b',');
        }
        serde_json::to_writer(&mut self.text, key)?;
        self.text.push(b':');
        Ok(())
    }

    pub(super) fn entry(&mut self, key: &str, value: &str) -> Result<(), OpenApiError> {
        if self.text.len() + value.len() > MAX_MERGED_BYTES {
            return Err(OpenApiError::TooLarge);
        }
        self.key(key)?;
        self.text.extend_from_slice(value.as_bytes());
        Ok(())
    }

    pub(super) fn open(&mut self, key: &str) -> Result<(), OpenApiError> {
        self.key(key)?;
        self.text.push(b'{');
        self.first = true;
        Ok(())
    }

    pub(super) fn close(&mut self) {
        self.text.push(b'}');
        self.first = false;
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.text.push(b'}');
        self.text
    }
}
