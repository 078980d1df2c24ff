//! An event in the form of `audit.k8s.io/v1`.

use std::{
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use kube_wire::{RequestInfo, identity::UserInfo};
use serde::Serialize;
use time::OffsetDateTime;

use super::Event;

/// The annotation that names the registration which answered.
const SERVER: &str = "federation.trellis.dev/server";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    kind: &'static str,
    api_version: &'static str,
    level: &'static str,
    #[serde(rename = "auditID")]
    audit_id: String,
    stage: &'static str,
    #[serde(rename = "requestURI")]
    request_uri: String,
    verb: &'a str,
    user: User<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    impersonated_user: Option<&'a UserInfo>,
    #[serde(rename = "sourceIPs")]
    source_ips: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_ref: Option<ObjectRef<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_status: Option<ResponseStatus>,
    request_received_timestamp: String,
    stage_timestamp: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<&'static str, &'a str>,
}

/// As upstream, an object without fields when nobody knows who it is.
#[derive(Serialize)]
#[serde(untagged)]
enum User<'a> {
    Known(&'a UserInfo),
    Unknown {},
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectRef<'a> {
    resource: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    api_group: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    api_version: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    subresource: &'a str,
}

#[derive(Serialize)]
struct ResponseStatus {
    metadata: Empty,
    code: u16,
}

#[derive(Serialize)]
struct Empty {}

/// One line, with its line feed.
pub(super) fn line(event: &Event) -> Vec<u8> {
    let (path, query) = (event.uri.path(), event.uri.query().unwrap_or_default());
    let info = RequestInfo::parse(event.method.as_str(), path, query).unwrap_or_default();
    let object_ref = info.is_resource.then(|| ObjectRef {
        resource: &info.resource,
        namespace: &info.namespace,
        name: &info.name,
        api_group: &info.group,
        api_version: &info.version,
        subresource: &info.subresource,
    });
    let line = Line {
        kind: "Event",
        api_version: "audit.k8s.io/v1",
        level: "Metadata",
        audit_id: text(event.id.as_bytes()),
        stage: "ResponseComplete",
        request_uri: event.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        verb: &info.verb,
        user: event.user.as_ref().map_or(User::Unknown {}, |identity| User::Known(&identity.user)),
        impersonated_user: event.impersonated.as_ref().map(|identity| &identity.user),
        source_ips: &event.sources,
        user_agent: event.user_agent.as_ref().map(|value| text(value.as_bytes())),
        object_ref,
        response_status: event.code.map(|code| ResponseStatus { metadata: Empty {}, code: code.as_u16() }),
        request_received_timestamp: timestamp(event.received),
        stage_timestamp: timestamp(event.completed),
        annotations: event.server.iter().map(|server| (SERVER, server.as_str())).collect(),
    };
    let mut line = serde_json::to_vec(&line).unwrap_or_default();
    line.push(b'\n');
    line
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// RFC 3339 with microseconds, as `metav1.MicroTime`.
fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    let at = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
        at.year(),
        u8::from(at.month()),
        at.day(),
        at.hour(),
        at.minute(),
        at.second(),
        since.subsec_micros()
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn timestamps_have_microseconds() {
        assert_eq!(timestamp(UNIX_EPOCH), "1970-01-01T00:00:00.000000Z");
        let later = UNIX_EPOCH + Duration::new(1_782_864_000, 1_234_567);
        assert_eq!(timestamp(later), "2026-07-01T00:00:00.001234Z");
    }
}
