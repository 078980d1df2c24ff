//! The one object that describes a cluster: its types, its schema, its rules, and everything that
//! follows from it.
//!
//! [`read`] takes text and gives a [`Cluster`] in which nothing is wrong, or all mistakes at once.
//! [`Cluster::resolve`] decides everything; what comes after only fills in. No input or output here.

mod check;
mod cidr;
mod cluster;
mod config_keys;
mod document;
mod finding;
mod flags;
mod later;
mod object;
mod resolve;
mod schema;
mod shape;
mod show;
mod starter;
mod versions;

pub use check::read;
pub use cluster::{Cluster, Endpoint};
pub use finding::{Finding, Rule, Source};
pub use flags::{Flag, flag, owned};
pub use object::*;
pub use resolve::{
    CgroupDriver, Content, Decision, Decisions, HostFacts, Item, Resolved, ResolvedHost, TUNABLE, Tunable,
};
pub use schema::{inventory_schema, object_schema};
pub use starter::{StarterHost, starter};
pub use versions::{NEWEST, NoVersion, RELEASES, Release, Version};
