//! A backend that lives in this process, and the body type it shares with the data path.

use std::{future::Future, pin::Pin};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;

/// Any error of a body while it streams.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// A streaming body of either direction.
pub type Body = UnsyncBoxBody<Bytes, BodyError>;

/// The future of an in-process answer.
pub type ServiceFuture<'a> = Pin<Box<dyn Future<Output = Response<Body>> + Send + 'a>>;

/// A backend in this process. It is spoken to as any other: the caller's identity arrives in
/// `X-Remote-*` headers, which only the door can have set, and every failure is a response.
pub trait Service: Send + Sync {
    /// Answers one request; dropping the future cancels it.
    fn call(&self, request: Request<Body>) -> ServiceFuture<'_>;
}
