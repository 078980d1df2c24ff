//! `/healthz`, `/livez`, `/readyz`, and how every backend is.
