//! The registration API, served in this process where there is no core: enough of an API server for
//! kubectl, helm and client libraries to get, watch, apply, patch and delete registrations.

// A `Status` is made once for each refusal and lives until it is written.
#![allow(clippy::result_large_err)]

mod answer;
mod apply;
mod columns;
mod managed;
mod offer;
mod openapi;
mod options;
mod read;
mod schema;
mod watching;
mod write;

use std::sync::Arc;

use catalog::{Body, Service, ServiceFuture};
use http::{Method, Request, Response, StatusCode, request::Parts};
use kube_wire::{RequestInfo, Status, UserInfo, identity};

pub(crate) use offer::contribution;
pub use schema::crd_manifest;

use crate::{object::Resource, store::Store};
use options::Options;

/// A backend over the store.
#[derive(Debug)]
pub(crate) struct RegistrationApi {
    store: Arc<Store>,
    /// Writes wait for the disk one after the other: here rather than each on a thread of its own.
    writing: tokio::sync::Mutex<()>,
}

/// A request that has been understood.
struct Call<'a> {
    parts: &'a Parts,
    info: RequestInfo<'a>,
    resource: Resource,
    options: Options,
}

/// An answer, or the failure that becomes one.
type Answered = Result<Response<Body>, Status>;

impl Service for RegistrationApi {
    fn call(&self, request: Request<Body>) -> ServiceFuture<'_> {
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            match self.answer(&parts, body).await {
                Ok(response) => response,
                Err(status) => answer::failure(&parts, &status),
            }
        })
    }
}

impl RegistrationApi {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self { store, writing: tokio::sync::Mutex::new(()) }
    }

    async fn answer(&self, parts: &Parts, body: Body) -> Answered {
        let (path, query) = (parts.uri.path(), parts.uri.query().unwrap_or_default());
        let method = if parts.method == Method::HEAD { "GET" } else { parts.method.as_str() };
        let info = RequestInfo::parse(method, path, query)
            .map_err(|error| Status::bad_request(error.to_string()))?;
        let user = user(parts).ok_or_else(Status::unauthorized)?;
        if !info.is_resource {
            return Ok(offer::document(parts).unwrap_or_else(answer::page_not_found));
        }
        let resource = Resource::ALL
            .into_iter()
            .find(|r| r.group() == info.group && r.version() == info.version && r.plural() == info.resource);
        let Some(resource) = resource.filter(|_| info.namespace.is_empty()) else {
            return Ok(answer::page_not_found());
        };
        authorize(&user, &info)?;
        let options = Options::parse(parts, &info)?;
        let call = Call { parts, info, resource, options };
        self.dispatch(&call, body).await
    }

    async fn dispatch(&self, call: &Call<'_>, body: Body) -> Answered {
        match (&*call.info.verb, &*call.info.subresource) {
            ("get", "" | "status") => self.get(call),
            ("list", "") => self.list(call),
            ("watch", "") => self.watch(call),
            ("create", "") if call.info.name.is_empty() => self.create(call, body).await,
            ("update", "") => self.update(call, body).await,
            ("patch", "") => self.patch(call, body).await,
            ("delete", "") => self.delete(call, body).await,
            ("deletecollection", "") => self.delete_collection(call).await,
            (_, "" | "status") => {
                let action = call.parts.method.as_str();
                Err(Status::method_not_supported(call.resource.plural(), call.resource.group(), action))
            }
            _ => Ok(answer::page_not_found()),
        }
    }
}

/// Only the door can have set these headers.
fn user(parts: &Parts) -> Option<UserInfo> {
    let headers: Vec<(&str, &str)> = parts
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
        .collect();
    identity::request_header::decode(headers, &identity::request_header::Names::default())
}

/// Everybody with an identity may read; to write takes `system:masters`.
fn authorize(user: &UserInfo, info: &RequestInfo<'_>) -> Result<(), Status> {
    let reads = matches!(&*info.verb, "get" | "list" | "watch");
    let allowed =
        if reads { user.name != identity::ANONYMOUS_USER } else { user.in_group(identity::MASTERS_GROUP) };
    if allowed { Ok(()) } else { Err(Status::forbidden(&user.name, info, "")) }
}

/// The status code of an answer that brought something into being or not.
fn created(new: bool) -> StatusCode {
    if new { StatusCode::CREATED } else { StatusCode::OK }
}
