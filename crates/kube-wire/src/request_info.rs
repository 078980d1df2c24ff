//! What a request is about: verb, group, version, namespace, resource, name.

mod parse;

use std::borrow::Cow;

/// The attributes of a request, from its method and URL alone. For a request without escapes in its
/// path everything is borrowed from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestInfo<'a> {
    /// Whether it is about an API resource, and not about a path such as `/version` or `/apis/g/v`.
    pub is_resource: bool,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, `proxy`; for
    /// what is not a resource the method in lower case.
    pub verb: Cow<'a, str>,
    /// `api` or `apis`; as upstream, also for `/apis/G/V`, and empty for what else is not a resource.
    pub api_prefix: Cow<'a, str>,
    /// API group, empty for the legacy group.
    pub group: Cow<'a, str>,
    /// API version.
    pub version: Cow<'a, str>,
    /// Namespace, empty for what is cluster-scoped or spans all namespaces.
    pub namespace: Cow<'a, str>,
    /// Plural resource name.
    pub resource: Cow<'a, str>,
    /// Subresource, without the resource.
    pub subresource: Cow<'a, str>,
    /// Object name, from the path or from a field selector on `metadata.name`.
    pub name: Cow<'a, str>,
    /// The path with its escapes decoded.
    pub path: Cow<'a, str>,
    /// The label selector as sent, for `list`, `watch` and `deletecollection`.
    pub label_selector: Cow<'a, str>,
    /// The field selector as sent, for `list`, `watch` and `deletecollection`.
    pub field_selector: Cow<'a, str>,
}

/// A request line that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestInfoError {
    /// A `%` without two hexadecimal digits after it.
    #[error("invalid URL escape in the request path")]
    Escape,
    /// `/api/v1/watch` or `/api/v1/proxy` with nothing after it.
    #[error("unable to determine kind and namespace from url, {0}")]
    SpecialVerb(String),
}

impl<'a> RequestInfo<'a> {
    /// Reads the attributes from the method, the path as sent (with escapes) and the query without `?`.
    ///
    /// # Errors
    /// A path with a broken escape, or one that ends after a special verb.
    pub fn parse(method: &'a str, path: &'a str, query: &'a str) -> Result<Self, RequestInfoError> {
        parse::parse(method, path, query)
    }

    /// Whether it may last as long as it likes: watches, and streams into a container or through a proxy.
    pub fn is_long_running(&self) -> bool {
        if !self.is_resource {
            return self.path.starts_with("/debug/pprof/");
        }
        matches!(&*self.verb, "watch" | "proxy")
            || matches!(&*self.subresource, "attach" | "exec" | "proxy" | "log" | "portforward")
    }

    /// `resource.group`, or the resource alone in the legacy group, as in error messages.
    pub fn group_resource(&self) -> String {
        crate::status::qualified(&self.resource, &self.group)
    }
}
