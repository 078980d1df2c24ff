//! The head of a request as a backend sees it.

use std::sync::Arc;

use catalog::{IdentityMode, Server};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, Version, header,
    uri::{self, PathAndQuery},
};
use kube_wire::status::Status;

use super::ids::{AUDIT_ID, AuditId, TRACEPARENT};
use crate::{body::RequestBody, headers, identity::Identity, pool::EndpointPool};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_URI: HeaderName = HeaderName::from_static("x-forwarded-uri");
const HTTPS: HeaderValue = HeaderValue::from_static("https");

/// What a head is made of.
pub(crate) struct HeadSource<'a> {
    pub(crate) method: Method,
    /// As the client sent it.
    pub(crate) uri: &'a Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) identity: &'a Arc<Identity>,
    /// The client's address, rendered once per connection.
    pub(crate) peer: &'a HeaderValue,
    pub(crate) audit_id: &'a AuditId,
    /// Upgrades are not traced, as upstream.
    pub(crate) traced: bool,
}

/// A head that can be sent any number of times, to any endpoint of its server.
pub(crate) struct Head {
    method: Method,
    path: PathAndQuery,
    headers: HeaderMap,
}

impl Head {
    /// Makes the head for `server`: what may not pass goes, who calls and on whose behalf comes in.
    ///
    /// # Errors
    /// A request that cannot be passed on, as the answer for the client.
    pub(crate) fn new(source: HeadSource<'_>, server: &Server) -> Result<Self, Box<Status>> {
        let HeadSource { method, uri, mut headers, .. } = source;
        let trailers_wanted = headers.get(header::TE).is_some_and(|te| te.as_bytes() == b"trailers");
        let host = headers.remove(header::HOST).or_else(|| authority(uri));
        headers::sanitize(&mut headers, server.identity == IdentityMode::PassThrough)?;
        // The door itself says when it wants the body.
        headers.remove(header::EXPECT);
        if trailers_wanted {
            headers.insert(header::TE, HeaderValue::from_static("trailers"));
        }
        forwarded(&mut headers, source.peer, host, uri);
        headers.insert(AUDIT_ID, unindexed(source.audit_id.value.clone()));
        if source.traced && !headers.contains_key(TRACEPARENT) {
            headers.insert(TRACEPARENT, unindexed(source.audit_id.traceparent()));
        }
        identify(&mut headers, source.identity, server)?;
        Ok(Self { method, path: path(uri, &server.base_path)?, headers })
    }

    /// A request of the door's own, under its own credentials.
    ///
    /// # Errors
    /// When the path or the credentials are no valid header or path.
    pub(crate) fn own(
        method: Method,
        path_and_query: &str,
        mut headers: HeaderMap,
        server: &Server,
    ) -> Result<Self, Box<Status>> {
        let uri = Uri::try_from(path_and_query).map_err(|e| Box::new(Status::bad_request(e.to_string())))?;
        authorize(&mut headers, server)?;
        Ok(Self { method, path: path(&uri, &server.base_path)?, headers })
    }

    pub(super) fn to_http2(&self, endpoint: &EndpointPool) -> Request<()> {
        let mut request = Request::new(());
        let mut uri = uri::Parts::default();
        uri.scheme = Some(endpoint.scheme.clone());
        uri.authority = endpoint.authority.clone();
        uri.path_and_query = Some(self.path.clone());
        *request.uri_mut() = Uri::from_parts(uri).unwrap_or_default();
        *request.version_mut() = Version::HTTP_2;
        *request.method_mut() = self.method.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }

    pub(crate) fn to_http1(&self, endpoint: &EndpointPool, body: RequestBody) -> Request<RequestBody> {
        let mut request = self.to_service(body);
        request.headers_mut().insert(header::HOST, endpoint.host.clone());
        request
    }

    pub(crate) fn to_service<B>(&self, body: B) -> Request<B> {
        let mut request = Request::new(body);
        *request.uri_mut() = Uri::from(self.path.clone());
        *request.method_mut() = self.method.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }

    /// Adds what an upgrade needs and ordinary requests may not have.
    pub(crate) fn upgrading_to(mut self, protocol: HeaderValue) -> Self {
        self.headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        self.headers.insert(header::UPGRADE, protocol);
        self
    }

    /// Whether repeating it does no harm even when it was carried out.
    pub(crate) fn is_safe(&self) -> bool {
        self.method.is_safe()
    }
}

/// The path as the client sent it, byte for byte, behind the server's own prefix.
fn path(uri: &Uri, base_path: &str) -> Result<PathAndQuery, Box<Status>> {
    let sent = match uri.path_and_query() {
        Some(sent) if base_path.is_empty() => return Ok(sent.clone()),
        Some(sent) => sent.as_str(),
        None => "/",
    };
    let mut prefixed = String::with_capacity(base_path.len() + sent.len());
    prefixed.push_str(base_path);
    prefixed.push_str(sent);
    PathAndQuery::try_from(prefixed).map_err(|e| Box::new(Status::bad_request(e.to_string())))
}

fn authority(uri: &Uri) -> Option<HeaderValue> {
    HeaderValue::from_str(uri.authority()?.as_str()).ok()
}

fn forwarded(headers: &mut HeaderMap, peer: &HeaderValue, host: Option<HeaderValue>, uri: &Uri) {
    let chain = match headers.get(FORWARDED_FOR) {
        None => peer.clone(),
        Some(_) => append(headers, peer),
    };
    headers.insert(FORWARDED_FOR, chain);
    headers.insert(FORWARDED_PROTO, HTTPS);
    match host {
        Some(host) => headers.insert(FORWARDED_HOST, host),
        None => headers.remove(FORWARDED_HOST),
    };
    match HeaderValue::from_str(uri.path()) {
        Ok(path) => headers.insert(FORWARDED_URI, unindexed(path)),
        Err(_) => headers.remove(FORWARDED_URI),
    };
}

/// The addresses that proxies before us named, and then our peer's.
fn append(headers: &HeaderMap, peer: &HeaderValue) -> HeaderValue {
    let mut chain = Vec::new();
    for value in headers.get_all(FORWARDED_FOR) {
        chain.extend_from_slice(value.as_bytes());
        chain.extend_from_slice(b", ");
    }
    chain.extend_from_slice(peer.as_bytes());
    HeaderValue::from_bytes(&chain).unwrap_or_else(|_| peer.clone())
}

fn identify(headers: &mut HeaderMap, identity: &Identity, server: &Server) -> Result<(), Box<Status>> {
    let lines = match server.identity {
        // The server sees the caller's own token, and decides itself whether its owner may act as another.
        IdentityMode::PassThrough if identity.acted => &identity.impersonate_headers,
        IdentityMode::PassThrough => return Ok(()),
        IdentityMode::RequestHeader => &identity.request_headers,
        IdentityMode::Impersonate => &identity.impersonate_headers,
    };
    for (name, value) in lines {
        headers.append(name, value.clone());
    }
    if server.identity == IdentityMode::PassThrough {
        return Ok(());
    }
    authorize(headers, server)
}

/// The door's own bearer token, where it has one for this server.
fn authorize(headers: &mut HeaderMap, server: &Server) -> Result<(), Box<Status>> {
    let Some(token) = &server.credentials.bearer_token else { return Ok(()) };
    let mut value = HeaderValue::from_bytes(&[b"Bearer ", token.expose()].concat())
        .map_err(|_| Box::new(Status::internal("the token for the server is no valid header")))?;
    value.set_sensitive(true);
    headers.insert(header::AUTHORIZATION, value);
    Ok(())
}

/// Values that never come again only push others out of the tables of header compression.
fn unindexed(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}
