//! Large objects and lists are compressed for clients that take it, as kube-apiserver does.

use std::io::Write as _;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{HeaderMap, HeaderValue, Response, header};
use http_body::Body as _;
use http_body_util::BodyExt as _;

use super::{Body, body::full};

/// From more bytes than this on; upstream's number.
const THRESHOLD: u64 = 128 * 1024;

/// Marks an answer that is an object or a list, complete in memory.
#[derive(Clone, Copy)]
pub(super) struct Whole;

/// The response, compressed where that is wanted and worth it.
pub(super) async fn compressed(response: Response<Body>, asked: &HeaderMap) -> Response<Body> {
    let size = response.body().size_hint().lower();
    if size <= THRESHOLD || response.extensions().get::<Whole>().is_none() || !takes_gzip(asked) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    // It is in memory, so that this does not wait.
    let bytes = match body.collect().await {
        Ok(whole) => whole.to_bytes(),
        Err(never) => match never {},
    };
    let plain = bytes.clone();
    // Some milliseconds for each megabyte: not where other requests wait.
    match tokio::task::spawn_blocking(move || gzip(&plain)).await {
        Ok(Some(small)) => {
            head.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            head.headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
            Response::from_parts(head, full(small))
        }
        _ => Response::from_parts(head, full(bytes)),
    }
}

/// The response, not to be compressed whatever its size.
pub(super) fn uncompressed(mut response: Response<Body>) -> Response<Body> {
    response.extensions_mut().remove::<Whole>();
    response
}

/// As upstream: one of the encodings is this word and nothing else.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let value = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    value.is_some_and(|value| value.split(',').any(|encoding| encoding.trim() == "gzip"))
}

fn gzip(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().map(Bytes::from)
}
