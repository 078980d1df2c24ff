//! Upgrades: WebSocket, SPDY/3.1, anything.

use http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper_util::rt::TokioIo;

use super::{Client, Reply, Target, out};

/// How an upgrade ended.
pub enum Upgraded {
    /// 101: the bytes, and the answer's headers.
    Accepted {
        /// The connection, now without HTTP.
        io: TokioIo<hyper::upgrade::Upgraded>,
        /// Headers of the 101.
        headers: HeaderMap,
    },
    /// Any other answer, whole.
    Refused(Reply),
}

/// Asks for an upgrade to `protocol` on a connection of its own.
///
/// # Errors
/// When the connection ends before the answer.
///
/// # Panics
/// When a header is none.
pub async fn upgrade(
    target: &Target,
    path: &str,
    protocol: &str,
    headers: &[(&str, &str)],
) -> std::io::Result<Upgraded> {
    let mut client = Client::http1(target).await?;
    let mut request = Request::builder()
        .uri(path)
        .header(header::CONNECTION, HeaderValue::from_static("Upgrade"))
        .header(header::UPGRADE, protocol);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(out("")).expect("a request");
    let mut answer = client.open(request).await.map_err(std::io::Error::other)?;
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        let upgraded = hyper::upgrade::on(&mut answer).await.map_err(std::io::Error::other)?;
        let headers = answer.headers().clone();
        return Ok(Upgraded::Accepted { io: TokioIo::new(upgraded), headers });
    }
    let (parts, body) = answer.into_parts();
    let collected = body.collect().await.map_err(std::io::Error::other)?;
    Ok(Upgraded::Refused(Reply {
        status: parts.status,
        version: parts.version,
        headers: parts.headers,
        trailers: collected.trailers().cloned().unwrap_or_default(),
        body: collected.to_bytes(),
    }))
}
