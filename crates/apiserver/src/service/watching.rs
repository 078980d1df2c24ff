//! `watch`: lines of JSON as long as client and server like.

use std::{collections::VecDeque, convert::Infallible, sync::Arc, time::Duration};

use bytes::{BufMut as _, Bytes, BytesMut};
use futures_util::stream;
use http::{HeaderValue, Response, header};
use http_body::Frame;
use http_body_util::StreamBody;
use kube_wire::{Encoding, Status};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{Asked, Service, body::boxed, metrics::Running, respond::Outcome};
use crate::{
    answer::{Served, Shape, Wish},
    engine::{SharedEvent, Starting, Verb, Watcher},
    options::ListOptions,
    storage::{Entry, Revision},
};

/// Bytes of lines that are sent at once, about.
const BATCH_BYTES: usize = 32 * 1024;

impl Service {
    pub(super) async fn watch(&self, asked: &Asked<'_>) -> Outcome {
        let wish = Wish::negotiate_watch(&asked.head.headers, asked.query)?;
        // The name in the URL of a watch on one object.
        let name = if asked.query.contains("fieldSelector") { "" } else { &*asked.info.name };
        let options = ListOptions::read(asked.query, true, asked.definition(), name)?;
        let place = self.metrics.enter_watch().ok_or_else(Status::too_many_in_flight)?;
        let limits = &self.parts.limits;
        let lasts = options.timeout.filter(|time| !time.is_zero()).unwrap_or_else(|| {
            // Spread over time, so that watches that began together do not end together.
            limits.min_watch.mul_f64(1.0 + f64::from(uuid::Uuid::new_v4().as_bytes()[0]) / 256.0)
        });
        let began = match self.engine.watch(&asked.call(""), &options).await {
            Ok(starting) => Ok(starting),
            // As upstream: what is understood and cannot be done is said in the stream.
            Err(status) if matches!(status.code, 410 | 504) => Err(status),
            Err(status) => return Err(status),
        };
        let deadline = Instant::now() + lasts;
        let mut lines = Lines {
            served: Arc::clone(asked.served),
            shape: wish.shape,
            first: true,
            initial: VecDeque::new(),
            initial_end: None,
            watcher: None,
            last_words: None,
            bookmarks: options.bookmarks.then_some(limits.bookmark_interval),
            next_bookmark: Instant::now() + limits.bookmark_interval,
            deadline,
            stopping: self.stopping.subscribe(),
            _place: place,
        };
        match began {
            Ok(Starting { initial, initial_end, watcher }) => {
                lines.initial = initial.into();
                lines.initial_end = initial_end;
                lines.watcher = Some(watcher);
            }
            Err(status) => lines.last_words = Some(status),
        }
        let lines = stream::unfold(lines, |mut lines| async {
            let next = lines.next().await?;
            Some((Ok::<_, Infallible>(Frame::data(next)), lines))
        });
        let mut response = Response::new(boxed(StreamBody::new(lines)));
        let kind = HeaderValue::from_static(Encoding::Json.content_type());
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        Ok(response)
    }
}

/// What a watch still has to say.
struct Lines {
    served: Arc<Served>,
    shape: Shape,
    /// Nothing was sent: a table still has to name its columns.
    first: bool,
    initial: VecDeque<Entry>,
    initial_end: Option<Revision>,
    /// None when it is over.
    watcher: Option<Watcher>,
    /// Why it cannot go on.
    last_words: Option<Status>,
    /// How often the client is told how far it is.
    bookmarks: Option<Duration>,
    next_bookmark: Instant,
    deadline: Instant,
    stopping: watch::Receiver<bool>,
    _place: Running,
}

/// What happened first.
enum Next {
    Event(Verb, Arc<SharedEvent>),
    Failure(Status),
    Bookmark,
    End,
}

impl Lines {
    /// The next lines; none at the end.
    async fn next(&mut self) -> Option<Bytes> {
        let mut out = BytesMut::new();
        while out.len() < BATCH_BYTES {
            let Some(entry) = self.initial.pop_front() else { break };
            let line = self.served.initial(&entry.item, self.shape, self.first);
            self.put(line, &mut out);
        }
        if !out.is_empty() && !self.initial.is_empty() {
            return Some(out.freeze());
        }
        if let Some(revision) = self.initial_end.take() {
            out.put_slice(&self.served.bookmark(revision, true, self.shape, self.first));
            self.first = false;
        }
        if !out.is_empty() {
            return Some(out.freeze());
        }
        if let Some(status) = self.last_words.take() {
            self.watcher = None;
            return Some(error_line(&status));
        }
        match self.wait().await {
            Next::Event(verb, event) => {
                self.put_event(verb, &event, &mut out);
                while out.len() < BATCH_BYTES {
                    let Some((verb, event)) = self.watcher.as_mut().and_then(Watcher::ready) else { break };
                    self.put_event(verb, &event, &mut out);
                }
                Some(out.freeze())
            }
            Next::Failure(status) => {
                self.watcher = None;
                Some(error_line(&status))
            }
            Next::Bookmark => {
                let revision = self.watcher.as_ref().and_then(Watcher::position).unwrap_or_default();
                let line = self.served.bookmark(revision, false, self.shape, self.first);
                self.first = false;
                Some(line)
            }
            Next::End => None,
        }
    }

    async fn wait(&mut self) -> Next {
        let Some(watcher) = &mut self.watcher else { return Next::End };
        let bookmark_due = self.next_bookmark;
        loop {
            let wants_bookmark = self.bookmarks.is_some();
            tokio::select! {
                biased;
                _ = self.stopping.wait_for(|stopping| *stopping) => return Next::End,
                () = sleep_until(self.deadline) => return Next::End,
                next = watcher.next() => return match next {
                    Ok((verb, event)) => Next::Event(verb, event),
                    Err(status) => Next::Failure(status),
                },
                () = sleep_until(bookmark_due), if wants_bookmark => {
                    self.next_bookmark = Instant::now() + self.bookmarks.unwrap_or_default();
                    if watcher.position().is_some() {
                        return Next::Bookmark;
                    }
                }
            }
        }
    }

    /// Events in a form that does not change are encoded once for all watchers.
    fn put_event(&mut self, verb: Verb, event: &SharedEvent, out: &mut BytesMut) {
        let encode = || self.served.event(verb, &event.event, self.shape, self.first);
        let line = match self.served.form_id(self.shape) {
            Some(form) => event.encoded(verb, form, encode),
            None => encode(),
        };
        self.put(line, out);
    }

    fn put(&mut self, line: Result<Bytes, Status>, out: &mut BytesMut) {
        match line {
            Ok(line) => {
                out.put_slice(&line);
                self.first = false;
            }
            // Not to be left out: the client would never know.
            Err(status) => self.last_words = Some(status),
        }
    }
}

fn error_line(status: &Status) -> Bytes {
    let mut out = BytesMut::new();
    out.put_slice(br#"{"type":"ERROR","object":"#);
    out.put_slice(status.encode(Encoding::Json).trim_ascii_end());
    out.put_slice(b"}\n");
    out.freeze()
}
