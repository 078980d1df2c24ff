//! `trellis example-server`, hidden.

use std::path::PathBuf;

use clap::Args;

/// A small federated API server: group `example.trellis.dev/v1`, kind `Note`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  \
    trellis example-server --listen 127.0.0.1:0 --state ./notes --front-proxy-ca ./door/front-proxy-ca.crt")]
pub(crate) struct ExampleServerArgs {
    /// Address to listen on; port 0 takes any free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,
    /// Folder for its certificate and its objects
    #[arg(long, value_name = "DIR")]
    pub(crate) state: PathBuf,
    /// Authority of the front proxy: only who shows a certificate of it may say who is calling
    #[arg(long, value_name = "FILE")]
    pub(crate) front_proxy_ca: PathBuf,
    /// Common names that the front proxy's certificate may have [default: any]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) front_proxy_names: Vec<String>,
    /// Stop when standard input is closed, that is when the parent is gone
    #[arg(long)]
    pub(crate) until_stdin_closes: bool,
    /// Log filter
    #[arg(long, value_name = "FILTER", env = "TRELLIS_LOG", default_value = "warn")]
    pub(crate) log: String,
}
