//! The door's own requests to a server: as whom, with what bounds.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use catalog::{Cause, Failure, IdentityMode, Role, Server};
use dial::{Answer, Call, Client};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use kube_wire::{UserInfo, identity};

use crate::{config::Polling, glance::Glances};

/// Asks one endpoint of a server.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    pub(crate) client: Arc<Client>,
    glances: Option<Glances>,
    headers: Arc<HeaderMap>,
    polling: Arc<Polling>,
    role: Role,
    identity: IdentityMode,
}

/// What kind of document is asked for: it decides about time and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Discovery,
    OpenApi,
}

/// The core brings many times what a federated server may.
const CORE_FACTOR: usize = 8;

impl Asker {
    pub(crate) fn new(
        client: Arc<Client>,
        glances: Glances,
        headers: Arc<HeaderMap>,
        polling: Arc<Polling>,
        server: &Server,
    ) -> Self {
        Self {
            client,
            glances: Some(glances),
            headers,
            polling,
            role: server.role,
            identity: server.identity,
        }
    }

    /// The same without an identity: under the door's own credentials alone.
    pub(crate) fn as_oneself(&self) -> Self {
        Self { headers: Arc::default(), glances: None, ..self.clone() }
    }

    pub(crate) fn role(&self) -> Role {
        self.role
    }

    pub(crate) fn identity(&self) -> IdentityMode {
        self.identity
    }

    /// Whether the document at `path` is certainly still the one with this ETag. False says nothing.
    pub(crate) async fn unchanged(&self, path: &str, accept: &str, etag: Option<&str>) -> bool {
        match (&self.glances, etag) {
            (Some(glances), Some(etag)) => glances.unchanged(path, accept, etag).await,
            _ => false,
        }
    }

    /// When the certificate ends that the server showed last.
    pub(crate) fn certificate_end(&self) -> Option<SystemTime> {
        let glanced = self.glances.as_ref().and_then(Glances::certificate_end);
        self.client.certificate_end().or(glanced)
    }

    /// GETs `path`; an answer of 304 only when `etag` is given.
    pub(crate) async fn get(
        &self,
        kind: Kind,
        path: &str,
        accept: &'static str,
        etag: Option<&str>,
    ) -> Result<Answer, Failure> {
        let (limit, timeout) = self.bounds(kind);
        let mut call = Call::get(path).limit(limit).timeouts(self.polling.head_timeout.min(timeout), timeout);
        call.headers = HeaderMap::clone(&self.headers);
        call.headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        call.headers.insert(header::USER_AGENT, HeaderValue::from_static("trellis"));
        if let Some(etag) = etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
            call.headers.insert(header::IF_NONE_MATCH, etag);
        }
        let answer = self.client.call(&call).await?;
        judge(path, &answer, user_of(&self.headers))?;
        Ok(answer)
    }

    fn bounds(&self, kind: Kind) -> (usize, Duration) {
        let (bytes, timeout) = match kind {
            Kind::Discovery => (self.polling.discovery_bytes, self.polling.discovery_timeout),
            Kind::OpenApi => (self.polling.openapi_bytes, self.polling.openapi_timeout),
        };
        match self.role {
            Role::Core => (bytes.saturating_mul(CORE_FACTOR), timeout),
            Role::Federated => (bytes, timeout),
        }
    }
}

/// Whether the server says that there is no such document, in whatever way.
pub(crate) fn is_absent(answer: &Answer) -> bool {
    matches!(
        answer.status,
        StatusCode::NOT_FOUND
            | StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::NOT_ACCEPTABLE
            | StatusCode::GONE
    )
}

/// Its ETag as text.
pub(crate) fn etag_of(answer: &Answer) -> Option<String> {
    answer.headers.get(header::ETAG).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// The body of a 200 answer in JSON. Upstream's aggregator gives its index of OpenAPI v3 documents no
/// content type, and Go then takes it for plain text: that much is forgiven.
pub(crate) fn json_body(path: &str, answer: &Answer) -> Result<Bytes, Failure> {
    let media_type = answer.media_type();
    let unlabelled = matches!(media_type, "" | "text/plain");
    if media_type != "application/json" && !media_type.ends_with("+json") && !unlabelled {
        let detail = format!("GET {path} was answered with content type {media_type:?}");
        return Err(Failure::new(Cause::WrongContentType, detail));
    }
    Ok(answer.body.clone())
}

/// Refuses answers that are neither a document nor the lack of one.
fn judge(path: &str, answer: &Answer, user: Option<&str>) -> Result<(), Failure> {
    let said = said(answer);
    let cause = match answer.status {
        StatusCode::OK | StatusCode::NOT_MODIFIED => return Ok(()),
        _ if is_absent(answer) => return Ok(()),
        StatusCode::UNAUTHORIZED => Cause::IdentityRejected,
        StatusCode::FORBIDDEN if refuses_identity(&said, user) => Cause::IdentityRejected,
        StatusCode::FORBIDDEN => Cause::Forbidden,
        _ => Cause::UnexpectedStatus,
    };
    Err(Failure::new(cause, format!("GET {path} was answered with {}{said}", answer.status)))
}

/// Whether a refusal is about who asks, and not about what is asked for: the door may not act for others, or
/// the server took the request for somebody else's than `user`'s, because it does not believe the door.
fn refuses_identity(said: &str, user: Option<&str>) -> bool {
    let taken_for =
        said.split_once("User \"").and_then(|(_, rest)| rest.split_once('"')).map(|(name, _)| name);
    said.contains("impersonat") || user.is_some_and(|user| taken_for.is_some_and(|name| name != user))
}

/// As whom these headers ask; none: as the door itself.
fn user_of(headers: &HeaderMap) -> Option<&str> {
    ["x-remote-user", "impersonate-user"].iter().find_map(|name| headers.get(*name)?.to_str().ok())
}

/// What the server gave as its reason, one line of it.
fn said(answer: &Answer) -> String {
    let text = String::from_utf8_lossy(&answer.body[..answer.body.len().min(4096)]);
    let status: Option<serde_json::Value> = serde_json::from_slice(&answer.body).ok();
    let message = status.as_ref().and_then(|status| status.get("message")?.as_str()).unwrap_or(&text);
    let line: String = message.lines().next().unwrap_or_default().chars().take(300).collect();
    if line.trim().is_empty() { String::new() } else { format!(": {}", line.trim()) }
}

/// The headers by which the door says to `server` that `user` asks.
pub(crate) fn identity_headers(server: &Server, user: &UserInfo) -> HeaderMap {
    let pairs = match server.identity {
        IdentityMode::RequestHeader => identity::request_header::encode(user),
        IdentityMode::Impersonate => {
            // To act for system:masters would ask for more than discovery is worth.
            let plain = UserInfo::new(user.name.clone(), [identity::AUTHENTICATED_GROUP]);
            identity::impersonate::encode(&plain)
        }
        IdentityMode::PassThrough => Ok(Vec::new()),
    };
    let mut headers = HeaderMap::new();
    for (name, value) in pairs.unwrap_or_default() {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.append(name, value);
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::refuses_identity;

    #[test]
    fn a_refusal_is_about_the_caller_or_about_what_he_asked_for() {
        let user = Some("system:trellis");
        let cases = [
            // kube-apiserver, to whom may not impersonate.
            (
                r#"users "system:trellis" is forbidden: User "door" cannot impersonate resource "users" in API group """#,
                user,
                true,
            ),
            (r#"forbidden: User "system:anonymous" cannot get path "/apis""#, user, true),
            // The front proxy's certificate was taken for a user's.
            (r#"forbidden: User "front-proxy-client" cannot get path "/apis""#, user, true),
            (r#"forbidden: User "system:trellis" cannot get path "/apis""#, user, false),
            (r#"forbidden: User "door" cannot get path "/apis""#, None, false),
            ("quota exceeded", user, false),
            (r#"forbidden: User ""#, user, false),
            ("", user, false),
        ];
        for (said, user, expected) in cases {
            assert_eq!(refuses_identity(said, user), expected, "{said}");
        }
    }
}
