//! Which headers never pass.
//!
//! What a backend is told about the caller comes from the door alone. So every header that a backend
//! could read as an identity header is taken out before the door puts in its own: also when it is
//! spelled with underscores, dots, escapes or other case, since servers behind CGI-style interfaces
//! fold all of these into one name.

mod look_alike;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use kube_wire::status::Status;

use look_alike::{Fold, LookAlike};

/// Prefix of the WebSocket subprotocol in which browsers carry a bearer token.
pub(crate) const WEBSOCKET_BEARER: &str = "base64url.bearer.authorization.k8s.io.";

/// Header names that one `Connection` field may list; no honest client comes near.
const MAX_CONNECTION_OPTIONS: usize = 32;

/// Offenders taken out per pass over the map; an ordinary request has two or three.
const BATCH: usize = 8;

/// Makes a client's headers fit to be sent on: hop-by-hop headers (also those named in `Connection`) and
/// every look-alike of an identity header are removed. `Authorization` too, unless `keep_token`.
/// `Upgrade` and `Connection: upgrade` are re-added by the upgrade path itself.
///
/// # Errors
/// A header that no honest client sends, as the 400 for the client.
pub(crate) fn sanitize(headers: &mut HeaderMap, keep_token: bool) -> Result<(), Box<Status>> {
    if headers.contains_key(header::CONNECTION) {
        remove_connection_options(headers)?;
    }
    if !keep_token && headers.contains_key(header::SEC_WEBSOCKET_PROTOCOL) {
        remove_websocket_token(headers);
    }
    remove_where(headers, |name| match verdict(name) {
        Verdict::Pass => false,
        Verdict::Token => !keep_token,
        Verdict::Drop | Verdict::Impersonation => true,
    });
    Ok(())
}

/// The same for trailers of either direction; offenders are dropped.
pub(crate) fn sanitize_trailers(trailers: &mut HeaderMap) {
    remove_where(trailers, |name| verdict(name) != Verdict::Pass || is_framing(name));
}

/// Whether this name is `Impersonate-*` or would be read as it by a server that folds names.
pub(crate) fn is_impersonation(name: &HeaderName) -> bool {
    verdict(name) == Verdict::Impersonation
}

/// What happens to a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    Drop,
    Token,
    Impersonation,
}

/// Decides by the name alone. The first byte settles nearly every name; only what could still be an
/// offender is folded.
fn verdict(name: &HeaderName) -> Verdict {
    let text = name.as_str();
    let drop_if = |offends: bool| if offends { Verdict::Drop } else { Verdict::Pass };
    match text.as_bytes().first() {
        Some(b'a') if *name == header::AUTHORIZATION => Verdict::Token,
        Some(b'x' | b'i' | b'p') => folded_verdict(text),
        Some(b'a') if text.starts_with("au") => folded_verdict(text),
        Some(first) if !first.is_ascii_alphanumeric() => folded_verdict(text),
        Some(b'c') => drop_if(*name == header::CONNECTION || is_escaped(text)),
        Some(b't') => drop_if(is_hop_by_hop(name) || is_escaped(text)),
        Some(b'u') => drop_if(*name == header::UPGRADE || is_escaped(text)),
        Some(b'k') => drop_if(text == "keep-alive" || is_escaped(text)),
        Some(b'h') => drop_if(text == "http2-settings" || is_escaped(text)),
        _ => drop_if(is_escaped(text)),
    }
}

fn is_hop_by_hop(name: &HeaderName) -> bool {
    *name == header::TRANSFER_ENCODING || *name == header::TE || *name == header::TRAILER
}

/// Escapes occur in no header name but the extras of an identity, so one elsewhere can only be there
/// for a server that decodes names.
fn is_escaped(name: &str) -> bool {
    name.contains('%')
}

fn folded_verdict(name: &str) -> Verdict {
    match Fold::of(name).look_alike() {
        None if is_escaped(name) => Verdict::Drop,
        None => Verdict::Pass,
        // A look-alike of `Authorization` is nobody's token: it never passes, whatever the mode.
        Some(LookAlike::RequestHeader | LookAlike::Proxy | LookAlike::Authorization) => Verdict::Drop,
        Some(LookAlike::Impersonate) => Verdict::Impersonation,
    }
}

/// Headers that say where a message ends or where it goes: meaningless, and dangerous, in a trailer.
fn is_framing(name: &HeaderName) -> bool {
    [header::CONTENT_LENGTH, header::CONTENT_ENCODING, header::CONTENT_TYPE, header::HOST, header::SET_COOKIE]
        .contains(name)
}

/// Takes out every header whose name `offends`, without allocating.
pub(crate) fn remove_where(headers: &mut HeaderMap, offends: impl Fn(&HeaderName) -> bool) {
    loop {
        let mut batch: [Option<HeaderName>; BATCH] = [const { None }; BATCH];
        let mut found = 0;
        for name in headers.keys().filter(|name| offends(name)).take(BATCH) {
            batch[found] = Some(name.clone());
            found += 1;
        }
        for name in batch.iter().flatten() {
            headers.remove(name);
        }
        if found < BATCH {
            return;
        }
    }
}

/// Takes out the headers that `Connection` declares to be for this hop only.
fn remove_connection_options(headers: &mut HeaderMap) -> Result<(), Box<Status>> {
    let mut named: Vec<HeaderName> = Vec::new();
    for value in headers.get_all(header::CONNECTION) {
        let Ok(value) = value.to_str() else {
            return Err(Box::new(Status::bad_request("the Connection header is not plain text")));
        };
        for option in value.split(',').map(str::trim) {
            if is_ordinary_option(option) {
                continue;
            }
            let Ok(name) = HeaderName::from_bytes(option.as_bytes()) else {
                return Err(Box::new(Status::bad_request("the Connection header names no header")));
            };
            if named.len() == MAX_CONNECTION_OPTIONS {
                return Err(Box::new(Status::bad_request("the Connection header names too many headers")));
            }
            named.push(name);
        }
    }
    for name in named {
        headers.remove(name);
    }
    Ok(())
}

fn is_ordinary_option(option: &str) -> bool {
    option.is_empty()
        || ["keep-alive", "close", "upgrade"].iter().any(|ordinary| option.eq_ignore_ascii_case(ordinary))
}

/// Takes the subprotocol that carries a bearer token out of the offer, and leaves the others.
fn remove_websocket_token(headers: &mut HeaderMap) {
    let carries = |value: &HeaderValue| {
        value.as_bytes().windows(WEBSOCKET_BEARER.len()).any(|part| part == WEBSOCKET_BEARER.as_bytes())
    };
    if !headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().any(carries) {
        return;
    }
    let kept: Vec<String> = headers
        .get_all(header::SEC_WEBSOCKET_PROTOCOL)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|protocol| !protocol.is_empty() && !protocol.starts_with(WEBSOCKET_BEARER))
        .map(str::to_owned)
        .collect();
    headers.remove(header::SEC_WEBSOCKET_PROTOCOL);
    if let Ok(value) = HeaderValue::try_from(kept.join(","))
        && !value.is_empty()
    {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, value);
    }
}

#[cfg(test)]
mod tests;
