//! The one TLS provider.

use std::sync::{Arc, OnceLock};

use rustls::crypto::CryptoProvider;

/// aws-lc-rs, made once. Pass it to every rustls builder; the process default is never relied on.
pub fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    PROVIDER.get_or_init(|| Arc::new(rustls::crypto::aws_lc_rs::default_provider())).clone()
}
