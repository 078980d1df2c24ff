//! Keys and certificates from cradle to reload: making them, keeping them on disk, reading what a
//! peer shows, and the rustls configurations of both sides.
//!
//! Keys are P-256. The TLS provider is aws-lc-rs and is always passed explicitly, so that nothing
//! depends on a default of the process.

mod authority;
mod certified;
mod classify;
mod client;
mod der;
mod ensure;
mod error;
mod files;
mod kubeconfig;
mod leaf;
mod peer;
mod pem;
mod provider;
mod reload;
mod server;
mod signing;
mod verifier;

pub use authority::Authority;
pub use certified::CertifiedKey;
pub use classify::{TlsFailure, classify, classify_text};
pub use client::{ClientTls, Roots, server_name};
pub use ensure::{Ensured, ensure_authority, ensure_leaf};
pub use error::Error;
pub use files::{create_private_dir, read_limited, write_private};
pub use kubeconfig::{Kubeconfig, KubeconfigUser};
pub use leaf::Leaf;
pub use peer::Peer;
pub use pem::{certificates, private_key};
pub use provider::provider;
pub use reload::{Contents, Reloading};
pub use server::{ClientAuthorities, PeerAuthority, ServerTls, ticketer};
pub use signing::{ensure_secret, ensure_signing_key};

/// ALPN of HTTP/2.
pub const ALPN_H2: &[u8] = b"h2";
/// ALPN of HTTP/1.1.
pub const ALPN_HTTP1: &[u8] = b"http/1.1";
