//! From the errors of the layers below to the one list of causes.

use std::{error::Error, io};

use catalog::{Cause, Failure};
use pki::TlsFailure;

/// Why a connection, or a request on it, failed. Looks through the sources of an error of hyper,
/// tokio or rustls; what nothing is known of counts as [`Cause::ConnectionLost`].
pub fn failure_of(error: &(dyn Error + 'static)) -> Failure {
    let mut cause = None;
    let mut next = Some(error);
    let mut deepest = error;
    while let Some(error) = next {
        if let Some(failure) = known(error) {
            return failure;
        }
        cause = cause.or_else(|| hint(error));
        deepest = error;
        next = source(error);
    }
    let text = text(error, deepest);
    match pki::classify_text(&text) {
        Some(tls) => as_failure(&tls),
        None => Failure::new(cause.unwrap_or(Cause::ConnectionLost), text),
    }
}

/// `io::Error` hides what it wraps from `source()`; the wrapped error is the one that tells.
fn source<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn known(error: &(dyn Error + 'static)) -> Option<Failure> {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return Some(failure.clone());
    }
    error.downcast_ref::<rustls::Error>().map(tls_failure)
}

/// A cause that a deeper error may still refine.
fn hint(error: &(dyn Error + 'static)) -> Option<Cause> {
    let hyper = error.downcast_ref::<hyper::Error>()?;
    match () {
        () if hyper.is_timeout() => Some(Cause::ResponseTimeout),
        // Garbage where a status line should be.
        () if hyper.is_parse() => Some(Cause::ProtocolError),
        // It speaks before it was asked. hyper has no predicate for this kind.
        () if hyper.to_string().contains("unexpected message") => Some(Cause::ProtocolError),
        () => None,
    }
}

fn text(error: &(dyn Error + 'static), deepest: &(dyn Error + 'static)) -> String {
    let (outer, inner) = (error.to_string(), deepest.to_string());
    match outer.contains(&inner) {
        true => outer,
        false => format!("{outer}: {inner}"),
    }
}

/// Why TLS failed.
pub(crate) fn tls_failure(error: &rustls::Error) -> Failure {
    as_failure(&pki::classify(error))
}

fn as_failure(failure: &TlsFailure) -> Failure {
    let cause = match failure {
        TlsFailure::UnknownAuthority => Cause::UnknownAuthority,
        TlsFailure::Expired { .. } | TlsFailure::NotYetValid { .. } => Cause::CertificateExpired,
        TlsFailure::NameMismatch { .. } => Cause::CertificateNameMismatch,
        TlsFailure::OursRefused(_) => Cause::IdentityRejected,
        _ => Cause::TlsFailed,
    };
    Failure::new(cause, failure.to_string())
}

/// Why a handshake failed: the error of rustls, or that of the socket.
pub(crate) fn handshake_failure(error: &io::Error) -> Failure {
    if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return tls_failure(tls);
    }
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            Failure::new(Cause::TlsFailed, "it closed the connection during the TLS handshake")
        }
        _ => Failure::new(Cause::ConnectionLost, format!("during the TLS handshake: {error}")),
    }
}
