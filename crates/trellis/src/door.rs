//! The door, as the commands see it: a Kubernetes API found through a kubeconfig.

mod client;
mod kubeconfig;
mod registration;

pub(crate) use client::Door;
pub(crate) use registration::{Registration, State, default_name};
