//! One record for each request, in the form of `audit.k8s.io/v1` at level Metadata.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use http::{StatusCode, header, request::Parts};
use kube_wire::{RequestInfo, UserInfo, object::time};
use serde_json::{Value, json};

use super::PeerAddress;

/// Gets the records. It is called where requests are served, so it must not wait.
pub trait AuditSink: Send + Sync {
    /// A request is over: its answer was sent, or its client has left.
    fn record(&self, event: AuditEvent);
}

/// A request that is over.
#[derive(Clone, Debug)]
pub struct AuditEvent {
    event: Value,
    begun: Instant,
    received: SystemTime,
}

impl AuditEvent {
    pub(super) fn new(
        id: String,
        head: &Parts,
        info: &RequestInfo<'_>,
        user: Option<UserInfo>,
        code: StatusCode,
        begun: Instant,
    ) -> Self {
        let peer = head.extensions.get::<PeerAddress>().map(|peer| peer.0.ip().to_string());
        let agent = head.headers.get(header::USER_AGENT).map(|agent| agent.as_bytes());
        let mut event = json!({
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Metadata",
            "auditID": id,
            "stage": "ResponseComplete",
            "requestURI": head.uri.path_and_query().map(ToString::to_string),
            "verb": info.verb,
            "user": user.map(|user| serde_json::to_value(user).unwrap_or_default()).unwrap_or_else(|| json!({})),
            "sourceIPs": peer.into_iter().collect::<Vec<_>>(),
            "userAgent": agent.map(String::from_utf8_lossy),
            "responseStatus": { "metadata": {}, "code": code.as_u16() },
        });
        if info.is_resource {
            event["objectRef"] = json!({
                "resource": info.resource, "namespace": info.namespace, "name": info.name,
                "apiGroup": info.group, "apiVersion": info.version, "subresource": info.subresource,
            });
        }
        let received = SystemTime::now().checked_sub(begun.elapsed()).unwrap_or(UNIX_EPOCH);
        Self { event, begun, received }
    }

    /// With the time at which it was over.
    pub(super) fn complete(mut self) -> Self {
        let over = self.received.checked_add(self.begun.elapsed()).unwrap_or(self.received);
        self.event["requestReceivedTimestamp"] = micro_time(self.received).into();
        self.event["stageTimestamp"] = micro_time(over).into();
        self
    }

    /// The event as JSON on one line, without a line feed.
    pub fn to_line(&self) -> String {
        self.event.to_string()
    }
}

/// RFC 3339 with microseconds.
fn micro_time(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = time::format(i64::try_from(since.as_secs()).unwrap_or_default());
    format!("{}.{:06}Z", seconds.trim_end_matches('Z'), since.subsec_micros())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_have_microseconds() {
        let at = UNIX_EPOCH + Duration::new(1_782_864_000, 1_234_567);
        assert_eq!(micro_time(at), "2026-07-01T00:00:00.001234Z");
    }
}
