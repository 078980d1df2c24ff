//! `trellis register` and `trellis unregister`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::DoorArgs;

/// Put an API server behind the door.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    trellis register https://notes.example.com:8443\n  \
    trellis register https://10.0.0.7:8443/apis-live --name notes --ca ca.crt --server-name notes.internal\n  \
    trellis register https://10.0.0.7:8443 https://10.0.0.8:8443 --name notes --ca ca.crt\n  \
    trellis register https://other-cluster:6443 --identity impersonate\n\n\
    Which groups the server has is discovered; there is nothing to type in.")]
pub(crate) struct RegisterArgs {
    /// Base URL of the server, with or without a path; several for several endpoints of one server
    #[arg(value_name = "URL", required = true)]
    pub(crate) urls: Vec<String>,
    /// Name of the registration [default: the host name of the first URL]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Certificate authorities that may have signed the server's certificate, PEM [default: the system's]
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Name expected in the server's certificate [default: the host of the URL]
    #[arg(long, value_name = "NAME")]
    pub(crate) server_name: Option<String>,
    /// How the caller's identity reaches the server
    #[arg(long, value_enum, value_name = "HOW", default_value = "requestHeader")]
    pub(crate) identity: IdentityArg,
    /// Path of the server's OpenAPI v2 document, when it is not /openapi/v2
    #[arg(long, value_name = "PATH")]
    pub(crate) openapi_path: Option<String>,
    /// Let clients that ask for it go to the server directly: its address appears in discovery
    #[arg(long)]
    pub(crate) direct: bool,
    /// Replace a registration that has this name
    #[arg(long)]
    pub(crate) replace: bool,
    /// Return when the registration is stored, without waiting for the server to be available
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// How long to wait for the server to be available
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub(crate) timeout: crate::config::Period,
    /// The door.
    #[command(flatten)]
    pub(crate) door: DoorArgs,
}

/// Take an API server away.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trellis unregister notes")]
pub(crate) struct UnregisterArgs {
    /// Name of the registration, as `trellis servers` shows it
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The door.
    #[command(flatten)]
    pub(crate) door: DoorArgs,
}

/// How the caller's identity reaches the server.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
#[value(rename_all = "camelCase")]
pub(crate) enum IdentityArg {
    /// `X-Remote-*` headers, which the server trusts for the door's client certificate.
    RequestHeader,
    /// `Impersonate-*` headers under the door's own credentials.
    Impersonate,
    /// The caller's own bearer token, untouched.
    PassThrough,
}

impl IdentityArg {
    /// The value of `spec.identity` in a registration.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::RequestHeader => "requestHeader",
            Self::Impersonate => "impersonate",
            Self::PassThrough => "passThrough",
        }
    }
}
