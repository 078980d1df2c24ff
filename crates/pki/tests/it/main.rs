//! Certificates made, stored, shown and judged.

mod authorities;
mod files;
mod kubeconfig;
mod peers;
mod reloading;
mod tls;
