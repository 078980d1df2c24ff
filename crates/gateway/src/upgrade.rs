//! Upgrades to WebSocket and SPDY/3.1: a connection of its own to the backend, and a tunnel only after
//! both sides agreed to it.

mod tunnel;

use std::sync::Arc;

use catalog::{Cause, Failure, Server};
use dial::Offer;
use http::{HeaderMap, HeaderValue, Response, StatusCode, Version, header, request};
use hyper::{body::Incoming, upgrade::OnUpgrade};
use hyper_util::rt::TokioIo;
use kube_wire::status::Status;
use tokio::time::{Instant, timeout_at};

use crate::{
    body::{Body, Held, Proxied, RequestBody, Source},
    forward::{self, Head},
    identity::Identity,
    pool::{self, EndpointPool, Http1Lease, ServerPool},
    proxy::{Asked, note},
};

/// Protocols that may be asked for. A backend that spoke HTTP over the tunnel (`h2c`) would take
/// identity headers from the client itself.
const PROTOCOLS: [&str; 2] = ["websocket", "spdy/3.1"];

/// A client's wish for another protocol.
pub(crate) struct Upgrade {
    protocol: HeaderValue,
    client: OnUpgrade,
}

/// The wish, when there is one that we can grant. Others are ignored, as HTTP allows.
pub(crate) fn wanted(parts: &mut request::Parts) -> Option<Upgrade> {
    if parts.version != Version::HTTP_11 || !names_upgrade(&parts.headers) {
        return None;
    }
    let protocol = parts.headers.get(header::UPGRADE)?.clone();
    if !PROTOCOLS.iter().any(|known| protocol.as_bytes().eq_ignore_ascii_case(known.as_bytes())) {
        return None;
    }
    let client = parts.extensions.remove::<OnUpgrade>()?;
    Some(Upgrade { protocol, client })
}

fn names_upgrade(headers: &HeaderMap) -> bool {
    headers.contains_key(header::UPGRADE)
        && headers
            .get_all(header::CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|option| option.trim().eq_ignore_ascii_case("upgrade"))
}

/// Carries out an upgrade: 101 and a tunnel, or the backend's own refusal.
pub(crate) async fn serve(
    asked: &Asked<'_>,
    upgrade: Upgrade,
    parts: request::Parts,
    body: Incoming,
    identity: &Arc<Identity>,
    (server, pool): (&Arc<Server>, &Arc<ServerPool>),
    held: &mut Held,
) -> Result<Response<Body>, Box<Status>> {
    if !hyper::body::Body::is_end_stream(&body) {
        return Err(Box::new(Status::bad_request("a request for an upgrade has no body")));
    }
    // The identity headers go on this very request: no pooled connection adds them later.
    let head = asked.head(parts, identity, server, false)?.upgrading_to(upgrade.protocol.clone());
    let deadline = Instant::now() + asked.client.door.limits.request_timeout;
    let response = timeout_at(deadline, ask(pool, &head)).await.map_err(|_| Box::new(Status::timeout()))?;
    let (mut response, lease) = response.map_err(|failure| asked.failed(pool, failure))?;
    pool.note_answer(response.status());
    match response.status() {
        StatusCode::SWITCHING_PROTOCOLS if agrees(&response, &upgrade.protocol) => {
            note(held, response.status(), Some(server));
            let backend = hyper::upgrade::on(&mut response);
            let mut answer = Response::new(Body::empty());
            *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
            *answer.headers_mut() = std::mem::take(response.headers_mut());
            forward::clean_answer(answer.headers_mut(), true);
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
            answer.headers_mut().insert(header::UPGRADE, upgrade.protocol);
            let until = tunnel::Until::new(asked.client, std::mem::take(held), lease);
            tokio::spawn(tunnel::run(upgrade.client, backend, until));
            Ok(answer)
        }
        status if status.as_u16() >= 400 => {
            note(held, status, Some(server));
            let (mut parts, incoming) = response.into_parts();
            forward::clean_answer(&mut parts.headers, true);
            let source = Source::Http1(incoming, lease);
            let proxied = Proxied::new(source, std::mem::take(held), Some(deadline));
            Ok(Response::from_parts(parts, Body::proxied(proxied)))
        }
        status => {
            let message = format!("the backend answered an upgrade request with {}", status.as_u16());
            Err(Box::new(Status::bad_gateway(message)))
        }
    }
}

fn agrees(response: &Response<Incoming>, protocol: &HeaderValue) -> bool {
    let answered = response.headers().get(header::UPGRADE);
    answered.is_some_and(|answered| answered.as_bytes().eq_ignore_ascii_case(protocol.as_bytes()))
}

/// Asks endpoint after endpoint until one takes the connection; once the request is sent, it stays.
async fn ask(pool: &ServerPool, head: &Head) -> Result<(Response<Incoming>, Http1Lease), Failure> {
    let mut tried: Vec<Arc<EndpointPool>> = Vec::new();
    let mut last = None;
    while let Some((endpoint, _)) = pool.pick(&tried) {
        match connect(&endpoint).await {
            Ok(mut lease) => {
                let request = head.to_http1(&endpoint, RequestBody::Empty);
                let response = lease.send(request).await.map_err(|e| dial::failure_of(e.error()))?;
                return Ok((response, lease));
            }
            Err(failure) => last = Some(failure),
        }
        tried.push(endpoint);
    }
    Err(last.unwrap_or_else(|| Failure::new(Cause::NoEndpoints, "")))
}

/// A connection for this one request.
async fn connect(endpoint: &Arc<EndpointPool>) -> Result<Http1Lease, Failure> {
    let connected = pool::connect(endpoint, Offer::Http1).await?;
    let (sender, connection) = pool::http1_builder()
        .handshake(TokioIo::new(connected.io))
        .await
        .map_err(|error| dial::failure_of(&error))?;
    tokio::spawn(connection.with_upgrades());
    Ok(Http1Lease::single(endpoint, sender))
}
