//! One rule: what it allows, and what it covers of another.

use kube_wire::RequestInfo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const ALL: &str = "*";

/// PolicyRule holds information that describes a policy rule, but does not contain information about who the
/// rule applies to or which namespace the rule applies to.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "PolicyRule")]
pub struct Rule {
    /// Verbs that apply to all of the resources in this rule; `*` is all.
    pub verbs: Vec<String>,
    /// API groups of the resources; empty text is the core group, `*` is all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    /// Resources; `*` is all, `*/scale` is this subresource of all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// Names that the rule is about; none: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_names: Vec<String>,
    /// Paths that are no resources; a star may stand at the end.
    #[serde(rename = "nonResourceURLs", skip_serializing_if = "Vec::is_empty")]
    pub non_resource_urls: Vec<String>,
}

fn has(list: &[String], one: &str) -> bool {
    list.iter().any(|own| own == one)
}

fn has_or_all(list: &[String], one: &str) -> bool {
    has(list, one) || has(list, ALL)
}

/// Whether a path of a rule, maybe with a star at its end, means this one.
fn means(own: &str, path: &str) -> bool {
    own == path || (own.ends_with('*') && path.starts_with(own.trim_end_matches('*')))
}

impl Rule {
    /// Everything there is: two rules, because resources and paths never stand in one.
    pub(super) fn everything() -> [Self; 2] {
        let all = || vec![ALL.to_owned()];
        [
            Self { verbs: all(), api_groups: all(), resources: all(), ..Self::default() },
            Self { verbs: all(), non_resource_urls: all(), ..Self::default() },
        ]
    }

    /// Whether a request may be made by this rule.
    pub fn allows(&self, request: &RequestInfo<'_>) -> bool {
        if !has_or_all(&self.verbs, &request.verb) {
            return false;
        }
        if !request.is_resource {
            return self.non_resource_urls.iter().any(|own| means(own, &request.path));
        }
        let whole = match &*request.subresource {
            "" => request.resource.to_string(),
            part => format!("{}/{part}", request.resource),
        };
        let part =
            || !request.subresource.is_empty() && has(&self.resources, &format!("*/{}", request.subresource));
        has_or_all(&self.api_groups, &request.group)
            && (has_or_all(&self.resources, &whole) || part())
            && (self.resource_names.is_empty() || has(&self.resource_names, &request.name))
    }

    /// The rule in pieces with one group, one resource, one verb and at most one name each, or one path and one
    /// verb.
    pub(super) fn pieces(&self) -> Vec<Self> {
        let one = |text: &String| vec![text.clone()];
        let mut pieces = Vec::new();
        for group in &self.api_groups {
            for resource in &self.resources {
                for verb in &self.verbs {
                    let piece = Self {
                        verbs: one(verb),
                        api_groups: one(group),
                        resources: one(resource),
                        ..Self::default()
                    };
                    match &*self.resource_names {
                        [] => pieces.push(piece),
                        names => pieces.extend(
                            names.iter().map(|name| Self { resource_names: one(name), ..piece.clone() }),
                        ),
                    }
                }
            }
        }
        for url in &self.non_resource_urls {
            for verb in &self.verbs {
                pieces.push(Self { verbs: one(verb), non_resource_urls: one(url), ..Self::default() });
            }
        }
        pieces
    }

    /// Whether whoever has this rule has all that a piece allows.
    pub(super) fn covers(&self, piece: &Self) -> bool {
        let all = |own: &[String], wanted: &[String]| wanted.iter().all(|one| has(own, one));
        let resource = |wanted: &String| {
            let part = wanted.split_once('/').map(|(_, part)| format!("*/{part}"));
            has_or_all(&self.resources, wanted) || part.is_some_and(|part| has(&self.resources, &part))
        };
        let url = |wanted: &String| self.non_resource_urls.iter().any(|own| means(own, wanted));
        let names = self.resource_names.is_empty()
            || (!piece.resource_names.is_empty() && all(&self.resource_names, &piece.resource_names));
        (has(&self.verbs, ALL) || all(&self.verbs, &piece.verbs))
            && (has(&self.api_groups, ALL) || all(&self.api_groups, &piece.api_groups))
            && piece.resources.iter().all(resource)
            && piece.non_resource_urls.iter().all(url)
            && names
    }

    /// As upstream shows a rule in errors.
    pub(super) fn shown(&self) -> String {
        let parts = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.non_resource_urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let some = parts.into_iter().filter(|(_, list)| !list.is_empty());
        let parts: Vec<_> = some.map(|(name, list)| format!("{name}:{}", quoted(list))).collect();
        format!("{{{}}}", parts.join(", "))
    }
}

/// As Go writes a list of texts with `%q`.
pub(super) fn quoted(list: &[String]) -> String {
    let quoted: Vec<_> = list.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", quoted.join(" "))
}
