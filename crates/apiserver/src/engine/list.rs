//! Lists: of one moment, in pages.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kube_wire::Status;
use serde::{Deserialize, Serialize};

use super::{Call, Engine, Selection, storage_failure};
use crate::{
    decode::in_go_words,
    options::{ListOptions, VersionMatch, too_large_version},
    storage::{self, Entry, Error, Key, Prefix, Read, Revision},
};

/// Objects that are looked at in one go when a selector leaves some out.
const CHUNK: usize = 500;

const LIST_EXPIRED: &str = "The resourceVersion for the provided list is too old.";
const CONTINUE_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.";

/// A list, as it lies in the store.
#[derive(Debug, Default)]
pub struct Listed {
    /// The objects, in the order of their keys.
    pub entries: Vec<Entry>,
    /// The moment.
    pub revision: Revision,
    /// The token of the next page; empty: there is none.
    pub continue_token: String,
    /// How many follow; none when a selector makes that unknown.
    pub remaining: Option<usize>,
}

/// Where a list goes on. Clients hand it back as they got it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    v: String,
    /// The moment.
    rv: u64,
    /// The last object of the page before, as `namespace/name`, or the name alone.
    start: String,
}

impl Token {
    const VERSION: &str = "trellis/v1";

    fn after(key: &Key, revision: Revision) -> Self {
        let start = match key.namespace() {
            Some(namespace) => format!("{namespace}/{}", key.name()),
            None => key.name().to_owned(),
        };
        Self { v: Self::VERSION.to_owned(), rv: revision.0, start }
    }

    /// As text.
    pub fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    /// Reads a token.
    ///
    /// # Errors
    /// 400 when it is none.
    pub fn decode(text: &str) -> Result<Self, Status> {
        let invalid = |why: &str| {
            Status::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
        };
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|error| invalid(&error.to_string()))?;
        let token: Self =
            serde_json::from_slice(&bytes).map_err(|error| invalid(&in_go_words(&bytes, &error)))?;
        match &*token.v {
            Self::VERSION => Ok(token),
            other => Err(invalid(&format!("server does not recognize this encoded version {other}"))),
        }
    }

    fn key(&self, resource: &str) -> Result<Key, Status> {
        let (namespace, name) = match self.start.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, &*self.start),
        };
        Key::new(resource, namespace, name).map_err(|error| {
            Status::bad_request(format!("invalid continue token: continue key is not valid: {error}"))
        })
    }
}

impl Engine {
    /// The objects of a collection.
    ///
    /// # Errors
    /// 400, 410 and 504 in upstream's words.
    pub async fn list(&self, call: &Call<'_>, options: &ListOptions) -> Result<Listed, Status> {
        let selection = Selection::new(options.labels.clone(), options.fields.clone());
        let Some(prefix) = call.prefix() else {
            return Ok(Listed { revision: self.revision().await?, ..Listed::default() });
        };
        let start = self.start_of_list(call, options).await?;
        if let Some(listed) = self.list_one(call, &selection, &start).await? {
            return Ok(listed);
        }
        let (mut listed, mut after, mut at) = (Listed::default(), start.after.clone(), start.at);
        loop {
            let page = self.page(&prefix, options.limit, &selection, at, after.take()).await;
            let page = page.map_err(|error| start.failure(&error))?;
            listed.revision = page.revision;
            at = Some(page.revision);
            let (last, remaining) = (page.content.entries.last().cloned(), page.content.remaining);
            let wanted = options.limit.unwrap_or(usize::MAX);
            for (place, entry) in page.content.entries.iter().enumerate() {
                if !selection.takes(&entry.key, &entry.item.value) {
                    continue;
                }
                listed.entries.push(entry.clone());
                if listed.entries.len() == wanted {
                    let behind = page.content.entries.len() - place - 1 + remaining;
                    listed.end_at(entry, behind, selection.is_empty());
                    return Ok(listed);
                }
            }
            match last {
                Some(last) if remaining > 0 => after = Some(last.key),
                _ => return Ok(listed),
            }
        }
    }

    async fn page(
        &self,
        prefix: &Prefix,
        limit: Option<usize>,
        selection: &Selection,
        at: Option<Revision>,
        after: Option<Key>,
    ) -> Result<Read<storage::Page>, Error> {
        let limit = match (limit, selection.is_empty()) {
            (Some(limit), false) => Some(limit.max(CHUNK)),
            (limit, _) => limit,
        };
        self.store.list(prefix, storage::ListOptions { at, after, limit }).await
    }

    /// A list of one object whose name is known.
    async fn list_one(
        &self,
        call: &Call<'_>,
        selection: &Selection,
        start: &Start,
    ) -> Result<Option<Listed>, Status> {
        let Some(name) = selection.name() else { return Ok(None) };
        if start.at.is_some()
            || start.after.is_some()
            || (call.definition.namespaced() && call.namespace.is_empty())
        {
            return Ok(None);
        }
        let Some(key) = (Call { name, ..*call }).key() else { return Ok(None) };
        let read = self.store.get(&key).await.map_err(|error| storage_failure(&error))?;
        let found = read.content.filter(|item| selection.takes(&key, &item.value));
        let entries = found.into_iter().map(|item| Entry { key: key.clone(), item }).collect();
        Ok(Some(Listed { entries, revision: read.revision, ..Listed::default() }))
    }

    async fn start_of_list(&self, call: &Call<'_>, options: &ListOptions) -> Result<Start, Status> {
        if let Some(token) = &options.continue_token {
            let token = Token::decode(token)?;
            if options.resource_version.as_deref().is_some_and(|version| version != "0") {
                return Err(Status::bad_request(
                    "specifying resource version is not allowed when using continue",
                ));
            }
            let after = token.key(&call.definition.qualified_name())?;
            return Ok(Start { at: Some(Revision(token.rv)), after: Some(after) });
        }
        let version = options
            .version()
            .map_err(|sentence| Status::bad_request(format!("invalid resource version: {sentence}")))?;
        if version == 0 {
            return Ok(Start::default());
        }
        let exact = match options.version_match {
            Some(matched) => matched == VersionMatch::Exact,
            None => options.limit.is_some(),
        };
        let current = self.revision().await?;
        if version > current.0 {
            return Err(too_large_version(version, current.0));
        }
        Ok(Start { at: exact.then_some(Revision(version)), after: None })
    }
}

/// Where a list begins.
#[derive(Default)]
struct Start {
    /// In time; none: now.
    at: Option<Revision>,
    /// Behind this object.
    after: Option<Key>,
}

impl Start {
    fn failure(&self, error: &Error) -> Status {
        match error {
            Error::Compacted { .. } if self.after.is_some() => Status::expired(CONTINUE_EXPIRED),
            Error::Compacted { .. } => Status::expired(LIST_EXPIRED),
            Error::Ahead { requested, current } => too_large_version(requested.0, current.0),
            other => storage_failure(other),
        }
    }
}

impl Listed {
    /// The page is full.
    fn end_at(&mut self, last: &Entry, behind: usize, known: bool) {
        if behind > 0 {
            self.continue_token = Token::after(&last.key, self.revision).encode();
            self.remaining = known.then_some(behind);
        }
    }
}
