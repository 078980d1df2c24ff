//! `/openapi/v3/<path>`: documents by hash, from the door's own copy.

use std::sync::Arc;

use catalog::{DocumentRef, Documents};
use http::{HeaderValue, Response, StatusCode, header, request::Parts};
use kube_wire::{
    accept::{self, JSON, Offer},
    etag, query,
    status::Status,
};
use time::{Duration, OffsetDateTime, Weekday};

use super::conditional::{self, Cache, Tagged};
use crate::{
    body::Body,
    respond::{Wanted, status_response},
};

/// The document, 304, or the way to it when the client's hash is an old one.
pub(super) async fn answer(
    documents: &Arc<dyn Documents>,
    parts: &Parts,
    name: &str,
    document: &DocumentRef,
) -> Response<Body> {
    let accept = conditional::joined(&parts.headers, header::ACCEPT);
    if accept::parse(&accept).choose(&[Offer::plain(JSON)]).is_none() {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_ACCEPTABLE;
        return response;
    }
    let hash = query::first(parts.uri.query().unwrap_or_default(), "hash").filter(|hash| !hash.is_empty());
    let immutable = match hash {
        Some(hash) if *hash == *document.hash => true,
        Some(_) => return moved(name, document),
        None => false,
    };
    let cache = if immutable { Cache::Immutable } else { Cache::Default };
    let mut head = match conditional::tagged(parts, &etag::quote(&document.hash), JSON, cache) {
        Tagged::NotModified(response) => return response,
        Tagged::Head(head) => head,
    };
    if immutable && let Ok(expires) = HeaderValue::from_str(&next_year(OffsetDateTime::now_utc())) {
        head.headers_mut().insert(header::EXPIRES, expires);
    }
    let (documents, wanted) = (documents.clone(), document.clone());
    // The store may read a file: not on a thread that carries requests.
    match tokio::task::spawn_blocking(move || documents.get(&wanted)).await {
        Ok(Ok(body)) => conditional::with_body(head, body),
        Ok(Err(error)) => unreadable(parts, name, &error.to_string()),
        Err(error) => unreadable(parts, name, &error.to_string()),
    }
}

fn unreadable(parts: &Parts, name: &str, error: &str) -> Response<Body> {
    tracing::error!(document = name, error, "Cannot read a stored OpenAPI document.");
    let message = format!("the OpenAPI document of {name} cannot be read now");
    status_response(&Status::service_unavailable(message, 1), &Wanted::new(&parts.headers, &parts.uri))
}

/// To the document as it is now, so that an old index costs one more request and not an error.
fn moved(name: &str, document: &DocumentRef) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    if let Ok(location) = HeaderValue::from_str(&format!("/openapi/v3/{name}?hash={}", document.hash)) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// A year from `now`, in the form of HTTP (RFC 9110, 5.6.7).
fn next_year(now: OffsetDateTime) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let then = now.saturating_add(Duration::days(365));
    let day = match then.weekday() {
        Weekday::Monday => "Mon",
        Weekday::Tuesday => "Tue",
        Weekday::Wednesday => "Wed",
        Weekday::Thursday => "Thu",
        Weekday::Friday => "Fri",
        Weekday::Saturday => "Sat",
        Weekday::Sunday => "Sun",
    };
    let month = MONTHS[usize::from(u8::from(then.month())) - 1];
    let (date, year) = (then.day(), then.year());
    let (hour, minute, second) = (then.hour(), then.minute(), then.second());
    format!("{day}, {date:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_http() {
        let now = OffsetDateTime::from_unix_timestamp(784_111_777).unwrap();
        assert_eq!(next_year(now), "Mon, 06 Nov 1995 08:49:37 GMT");
    }
}
