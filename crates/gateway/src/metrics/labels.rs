//! What requests are told apart by.

use std::hash::{DefaultHasher, Hash, Hasher};

use kube_wire::request_info::RequestInfo;

/// What tells series apart, as upstream labels them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Labels {
    pub(super) verb: &'static str,
    pub(super) group: Box<str>,
    pub(super) version: Box<str>,
    pub(super) resource: Box<str>,
    pub(super) subresource: Box<str>,
    pub(super) scope: &'static str,
}

/// The same, borrowed from a request.
#[derive(Clone, Copy, Hash)]
pub(super) struct Borrowed<'a> {
    pub(super) verb: &'static str,
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    pub(super) resource: &'a str,
    pub(super) subresource: &'a str,
    pub(super) scope: &'static str,
}

impl<'a> Borrowed<'a> {
    pub(super) fn of(info: &'a RequestInfo<'_>, long_running: bool) -> Self {
        if !info.is_resource {
            let first = info.path.split('/').nth(1).unwrap_or_default();
            let own = ["api", "apis", "healthz", "livez", "metrics", "openapi", "readyz", "version"];
            let subresource = own.iter().find(|known| **known == first).copied().unwrap_or_default();
            return Self {
                verb: verb(&info.verb),
                group: "",
                version: "",
                resource: "",
                subresource,
                scope: "",
            };
        }
        let verb = match (long_running, &*info.subresource) {
            (true, "attach" | "exec" | "portforward" | "proxy") => "CONNECT",
            _ => verb(&info.verb),
        };
        let scope = match (&*info.namespace, &*info.name) {
            _ if verb == "POST" => "resource",
            (_, name) if !name.is_empty() => "resource",
            ("", _) => "cluster",
            _ => "namespace",
        };
        let (group, version) = (&*info.group, &*info.version);
        Self { verb, group, version, resource: &info.resource, subresource: &info.subresource, scope }
    }

    pub(super) fn owned(&self) -> Labels {
        Labels {
            verb: self.verb,
            group: self.group.into(),
            version: self.version.into(),
            resource: self.resource.into(),
            subresource: self.subresource.into(),
            scope: self.scope,
        }
    }

    /// Labels are chosen by clients only where an answer was good; collisions cost a comparison.
    pub(super) fn hash_code(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    pub(super) fn same(&self, labels: &Labels) -> bool {
        self.verb == labels.verb
            && self.scope == labels.scope
            && self.resource == &*labels.resource
            && self.subresource == &*labels.subresource
            && self.group == &*labels.group
            && self.version == &*labels.version
    }
}

/// Upstream's words for verbs; what is no method of an API is `OTHER`.
fn verb(verb: &str) -> &'static str {
    match verb {
        "get" => "GET",
        "list" => "LIST",
        "watch" => "WATCH",
        "create" | "post" => "POST",
        "update" | "put" => "PUT",
        "patch" => "PATCH",
        "delete" => "DELETE",
        "deletecollection" => "DELETECOLLECTION",
        "proxy" | "connect" => "CONNECT",
        "head" => "HEAD",
        "options" => "OPTIONS",
        _ => "OTHER",
    }
}

impl Labels {
    pub(super) fn borrowed(&self) -> Borrowed<'_> {
        let Self { verb, group, version, resource, subresource, scope } = self;
        Borrowed { verb, group, version, resource, subresource, scope }
    }

    /// The combination in which everything is counted that has none of its own.
    pub(super) fn unknown(&self) -> Self {
        Borrowed { verb: self.verb, group: "", version: "", resource: "unknown", subresource: "", scope: "" }
            .owned()
    }

    pub(super) fn with<'a>(&'a self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let mut labels = vec![
            ("verb", self.verb),
            ("group", &*self.group),
            ("version", &*self.version),
            ("resource", &*self.resource),
            ("subresource", &*self.subresource),
            ("scope", self.scope),
        ];
        labels.extend_from_slice(more);
        labels
    }

    pub(super) fn sort_key(&self) -> (&str, &str, &str, &str, &str, &str) {
        (&self.group, &self.version, &self.resource, &self.subresource, self.verb, self.scope)
    }
}
