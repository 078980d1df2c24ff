//! Networks and the way to the API.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::patterns;

/// How clients reach the API.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Api {
    /// Host and port that clients and nodes use, `host[:port]`. Default: the control-plane host, port 6443.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::ENDPOINT))]
    pub endpoint: Option<String>,
    /// More names and addresses that stand in the serving certificate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(regex(pattern = patterns::CERTIFICATE_NAME)))]
    pub extra_names: Vec<String>,
}

/// Networks inside the cluster. None may overlap another or contain a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Network {
    /// Network of the pods, IPv4; each node gets a /24 of it.
    #[schemars(regex(pattern = patterns::CIDR))]
    pub pods: String,
    /// Network of the Services, IPv4.
    #[schemars(regex(pattern = patterns::CIDR))]
    pub services: String,
    /// Service address of the cluster's DNS. Default: the tenth of `services`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::IPV4))]
    pub dns_address: Option<String>,
    /// Domain below which Services have names.
    #[schemars(regex(pattern = patterns::DOMAIN), length(max = 253))]
    pub dns_domain: String,
    /// What connects the pods of different hosts.
    pub plugin: Plugin,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            pods: "10.244.0.0/16".to_owned(),
            services: "10.96.0.0/12".to_owned(),
            dns_address: None,
            dns_domain: "cluster.local".to_owned(),
            plugin: Plugin::Flannel,
        }
    }
}

/// What connects the pods of different hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Plugin {
    /// flannel over VXLAN.
    #[default]
    Flannel,
    /// Nothing: nodes stay NotReady until you install one.
    None,
}

impl Plugin {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flannel => "flannel",
            Self::None => "none",
        }
    }
}

/// How hosts reach what is outside. Pods are not told of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Proxy {
    /// Proxy for http URLs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::PROXY))]
    pub http: Option<String>,
    /// Proxy for https URLs. Default: that for http.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::PROXY))]
    pub https: Option<String>,
    /// What is reached directly, besides the cluster itself: hosts, their networks and the API are added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(regex(pattern = patterns::NO_PROXY)))]
    pub no_proxy: Vec<String>,
}
