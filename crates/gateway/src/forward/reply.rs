//! The head of an answer as the client sees it.

use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::ids::AUDIT_ID;

const CACHE_CONTROL_DEFAULT: HeaderValue = HeaderValue::from_static("no-cache, private");
const HOP_BY_HOP: [HeaderName; 7] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Takes out what is for one hop only, and what a backend must not decide (cross-origin access).
pub(crate) fn clean_answer(headers: &mut HeaderMap, from_http1: bool) {
    // HTTP/2 has none of them: the protocol forbids it, and its implementation checks.
    if from_http1 {
        remove_hop_by_hop(headers);
    }
    if headers.keys().any(is_cross_origin) {
        let names: Vec<_> = headers.keys().filter(|name| is_cross_origin(name)).cloned().collect();
        for name in names {
            headers.remove(name);
        }
    }
}

/// What every answer carries exactly once.
pub(crate) fn seal(headers: &mut HeaderMap, audit_id: HeaderValue) {
    headers.insert(AUDIT_ID, audit_id);
    headers.entry(header::CACHE_CONTROL).or_insert(CACHE_CONTROL_DEFAULT);
}

fn is_cross_origin(name: &HeaderName) -> bool {
    name.as_str().starts_with("access-control-")
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    if headers.contains_key(header::CONNECTION) {
        let named: Vec<HeaderName> = headers
            .get_all(header::CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .filter_map(|name| name.trim().parse().ok())
            .filter(|name| *name != header::CONTENT_LENGTH && *name != header::CONTENT_TYPE)
            .collect();
        for name in named {
            headers.remove(name);
        }
    }
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
}
