//! watch: the changes of one kind as they happen.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use catalog::{Body, BodyError};
use futures_util::stream;
use http::StatusCode;
use http_body_util::StreamBody;
use hyper::body::Frame;
use kube_wire::{Status, accept, object::ListMeta};
use serde_json::{Value, json};
use tokio::{sync::watch, time::Instant};

use super::{
    Answered, Call, RegistrationApi, answer,
    options::Options,
    read::{Shape, metadata, selected, shape, table},
};
use crate::{
    object::{Resource, text},
    store::{ChangeKind, Expired, Store},
};

/// How long a watch lasts when nobody says.
const LASTS: Duration = Duration::from_secs(1800);
/// Between two bookmarks.
const BOOKMARK: Duration = Duration::from_secs(60);
/// Annotation of the bookmark that ends the initial events.
const INITIAL_END: &str = "k8s.io/initial-events-end";

impl RegistrationApi {
    pub(super) fn watch(&self, call: &Call<'_>) -> Answered {
        let shape = shape(call)?;
        let options = &call.options;
        let from_now = matches!(&*options.resource_version, "" | "0");
        let initial = options.send_initial_events.unwrap_or(from_now);
        let mut changed = self.store.subscribe();
        changed.borrow_and_update();
        let (objects, now) = self.store.list(call.resource);
        let version = if initial || from_now {
            now
        } else {
            let asked = options.resource_version.parse().map_err(|_| {
                Status::bad_request(format!(
                    "Invalid value: {:?}: not a resource version",
                    options.resource_version
                ))
            })?;
            self.store.changes_after(asked).map_err(expired)?;
            asked
        };
        let mut watcher = Watcher {
            store: Arc::clone(&self.store),
            changed,
            version,
            resource: call.resource,
            shape,
            call: Selection::of(call),
            columns_sent: false,
            ends: Instant::now() + options.timeout.unwrap_or(LASTS),
            next_bookmark: options.bookmarks.then(|| Instant::now() + BOOKMARK),
            first: None,
            over: false,
        };
        watcher.first = Some(watcher.beginning(initial, &objects, options));
        let frames = stream::unfold(watcher, |mut watcher| async move {
            let bytes = watcher.next().await?;
            Some((Ok::<_, BodyError>(Frame::data(bytes)), watcher))
        });
        let mut response = answer::with_type(StatusCode::OK, accept::JSON, Bytes::new());
        *response.body_mut() = Body::new(StreamBody::new(frames));
        Ok(response)
    }
}

/// What of a request a watch needs when the request is gone.
struct Selection {
    parts: http::request::Parts,
    options: Options,
    resource: Resource,
}

impl Selection {
    fn of(call: &Call<'_>) -> Self {
        Self { parts: call.parts.clone(), options: call.options.clone(), resource: call.resource }
    }

    fn call(&self) -> Call<'_> {
        Call {
            parts: &self.parts,
            info: kube_wire::RequestInfo::default(),
            resource: self.resource,
            options: self.options.clone(),
        }
    }
}

struct Watcher {
    store: Arc<Store>,
    changed: watch::Receiver<u64>,
    version: u64,
    resource: Resource,
    shape: Shape,
    call: Selection,
    columns_sent: bool,
    ends: Instant,
    next_bookmark: Option<Instant>,
    first: Option<Bytes>,
    over: bool,
}

impl Watcher {
    /// The objects as they are, when they are wanted, and the end of them.
    fn beginning(&mut self, initial: bool, objects: &[Arc<Value>], options: &Options) -> Bytes {
        let mut lines = Vec::new();
        if initial {
            for object in objects {
                if selected(&self.call.call(), object) {
                    self.write(&mut lines, "ADDED", object);
                }
            }
        }
        if options.send_initial_events == Some(true) && options.bookmarks {
            let annotations = json!({ INITIAL_END: "true" });
            self.write_bookmark(&mut lines, Some(annotations));
        }
        lines.into()
    }

    /// The next events, together; none when the watch is over.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take().filter(|first| !first.is_empty()) {
            return Some(first);
        }
        while !self.over {
            let mut lines = Vec::new();
            match self.store.changes_after(self.version) {
                Ok(changes) => {
                    for change in changes {
                        self.version = change.version;
                        if change.resource != self.resource {
                            continue;
                        }
                        let kind = match (selected(&self.call.call(), &change.object), change.kind) {
                            (true, kind) => kind,
                            // A name never changes, but other labels may have been selected before.
                            (false, ChangeKind::Modified) if self.call.options.fields.is_empty() => {
                                ChangeKind::Deleted
                            }
                            (false, _) => continue,
                        };
                        self.write(&mut lines, kind.as_str(), &change.object);
                    }
                }
                Err(gone) => {
                    self.over = true;
                    let status = expired(gone).encode(kube_wire::Encoding::Json);
                    let status: Value = serde_json::from_slice(&status).unwrap_or_default();
                    write_event(&mut lines, "ERROR", &status);
                }
            }
            if !lines.is_empty() {
                return Some(lines.into());
            }
            let wake = self.next_bookmark.map_or(self.ends, |bookmark| bookmark.min(self.ends));
            tokio::select! {
                changed = self.changed.changed() => self.over |= changed.is_err(),
                () = tokio::time::sleep_until(wake) => {
                    self.over |= Instant::now() >= self.ends;
                    if self.next_bookmark.is_some() {
                        self.next_bookmark = Some(Instant::now() + BOOKMARK);
                        self.write_bookmark(&mut lines, None);
                        return Some(lines.into());
                    }
                }
            }
        }
        None
    }

    fn write(&mut self, lines: &mut Vec<u8>, kind: &str, object: &Arc<Value>) {
        let shown = match self.shape {
            Shape::Object => Value::clone(object),
            Shape::Metadata(version) => metadata(object, version),
            Shape::Table(version) => {
                let meta = ListMeta {
                    resource_version: text(object, "/metadata/resourceVersion")
                        .unwrap_or_default()
                        .to_owned(),
                    ..ListMeta::default()
                };
                let first = !std::mem::replace(&mut self.columns_sent, true);
                table(&self.call.call(), version, meta, std::slice::from_ref(object), first)
            }
        };
        write_event(lines, kind, &shown);
    }

    fn write_bookmark(&self, lines: &mut Vec<u8>, annotations: Option<Value>) {
        let mut object = json!({
            "kind": self.resource.kind(),
            "apiVersion": self.resource.api_version(),
            "metadata": { "resourceVersion": self.version.to_string(), "creationTimestamp": null },
        });
        if let (Some(annotations), Some(metadata)) =
            (annotations, object.get_mut("metadata").and_then(Value::as_object_mut))
        {
            metadata.insert("annotations".to_owned(), annotations);
        }
        let shown = match self.shape {
            Shape::Object => object,
            Shape::Metadata(version) => metadata(&object, version),
            Shape::Table(version) => {
                let meta = ListMeta { resource_version: self.version.to_string(), ..ListMeta::default() };
                table(&self.call.call(), version, meta, &[Arc::new(object)], false)
            }
        };
        write_event(lines, "BOOKMARK", &shown);
    }
}

fn write_event(lines: &mut Vec<u8>, kind: &str, object: &Value) {
    let event = json!({ "type": kind, "object": object });
    lines.extend(serde_json::to_vec(&event).unwrap_or_default());
    lines.push(b'\n');
}

fn expired(Expired { version, oldest }: Expired) -> Status {
    Status::expired(format!("too old resource version: {version} ({oldest})"))
}
