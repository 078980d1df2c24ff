//! Which servers exist and how they are: registrations, stores, probes, discovery and OpenAPI polling.
//! Publishes the catalog.
//!
//! [`Registry::start`] restores what was last known and asks nobody before it returns. From then on one
//! task for each server follows it, and the hub builds the next catalog whenever something changes.

mod api;
pub mod api_service;
mod asker;
mod candidate;
mod clock;
mod conditions;
mod config;
mod core;
mod discovery;
mod disk;
pub mod documents;
pub mod files;
mod glance;
mod hub;
mod last_good;
pub mod object;
mod openapi;
pub mod registration;
mod registry;
mod resolve;
pub mod store;
mod task;
pub mod validation;

pub use api::crd_manifest;
pub use config::{Config, CoreConfig, PROBE_USER, Polling, ProxyClientFiles};
pub use hub::Effort;
pub use registry::{Registry, StartError};
