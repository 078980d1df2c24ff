//! The parts of one exchange: the request as it is sent, the head as it is judged, the body as it
//! is bounded.

use bytes::{Bytes, BytesMut};
use catalog::{Body, BodyError, Cause, Endpoint, Failure, Server, Service};
use http::{HeaderValue, Request, Uri, header, response::Parts};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Body as HttpBody;

use super::link::Outgoing;
use crate::{Answer, Call, Protocol, failure_of};

/// The request as it goes out.
pub(super) fn request(
    server: &Server,
    endpoint: &Endpoint,
    protocol: Protocol,
    call: &Call<'_>,
) -> Result<Request<Outgoing>, Failure> {
    let target = format!("{}{}", server.base_path, call.path);
    let authority = endpoint.address();
    let invalid = |what: &dyn std::fmt::Display| {
        Failure::new(Cause::InvalidCredentials, format!("cannot ask for {target}: {what}"))
    };
    let uri = match protocol {
        Protocol::Http1 => target.parse::<Uri>().map_err(|e| invalid(&e))?,
        Protocol::Http2 => Uri::builder()
            .scheme("https")
            .authority(authority.as_str())
            .path_and_query(target.as_str())
            .build()
            .map_err(|e| invalid(&e))?,
    };
    let mut request = Request::new(Full::new(call.body.clone()));
    *request.method_mut() = call.method.clone();
    *request.uri_mut() = uri;
    *request.headers_mut() = call.headers.clone();
    if protocol == Protocol::Http1 {
        let host = HeaderValue::try_from(authority).map_err(|e| invalid(&e))?;
        request.headers_mut().insert(header::HOST, host);
    }
    authorize(request.headers_mut(), server)?;
    Ok(request)
}

fn authorize(headers: &mut http::HeaderMap, server: &Server) -> Result<(), Failure> {
    let Some(token) = &server.credentials.bearer_token else { return Ok(()) };
    if headers.contains_key(header::AUTHORIZATION) {
        return Ok(());
    }
    let bearer = [b"Bearer ", token.expose().trim_ascii()].concat();
    let mut value = HeaderValue::from_bytes(&bearer).map_err(|_| {
        Failure::new(Cause::InvalidCredentials, "the bearer token holds characters that no header may hold")
    })?;
    value.set_sensitive(true);
    headers.insert(header::AUTHORIZATION, value);
    Ok(())
}

/// Refuses redirects, and bodies that announce themselves as too large.
pub(super) fn head(parts: &Parts, call: &Call<'_>) -> Result<(), Failure> {
    if parts.status.is_redirection() && parts.status != http::StatusCode::NOT_MODIFIED {
        let location = parts.headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
        let detail = format!("it redirects {} to {}", call.path, location.unwrap_or("nowhere"));
        return Err(Failure::new(Cause::RedirectRefused, detail));
    }
    let length = parts.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    match length.and_then(|length| length.parse::<u64>().ok()) {
        Some(length) if length > call.limit as u64 => Err(too_large(call.limit)),
        _ => Ok(()),
    }
}

/// All of a body; never more than `limit` bytes and one frame are held.
pub(super) async fn collect<B>(body: B, limit: usize) -> Result<Bytes, Failure>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BodyError>,
{
    let mut body = std::pin::pin!(body);
    let mut whole = BytesMut::new();
    let mut first: Option<Bytes> = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| failure_of(&*error.into()))?;
        let Ok(data) = frame.into_data() else { continue };
        if data.len() > limit - whole.len() - first.as_ref().map_or(0, Bytes::len) {
            return Err(too_large(limit));
        }
        // Most answers are one frame; those are handed on without a copy.
        match first.take() {
            None if whole.is_empty() => first = Some(data),
            None => whole.extend_from_slice(&data),
            Some(before) => {
                whole.reserve(before.len() + data.len());
                whole.extend_from_slice(&before);
                whole.extend_from_slice(&data);
            }
        }
    }
    Ok(first.unwrap_or_else(|| whole.freeze()))
}

fn too_large(limit: usize) -> Failure {
    Failure::new(Cause::TooLarge, format!("the answer is larger than {limit} bytes"))
}

/// The same exchange with a server in this process.
pub(super) async fn in_process(
    service: &dyn Service,
    server: &Server,
    call: &Call<'_>,
) -> Result<Answer, Failure> {
    let endpoint = Endpoint::Network { tls: false, host: "in-process".to_owned(), port: 0 };
    let request = request(server, &endpoint, Protocol::Http1, call)?;
    let request = request.map(|body| Body::new(body.map_err(BodyError::from)));
    let exchange = async {
        let (parts, body) = service.call(request).await.into_parts();
        head(&parts, call)?;
        let body = collect(body, call.limit).await?;
        Ok(Answer { status: parts.status, headers: parts.headers, body })
    };
    match tokio::time::timeout(call.timeout, exchange).await {
        Ok(ended) => ended,
        Err(_) => Err(Failure::new(Cause::ResponseTimeout, format!("no answer within {:?}", call.timeout))),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body::Frame;
    use http_body_util::StreamBody;

    use super::*;

    /// A body in pieces of this size.
    fn pieces(whole: &Bytes, size: usize) -> impl HttpBody<Data = Bytes, Error = Infallible> + use<> {
        let frames: Vec<_> =
            whole.chunks(size).map(|piece| Ok(Frame::data(Bytes::copy_from_slice(piece)))).collect();
        StreamBody::new(futures_util::stream::iter(frames))
    }

    #[tokio::test]
    async fn a_body_is_whole_or_over_the_limit_however_it_is_cut() {
        for length in [0, 1, 2, 7, 64, 100] {
            let whole: Bytes = (0..length).collect();
            for size in [1, 2, 3, 63, 64, 1000] {
                for limit in [0, 1, 63, 64, 65, 100] {
                    let collected = collect(pieces(&whole, size), limit).await;
                    match usize::from(length) <= limit {
                        true => assert_eq!(collected, Ok(whole.clone())),
                        false => assert_eq!(collected.map_err(|f| f.cause), Err(Cause::TooLarge)),
                    }
                }
            }
        }
    }
}
