//! Everything about the door that can be set, once, for the command line and for the file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Period;

/// The one version of the configuration file there is.
pub(crate) const API_VERSION: &str = "config.trellis.dev/v1alpha1";

/// Configuration of the door. Every key is also a flag of `trellis serve`.
#[derive(Args, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "Configuration of the Trellis door", rename = "Door")]
pub(crate) struct ServeOptions {
    /// Version of this file's form
    #[arg(skip)]
    #[schemars(required, extend("const" = "config.trellis.dev/v1alpha1"))]
    pub(crate) api_version: Option<String>,
    /// Kind of this file
    #[arg(skip)]
    #[schemars(required, extend("const" = "Door"))]
    pub(crate) kind: Option<String>,

    /// Address to listen on; port 0 takes any free port [default: 127.0.0.1:6443]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Folder for everything that is kept: keys, certificates, registrations, last good discovery
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Folder with registrations as YAML or JSON files, watched
    #[arg(long, value_name = "DIR")]
    pub(crate) registrations: Option<PathBuf>,
    /// Kubeconfig of the core API server; without it there are only federated servers
    #[arg(long, value_name = "KUBECONFIG")]
    pub(crate) core: Option<PathBuf>,
    /// Context of the core's kubeconfig [default: its current context]
    #[arg(long, value_name = "NAME")]
    pub(crate) core_context: Option<String>,
    /// Route the core's Service-backed APIServices here, instead of through the core [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) adopt_apiservices: Option<bool>,
    /// Install the CustomResourceDefinition of APIServer in the core
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) install_crds: Option<bool>,
    /// Serve discovery and OpenAPI of all servers, but do not proxy to them
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) discovery_only: Option<bool>,

    /// Serving certificate chain, PEM [default: self-made, under the state folder]
    #[arg(long, value_name = "FILE", help_heading = "Certificates of the door")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Key of the serving certificate, PEM
    #[arg(long, value_name = "FILE", help_heading = "Certificates of the door")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Further names and addresses for the self-made serving certificate
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Certificates of the door")]
    pub(crate) tls_san: Vec<String>,
    /// Client certificate that the door shows to servers as their front proxy, PEM
    /// [default: self-made; its authority is written to STATE/front-proxy-ca.crt]
    #[arg(long, value_name = "FILE", help_heading = "Certificates of the door")]
    pub(crate) proxy_client_cert: Option<PathBuf>,
    /// Key of the front proxy's certificate, PEM
    #[arg(long, value_name = "FILE", help_heading = "Certificates of the door")]
    pub(crate) proxy_client_key: Option<PathBuf>,

    /// Authorities of client certificates, PEM: common name is the user, organisations are the groups
    #[arg(long, value_name = "FILE", help_heading = "Who may come in")]
    pub(crate) client_ca: Option<PathBuf>,
    /// Bearer tokens: lines of `token,user,uid,"group1,group2"`
    #[arg(long, value_name = "FILE", help_heading = "Who may come in")]
    pub(crate) token_file: Option<PathBuf>,
    /// Authorities of a front proxy before the door, PEM: who shows such a certificate may name the user
    #[arg(long, value_name = "FILE", help_heading = "Who may come in")]
    pub(crate) requestheader_client_ca: Option<PathBuf>,
    /// Common names that a front proxy's certificate may have [default: any]
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Who may come in")]
    pub(crate) requestheader_allowed_names: Vec<String>,
    /// Headers in which a front proxy says the user's name; the first that is there counts
    /// [default: X-Remote-User]
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Who may come in")]
    pub(crate) requestheader_username_headers: Vec<String>,
    /// Headers in which it says the user's groups, one line for each [default: X-Remote-Group]
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Who may come in")]
    pub(crate) requestheader_group_headers: Vec<String>,
    /// Headers in which it says the user's UID [default: X-Remote-Uid]
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Who may come in")]
    pub(crate) requestheader_uid_headers: Vec<String>,
    /// What the names of headers with further attributes of the user begin with [default: X-Remote-Extra-]
    #[arg(long, value_name = "PREFIX", value_delimiter = ',', help_heading = "Who may come in")]
    pub(crate) requestheader_extra_headers_prefix: Vec<String>,

    /// Reading requests in flight, long-running ones not counted; more get 429 [default: 400]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    #[schemars(range(min = 1))]
    pub(crate) max_requests_inflight: Option<usize>,
    /// Writing requests in flight; more get 429 [default: 200]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    #[schemars(range(min = 1))]
    pub(crate) max_mutating_requests_inflight: Option<usize>,
    /// Client connections at one time; more wait [default: 20000]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    #[schemars(range(min = 1))]
    pub(crate) max_connections: Option<usize>,
    /// Time that an ordinary request may take [default: 60s]
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    pub(crate) request_timeout: Option<Period>,
    /// Time that the headers of a request may take to arrive, and that a connection may idle [default: 32s]
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    pub(crate) header_timeout: Option<Period>,
    /// Time between failing /readyz and closing connections, for load balancers to notice [default: 0s]
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    pub(crate) shutdown_delay: Option<Period>,
    /// Time that requests in flight get to finish when the door stops [default: 60s]
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    pub(crate) shutdown_grace: Option<Period>,

    /// File for audit events as JSON lines, `-` for standard output [default: no audit]
    #[arg(long, value_name = "FILE", help_heading = "Logs")]
    pub(crate) audit_log: Option<PathBuf>,
    /// Log filter: a level, or `target=level` pairs with commas between [default: info]
    #[arg(long, value_name = "FILTER", env = "TRELLIS_LOG", help_heading = "Logs")]
    pub(crate) log: Option<String>,
    /// Form of the log on standard error [default: text]
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Logs")]
    pub(crate) log_format: Option<LogFormat>,
}

/// Form of the log.
#[derive(ValueEnum, Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum LogFormat {
    /// One line for a person.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl ServeOptions {
    /// These options, and where they say nothing, those of `base`.
    pub(crate) fn over(self, base: Self) -> Self {
        macro_rules! first_given {
            ($($field:ident),* ; $($list:ident),*) => {
                Self {
                    $($field: self.$field.or(base.$field),)*
                    $($list: if self.$list.is_empty() { base.$list } else { self.$list },)*
                }
            };
        }
        first_given!(
            api_version, kind, listen, state, registrations, core, core_context, adopt_apiservices,
            install_crds, discovery_only, tls_cert, tls_key, proxy_client_cert, proxy_client_key, client_ca,
            token_file, requestheader_client_ca, max_requests_inflight, max_mutating_requests_inflight,
            max_connections, request_timeout, header_timeout, shutdown_delay, shutdown_grace, audit_log, log, log_format;
            tls_san, requestheader_allowed_names, requestheader_username_headers,
            requestheader_group_headers, requestheader_uid_headers, requestheader_extra_headers_prefix
        )
    }
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;

    /// One definition serves both, so they can only part where a field is skipped or renamed by hand.
    #[test]
    fn every_flag_is_a_key_and_every_key_a_flag() {
        let command = ServeOptions::augment_args(clap::Command::new("serve"));
        let mut flags: Vec<String> =
            command.get_arguments().filter_map(|arg| arg.get_long()).map(super::super::key_of).collect();
        flags.extend(["apiVersion".to_owned(), "kind".to_owned()]);
        flags.sort();
        let schema = super::super::schema();
        let mut keys: Vec<String> =
            schema["properties"].as_object().expect("properties").keys().cloned().collect();
        keys.sort();
        assert_eq!(flags, keys);
    }

    #[test]
    fn flags_go_before_the_file() {
        let file = ServeOptions {
            listen: Some("1.2.3.4:1".into()),
            max_connections: Some(5),
            tls_san: vec!["a".into()],
            ..ServeOptions::default()
        };
        let flags = ServeOptions { listen: Some("5.6.7.8:2".into()), ..ServeOptions::default() };
        let both = flags.over(file);
        assert_eq!(both.listen.as_deref(), Some("5.6.7.8:2"));
        assert_eq!(both.max_connections, Some(5));
        assert_eq!(both.tls_san, ["a"]);
    }
}
