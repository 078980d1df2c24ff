//! Audit log at level Metadata: one JSON line for each request, in the form of `audit.k8s.io/v1`.
//!
//! A request hands its record over when it ends; a thread of its own writes. When the queue is full the
//! event is dropped and counted: the log never holds up a request. Off, it costs one comparison.

mod event;
mod writer;

use std::{
    io,
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    time::SystemTime,
};

use catalog::ServerName;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header, request::Parts};

use crate::{
    identity::Identity,
    metrics::{AuditCounters, Metrics},
};
use writer::Message;

/// Events that may wait to be written; each takes about 1 kB.
const QUEUE: usize = 4096;
/// Proxies in `X-Forwarded-For` that are written down.
const MAX_SOURCES: usize = 16;

/// Where audit lines go; off unless configured. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Audit(Option<Arc<Sink>>);

#[derive(Debug)]
struct Sink {
    queue: SyncSender<Message>,
    counters: Arc<AuditCounters>,
}

impl Audit {
    /// No audit log.
    pub fn off() -> Self {
        Self::default()
    }

    /// Appends to the file at `path`, which is made when it is not there (mode 0600).
    ///
    /// # Errors
    /// When the file cannot be opened, or the thread that writes cannot be started.
    pub fn to_file(path: &Path, metrics: &Metrics) -> io::Result<Self> {
        let (queue, messages) = sync_channel(QUEUE);
        let counters = metrics.audit();
        writer::start(path.to_owned(), messages, counters.clone())?;
        Ok(Self(Some(Arc::new(Sink { queue, counters }))))
    }

    /// Opens the file anew, for whoever has moved it away. A file that was renamed or removed is also
    /// noticed within a second.
    pub fn reopen(&self) {
        self.tell(Message::Reopen);
    }

    /// Waits until everything that has ended before is written. Blocks: not for the async threads.
    pub fn flush(&self) {
        let (tell, done) = sync_channel(1);
        if let Some(sink) = &self.0
            && sink.queue.send(Message::Flush(tell)).is_ok()
        {
            let _ = done.recv();
        }
    }

    fn tell(&self, message: Message) {
        if let Some(sink) = &self.0 {
            sink.send(message);
        }
    }

    /// The record of one request when auditing is on: before its head is sent on. Without `caller` it is
    /// one that was refused because nobody knows who sent it.
    pub(crate) fn begin(
        &self,
        parts: &Parts,
        peer: SocketAddr,
        caller: Option<&Arc<Identity>>,
        id: &HeaderValue,
    ) -> Option<Box<AuditRecord>> {
        let sink = self.0.as_ref()?;
        let event = Event {
            id: id.clone(),
            method: parts.method.clone(),
            uri: parts.uri.clone(),
            user_agent: parts.headers.get(header::USER_AGENT).cloned(),
            sources: sources(&parts.headers, peer),
            received: SystemTime::now(),
            completed: SystemTime::UNIX_EPOCH,
            user: caller.cloned(),
            impersonated: None,
            code: None,
            server: None,
        };
        Some(Box::new(AuditRecord { sink: sink.clone(), event: Some(Box::new(event)) }))
    }
}

impl Sink {
    fn send(&self, message: Message) {
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = self.queue.try_send(message) {
            self.counters.errors.add(1);
        }
    }
}

/// What a line says, before it is written.
#[derive(Debug)]
struct Event {
    id: HeaderValue,
    method: Method,
    uri: Uri,
    user_agent: Option<HeaderValue>,
    sources: Vec<String>,
    received: SystemTime,
    completed: SystemTime,
    /// None: nobody knows.
    user: Option<Arc<Identity>>,
    impersonated: Option<Arc<Identity>>,
    /// None: the client left before there was an answer.
    code: Option<StatusCode>,
    server: Option<ServerName>,
}

/// One request's line, written when dropped.
#[derive(Debug)]
pub(crate) struct AuditRecord {
    sink: Arc<Sink>,
    event: Option<Box<Event>>,
}

impl AuditRecord {
    /// The head of the answer is known, and which backend gave it (none: the door).
    pub(crate) fn answered(&mut self, code: StatusCode, server: Option<&ServerName>) {
        if let Some(event) = &mut self.event {
            event.code = Some(code);
            event.server = server.cloned();
        }
    }

    /// Whom the request acts as, when it impersonates.
    pub(crate) fn impersonates(&mut self, identity: &Arc<Identity>) {
        if let Some(event) = &mut self.event {
            event.impersonated = Some(identity.clone());
        }
    }
}

impl Drop for AuditRecord {
    fn drop(&mut self) {
        if let Some(mut event) = self.event.take() {
            event.completed = SystemTime::now();
            self.sink.send(Message::Event(event));
        }
    }
}

/// The client's address as proxies tell it, then the one that the connection comes from.
fn sources(headers: &HeaderMap, peer: SocketAddr) -> Vec<String> {
    let forwarded = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let forwarded = forwarded.flat_map(|value| value.split(',')).map(str::trim);
    let peer = peer.ip().to_canonical();
    let mut sources: Vec<String> = forwarded
        .filter_map(|address| address.parse::<std::net::IpAddr>().ok())
        .take(MAX_SOURCES)
        .map(|address| address.to_string())
        .collect();
    sources.push(peer.to_string());
    sources.dedup();
    sources
}

#[cfg(test)]
mod tests;
