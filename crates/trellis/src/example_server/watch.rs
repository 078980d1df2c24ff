//! `watch`: events as they happen, one JSON object a line.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use catalog::{Body, BodyError};
use http::{HeaderValue, Response, header};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use kube_wire::{Encoding, Status, query};
use serde_json::json;
use tokio::{
    sync::watch::Receiver,
    time::{Instant, sleep_until},
};

use super::{
    answer::{Shape, encode},
    note::{API_VERSION, KIND},
    request::Call,
    select::Selection,
    store::{Event, Store, Stored},
};

/// A watch without `timeoutSeconds` ends after this, and up to twice this, as upstream's.
const SHORTEST: Duration = Duration::from_secs(1800);
/// How often a bookmark says how far a quiet watch has come.
const BOOKMARK: Duration = Duration::from_secs(60);

/// The stream of events that the request asks for.
pub(super) fn watch(call: &Call<'_>) -> Result<Response<Body>, Status> {
    let selection = Selection::of(call.info)?;
    let news = call.store.subscribe();
    let mut watcher = Watcher {
        store: call.store.clone(),
        news,
        namespace: call.namespace().map(str::to_owned),
        selection,
        shape: call.shape()?,
        columns: true,
        position: 0,
        bookmarks: query::flag(call.query, "allowWatchBookmarks"),
        next_bookmark: Instant::now() + BOOKMARK,
        end: Instant::now() + lifetime(call)?,
        ready: VecDeque::new(),
        over: false,
    };
    watcher.begin(call)?;
    let stream = futures_util::stream::unfold(watcher, |mut watcher| async move {
        watcher.next().await.map(|line| (Ok::<_, BodyError>(Frame::data(line)), watcher))
    });
    let mut response = Response::new(StreamBody::new(stream).boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    Ok(response)
}

fn lifetime(call: &Call<'_>) -> Result<Duration, Status> {
    match call.parameter("timeoutSeconds").map(|text| text.parse::<u32>()) {
        Some(Ok(seconds)) if seconds > 0 => Ok(Duration::from_secs(seconds.into())),
        None | Some(Ok(_)) => {
            // Spread, so that watches that began together do not all come back together.
            let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos();
            Ok(SHORTEST + SHORTEST.mul_f64(f64::from(nanos) / 1e9))
        }
        Some(Err(error)) => Err(Status::bad_request(format!("timeoutSeconds: {error}"))),
    }
}

struct Watcher {
    store: Arc<Store>,
    news: Receiver<u64>,
    namespace: Option<String>,
    selection: Selection,
    shape: Shape,
    /// Whether the next table names its columns.
    columns: bool,
    /// Everything up to this revision has been told.
    position: u64,
    bookmarks: bool,
    next_bookmark: Instant,
    end: Instant,
    ready: VecDeque<Bytes>,
    over: bool,
}

impl Watcher {
    /// Where the watch begins: with what is there, or after a revision.
    fn begin(&mut self, call: &Call<'_>) -> Result<(), Status> {
        let initial = query::flag(call.query, "sendInitialEvents");
        if initial && call.parameter("resourceVersionMatch").as_deref() != Some("NotOlderThan") {
            return Err(Status::bad_request(
                "resourceVersionMatch must be set to \"NotOlderThan\" when sendInitialEvents is set",
            ));
        }
        let asked = match call.parameter("resourceVersion") {
            None => 0,
            Some(text) => {
                text.parse().map_err(|_| Status::bad_request(format!("invalid resource version {text:?}")))?
            }
        };
        let skip_initial = call.parameter("sendInitialEvents").is_some() && !initial;
        if (initial || asked == 0) && !skip_initial {
            let (revision, notes) = self.store.list(self.namespace.as_deref());
            for note in notes {
                if self.selection.takes(&note.value) {
                    self.tell("ADDED", &note);
                }
            }
            self.position = revision;
            if initial && self.bookmarks {
                self.bookmark(true);
            }
        } else {
            self.position = if asked == 0 { self.store.list(None).0 } else { asked };
        }
        Ok(())
    }

    /// The next line; none at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(line);
            }
            if self.over {
                return None;
            }
            // Seen before reading, so that what comes in between wakes the wait.
            self.news.borrow_and_update();
            match self.store.events_after(self.position) {
                Ok((revision, events)) => {
                    events.iter().for_each(|event| self.event(event));
                    self.position = self.position.max(revision);
                }
                Err(expired) => self.expire(expired.oldest),
            }
            if self.ready.is_empty() && !self.over {
                self.wait().await;
            }
        }
    }

    async fn wait(&mut self) {
        let wake = if self.bookmarks { self.next_bookmark.min(self.end) } else { self.end };
        tokio::select! {
            changed = self.news.changed() => self.over = changed.is_err(),
            () = sleep_until(wake) => {
                if self.bookmarks {
                    self.bookmark(false);
                }
                self.over = Instant::now() >= self.end;
            }
        }
    }

    fn event(&mut self, event: &Event) {
        let takes = |note: &Option<Arc<Stored>>| {
            note.as_ref().is_some_and(|note| {
                let here =
                    self.namespace.as_deref().is_none_or(|own| note.value["metadata"]["namespace"] == own);
                here && self.selection.takes(&note.value)
            })
        };
        match (takes(&event.before), takes(&event.after), &event.before, &event.after) {
            (false, true, _, Some(note)) => self.tell("ADDED", note),
            (true, true, _, Some(note)) => self.tell("MODIFIED", note),
            (true, false, Some(note), _) => {
                // It leaves the watch at this revision, not at that of its last change.
                let mut value = note.value.clone();
                value["metadata"]["resourceVersion"] = json!(event.revision.to_string());
                let json = encode(&value);
                self.tell("DELETED", &Stored { revision: event.revision, value, json });
            }
            _ => {}
        }
    }

    fn tell(&mut self, kind: &str, note: &Stored) {
        let object = self.shape.one(note, self.columns);
        self.columns = false;
        self.push(kind, &object);
    }

    fn bookmark(&mut self, initial_events_end: bool) {
        let mut metadata = json!({"resourceVersion": self.position.to_string(), "creationTimestamp": null});
        if initial_events_end {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let value =
            json!({"kind": KIND, "apiVersion": API_VERSION, "metadata": metadata, "spec": {"text": ""}});
        let json = encode(&value);
        self.tell("BOOKMARK", &Stored { revision: self.position, value, json });
        self.next_bookmark = Instant::now() + BOOKMARK;
    }

    fn expire(&mut self, oldest: u64) {
        let status = Status::expired(format!("too old resource version: {} ({oldest})", self.position));
        self.push("ERROR", &kube_wire::status::encode(&status, Encoding::Json));
        self.over = true;
    }

    fn push(&mut self, kind: &str, object: &[u8]) {
        let mut line = format!(r#"{{"type":"{kind}","object":"#).into_bytes();
        line.extend_from_slice(object.trim_ascii_end());
        line.extend_from_slice(b"}\n");
        self.ready.push_back(line.into());
    }
}
