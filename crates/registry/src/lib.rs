//! Which servers exist and how they are: registrations, stores, probes, discovery and OpenAPI polling.
//! Publishes the catalog.

pub mod api_service;
mod clock;
mod disk;
pub mod documents;
pub mod files;
pub mod object;
pub mod registration;
pub mod store;
pub mod validation;
