//! What is no resource: discovery, health, version, metrics.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header, request::Parts};
use kube_wire::{
    Encoding, RequestInfo, Status,
    accept::{self, Discovery},
    discovery::v2,
    etag,
};

use super::{Body, Service, body::full, compress, health::Endpoint, respond, respond::Outcome};
use crate::{
    answer::{accept_header, is_pretty},
    discovery::Tagged,
};

impl Service {
    pub(super) async fn path(&self, head: &Parts, info: &RequestInfo<'_>) -> Outcome {
        let is_head = head.method == Method::HEAD;
        if !is_head && head.method != Method::GET {
            return match self.paths().iter().any(|path| *path == info.path) {
                true => Err(respond::method_not_allowed()),
                false => Ok(respond::no_such_path()),
            };
        }
        let query = head.uri.query().unwrap_or_default();
        let response = match &*info.path {
            "/" | "/index.html" => self.index(head, query),
            "/version" | "/version/" => {
                json(head, query, serde_json::to_vec(&self.parts.version).unwrap_or_default())
            }
            "/metrics" => Ok(self.metrics.answer()),
            path if super::health::is_path(path) => Ok(self.health(path, query)),
            // Clients ask for these once, by their tags.
            path if path.starts_with("/openapi/") => {
                self.openapi(head, query, path).map(compress::uncompressed)
            }
            path if path.starts_with("/api") => self.discovery(head, query, path),
            _ => Ok(respond::no_such_path()),
        }?;
        Ok(if is_head { respond::without_body(response) } else { response })
    }

    fn health(&self, path: &str, query: &str) -> Response<Body> {
        let path = path.trim_start_matches('/');
        let (endpoint, check) = path.split_once('/').unwrap_or((path, ""));
        let Some(endpoint) = Endpoint::named(endpoint) else { return respond::no_such_path() };
        let stopping = *self.stopping.borrow();
        super::health::answer(endpoint, check, query, stopping, &self.parts.checks)
    }

    fn discovery(&self, head: &Parts, query: &str, path: &str) -> Outcome {
        let resources = self.resources.load();
        let documents = &resources.discovery;
        let accepted = accept_header(&head.headers);
        let wanted = accept::discovery(accept::parse(&accepted));
        let of_all = match path.trim_end_matches('/') {
            "/api" => Some((&documents.core, &documents.core_aggregated)),
            "/apis" => Some((&documents.groups, &documents.groups_aggregated)),
            _ => None,
        };
        let (json, encoding, tag) = match (of_all, wanted) {
            (_, Discovery::NotAcceptable) => return Err(Status::not_acceptable()),
            (Some((_, aggregated)), Discovery::AggregatedV2(encoding)) => {
                (&aggregated.json, encoding, Some(&aggregated.etag))
            }
            (Some((legacy, _)), Discovery::Legacy(encoding)) => (legacy, encoding, None),
            (None, Discovery::AggregatedV2(encoding) | Discovery::Legacy(encoding)) => {
                match documents.of(path.trim_end_matches('/')) {
                    Some(json) => (json, encoding, None),
                    None => return Ok(respond::no_such_path()),
                }
            }
        };
        let encoding = match encoding {
            Encoding::Json if is_pretty(&head.headers, query) => Encoding::JsonPretty,
            other => other,
        };
        let mut response = match tag {
            Some(tag) if unchanged(head, tag) => {
                let mut response = Response::new(full(Bytes::new()));
                *response.status_mut() = StatusCode::NOT_MODIFIED;
                response
            }
            _ => {
                let bytes = kube_wire::discovery::encode(json, encoding).unwrap_or_default();
                respond::object(200, bytes.into(), Encoding::Json)
            }
        };
        let headers = response.headers_mut();
        let kind: Cow<'_, str> = match (tag, encoding) {
            (Some(_), Encoding::Json | Encoding::JsonPretty) => v2::CONTENT_TYPE.into(),
            (Some(_), other) => v2::CONTENT_TYPE.replace(accept::JSON, other.content_type()).into(),
            (None, other) => other.content_type().into(),
        };
        set(headers, header::CONTENT_TYPE, &kind);
        if let Some(tag) = tag {
            set(headers, header::ETAG, tag);
            headers.insert(header::VARY, HeaderValue::from_static("Accept"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
        }
        Ok(response)
    }

    fn index(&self, head: &Parts, query: &str) -> Outcome {
        let paths = serde_json::json!({ "paths": self.paths() });
        json(head, query, serde_json::to_vec(&paths).unwrap_or_default())
    }

    /// All paths that are no resources, in alphabetical order.
    fn paths(&self) -> Vec<String> {
        let mut paths = self.resources.load().discovery.paths();
        let own = ["/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"];
        paths.extend(own.map(str::to_owned));
        for endpoint in Endpoint::ALL {
            let checks = super::health::names(endpoint, &self.parts.checks);
            paths.extend(checks.map(|check| format!("/{}/{check}", endpoint.name())));
        }
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    fn openapi(&self, head: &Parts, query: &str, path: &str) -> Outcome {
        let resources = self.resources.load();
        let documents = resources.openapi(&self.parts.title, &self.parts.version.git_version);
        let accepted = accept_header(&head.headers);
        if accept::parse(&accepted).choose(&[accept::Offer::plain(accept::JSON)]).is_none() {
            return Err(Status::not_acceptable_among(&[accept::JSON]));
        }
        match path {
            "/openapi/v2" => Ok(tagged(head, &documents.v2)),
            "/openapi/v3" => Ok(respond::object(200, documents.index.clone().into(), Encoding::Json)),
            _ => {
                let place = path.strip_prefix("/openapi/v3/").unwrap_or_default();
                let Some(document) = documents.v3.get(place) else { return Ok(respond::no_such_path()) };
                let hash = document.etag.trim_matches('"');
                let asked = kube_wire::query::first(query, "hash").filter(|asked| !asked.is_empty());
                let mut response = match asked.as_deref() {
                    Some(old) if old != hash => {
                        return Ok(moved(&format!("{path}?hash={hash}")));
                    }
                    _ => tagged(head, document),
                };
                if asked.is_some() {
                    // Under this address nothing else will ever stand.
                    let forever = HeaderValue::from_static("public, immutable");
                    response.headers_mut().insert(header::CACHE_CONTROL, forever);
                }
                Ok(response)
            }
        }
    }
}

/// A document with its tag, or the word that the client has it.
fn tagged(head: &Parts, document: &Tagged) -> Response<Body> {
    let mut response = match unchanged(head, &document.etag) {
        true => {
            let mut response = Response::new(full(Bytes::new()));
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        }
        false => respond::object(200, document.json.clone().into(), Encoding::Json),
    };
    let headers = response.headers_mut();
    set(headers, header::ETAG, &document.etag);
    headers.insert(header::VARY, HeaderValue::from_static("Accept"));
    response
}

/// Sets a header, in place of what it was.
fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn moved(to: &str) -> Response<Body> {
    let mut response = Response::new(full(Bytes::new()));
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    set(response.headers_mut(), header::LOCATION, to);
    response
}

/// Whether the client has what this tag names.
fn unchanged(head: &Parts, tag: &str) -> bool {
    let known = head.headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    known.is_some_and(|known| etag::none_match(known, tag))
}

/// JSON, in the encoding that the client likes.
fn json(head: &Parts, query: &str, json: Vec<u8>) -> Outcome {
    let accepted = accept_header(&head.headers);
    let encoding = match accept::encoding(accept::parse(&accepted)) {
        Some(Encoding::Json) if is_pretty(&head.headers, query) => Encoding::JsonPretty,
        // Upstream writes these as JSON whatever the client takes.
        _ => Encoding::Json,
    };
    Ok(respond::object(200, json.into(), encoding))
}
