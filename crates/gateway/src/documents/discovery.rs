//! `/api`, `/apis`, `/apis/G`, `/apis/G/V`.

use catalog::{Catalog, Document, Form};
use http::{Response, header, request::Parts};
use kube_wire::{
    accept::{self, Discovery, JSON, Offer},
    status::Status,
};

use super::conditional::{self, Cache};
use crate::{
    body::Body,
    respond::{Wanted, status_response},
};

/// The document at this path; none when the catalog does not know it.
pub(super) fn answer(catalog: &Catalog, parts: &Parts) -> Option<Response<Body>> {
    let path = parts.uri.path();
    let accept = conditional::joined(&parts.headers, header::ACCEPT);
    let root = matches!(path.trim_end_matches('/'), "/api" | "/apis");
    let form = match root {
        true => match accept::discovery(accept::parse(&accept)) {
            Discovery::AggregatedV2 => Some(Form::Aggregated),
            Discovery::Legacy => Some(Form::Legacy),
            Discovery::NotAcceptable => None,
        },
        false => accept::parse(&accept).choose(&[Offer::plain(JSON)]).map(|_| Form::Legacy),
    };
    let document = catalog.discovery(path, form.unwrap_or(Form::Legacy))?;
    if form.is_none() {
        let status = Status::not_acceptable_among(&[JSON]);
        return Some(status_response(&status, &Wanted::new(&parts.headers, &parts.uri)));
    }
    // As upstream: only the aggregated document, which is the same for everybody, may be shared.
    let cache = if document.content_type == Document::AGGREGATED { Cache::Public } else { Cache::Default };
    Some(conditional::document(parts, document, cache))
}
