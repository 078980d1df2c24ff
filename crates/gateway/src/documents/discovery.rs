//! `/api`, `/apis`, `/apis/G`, `/apis/G/V`.

use catalog::{Catalog, Form};
use http::{Response, header, request::Parts};
use kube_wire::{
    Encoding,
    accept::{self, Discovery},
    status::Status,
};

use super::conditional::{self, Cache};
use crate::{
    body::Body,
    respond::{Wanted, status_response, user_agent},
};

/// The document at this path; none when the catalog does not know it.
pub(super) fn answer(catalog: &Catalog, parts: &Parts) -> Option<Response<Body>> {
    let path = parts.uri.path();
    // Known at all? What is not is the core's, whatever is asked for.
    catalog.discovery(path, Form::Legacy)?;
    let document = wanted(parts).and_then(|(form, encoding)| {
        let document = catalog.discovery_in(path, form, readable(parts, encoding))?;
        Some((document, form))
    });
    let Some((document, form)) = document else {
        return Some(status_response(&Status::not_acceptable(), &Wanted::new(&parts.headers, &parts.uri)));
    };
    // As upstream: only the aggregated document, which is the same for everybody, may be shared.
    let cache = if form == Form::Aggregated { Cache::Public } else { Cache::Default };
    Some(conditional::document(parts, document, cache))
}

/// The form and the encoding that the client wants; none: there is no such thing.
fn wanted(parts: &Parts) -> Option<(Form, Encoding)> {
    let header = conditional::joined(&parts.headers, header::ACCEPT);
    let accept = accept::parse(&header);
    // Only these two paths have an aggregated form.
    if !matches!(parts.uri.path().trim_end_matches('/'), "/api" | "/apis") {
        return accept::encoding(accept).map(|encoding| (Form::Legacy, encoding));
    }
    match accept::discovery(accept) {
        Discovery::AggregatedV2(encoding) => Some((Form::Aggregated, encoding)),
        Discovery::Legacy(encoding) => Some((Form::Legacy, encoding)),
        Discovery::NotAcceptable => None,
    }
}

/// Indented for people.
fn readable(parts: &Parts, encoding: Encoding) -> Encoding {
    let pretty = || accept::pretty(parts.uri.query().unwrap_or_default(), user_agent(&parts.headers));
    if encoding == Encoding::Json && pretty() { Encoding::JsonPretty } else { encoding }
}
