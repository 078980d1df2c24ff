//! Which server answers for which group: merge, priority, conflicts, freshness, OpenAPI index.
//!
//! Pure: no I/O, no async runtime. [`Catalog`] is an immutable value, built once for each change and
//! only read by requests.

pub mod bounds;
mod build;
mod built_in;
mod catalog;
mod contribution;
mod document;
mod encoded;
mod failure;
mod health;
pub mod openapi;
mod ownership;
mod routes;
mod secret;
mod server;
mod service;

pub use build::{Built, Conflict, Rejected, Rejection};
pub use built_in::is_built_in_group;
pub use catalog::Catalog;
pub use contribution::{
    Contribution, Discovery, DocumentRef, Documents, GroupOffer, OpenApi, Origin, SelectedVersion, Selection,
    VersionOffer,
};
pub use document::{Document, Form};
pub use failure::{Cause, Failure};
pub use health::{Condition, EndpointHealth, HealthReport, Moment, Observation, Observer, ServerHealth};
pub use ownership::Ownership;
pub use routes::Route;
pub use secret::Secret;
pub use server::{
    ClientCertificate, Credentials, Endpoint, IdentityMode, Limits, Role, Roots, Server, ServerName, Trust,
};
pub use service::{Body, BodyError, Service, ServiceFuture};
