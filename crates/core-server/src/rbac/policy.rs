//! All roles and bindings at one time.

use std::collections::BTreeMap;

use apiserver::{
    object::{metadata, text},
    resource::Fields,
};
use kube_wire::{RequestInfo, UserInfo};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ClusterRole, RoleBinding, RoleRef, Rule, Subject};

/// What is decided, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it may be done.
    pub allowed: bool,
    /// By which binding it is allowed, or what is wrong with bindings; in upstream's words, may be empty.
    pub reason: String,
}

/// Roles and bindings. Within a kind they are looked at in the order of their names.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// By namespace and name.
    pub(super) roles: BTreeMap<(String, String), Vec<Rule>>,
    pub(super) cluster_roles: BTreeMap<String, Gathering>,
    cluster_bindings: Vec<Binding>,
    /// By namespace.
    bindings: BTreeMap<String, Vec<Binding>>,
}

/// A cluster role.
#[derive(Clone, Debug)]
pub(super) struct Gathering {
    pub(super) role: ClusterRole,
    pub(super) labels: BTreeMap<String, String>,
}

/// A binding of either kind; a cluster role binding has no namespace.
#[derive(Clone, Debug)]
struct Binding {
    name: String,
    namespace: String,
    role: RoleRef,
    subjects: Vec<Subject>,
}

/// The four kinds, by the names under which they are stored.
pub(super) const RESOURCES: [&str; 4] = [
    "roles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "clusterrolebindings.rbac.authorization.k8s.io",
];

fn body<T: DeserializeOwned>(fields: &Fields) -> Option<T> {
    T::deserialize(&Value::Object(fields.clone())).ok()
}

impl Policy {
    /// Of objects as they are stored, in the order of [`RESOURCES`]. What cannot be read allows nothing.
    pub(super) fn new<'o>(objects: impl IntoIterator<Item = (usize, &'o Fields)>) -> Self {
        let mut policy = Self::default();
        for (kind, fields) in objects {
            let (name, namespace) =
                (text(fields, "metadata.name").to_owned(), text(fields, "metadata.namespace").to_owned());
            match kind {
                0 => {
                    let role: Option<super::Role> = body(fields);
                    let rules = role.and_then(|role| role.rules).unwrap_or_default();
                    policy.roles.insert((namespace, name), rules);
                }
                2 => {
                    let Some(role) = body(fields) else { continue };
                    policy.cluster_roles.insert(name, Gathering { role, labels: metadata(fields).labels });
                }
                // Both kinds of bindings have the same fields.
                _ => {
                    let Some(RoleBinding { subjects, role_ref }) = body(fields) else { continue };
                    let binding = Binding { name, namespace, role: role_ref, subjects };
                    match kind {
                        1 => policy.bindings.entry(binding.namespace.clone()).or_default().push(binding),
                        _ => policy.cluster_bindings.push(binding),
                    }
                }
            }
        }
        policy
    }

    /// The rules of a role that a binding in this namespace names.
    ///
    /// # Errors
    /// In upstream's words, when there is no such role.
    pub(super) fn role(&self, role: &RoleRef, namespace: &str) -> Result<&[Rule], String> {
        let (found, kind) = match &*role.kind {
            "Role" => {
                let key = (namespace.to_owned(), role.name.clone());
                (self.roles.get(&key).map(Vec::as_slice), "role")
            }
            "ClusterRole" => {
                let found = self.cluster_roles.get(&role.name);
                (found.map(|found| found.role.rules.as_deref().unwrap_or_default()), "clusterrole")
            }
            other => return Err(format!("unsupported role reference kind: {other:?}")),
        };
        found.ok_or_else(|| format!("{kind}.rbac.authorization.k8s.io {:?} not found", role.name))
    }

    /// Every rule that applies to a user in a namespace, with the words for the binding that gives it; until
    /// `look` has seen enough. What is wrong with bindings on the way comes back.
    fn visit(
        &self,
        user: &UserInfo,
        namespace: &str,
        look: &mut dyn FnMut(&dyn Fn() -> String, &Rule) -> bool,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        let own = self.bindings.get(namespace).filter(|_| !namespace.is_empty());
        for binding in self.cluster_bindings.iter().chain(own.into_iter().flatten()) {
            let Some(subject) = binding.subject(user) else { continue };
            match self.role(&binding.role, &binding.namespace) {
                Err(problem) => problems.push(problem),
                Ok(rules) => {
                    for rule in rules {
                        if !look(&|| binding.described(subject), rule) {
                            return problems;
                        }
                    }
                }
            }
        }
        problems
    }

    /// Whether a user may do something.
    pub fn decide(&self, user: &UserInfo, request: &RequestInfo<'_>) -> Verdict {
        let mut allowed_by = None;
        let mut problems = self.visit(user, &request.namespace, &mut |source, rule| {
            if rule.allows(request) {
                allowed_by = Some(source());
            }
            allowed_by.is_none()
        });
        if let Some(source) = allowed_by {
            return Verdict { allowed: true, reason: format!("RBAC: allowed by {source}") };
        }
        // As upstream: one is said as it is, several in brackets, each once.
        let mut seen = Vec::new();
        problems.retain(|problem| {
            !seen.contains(problem) && {
                seen.push(problem.clone());
                true
            }
        });
        let reason = match &*problems {
            [] => String::new(),
            [one] => format!("rbac: RBAC: {one}"),
            several => format!("rbac: RBAC: [{}]", several.join(", ")),
        };
        Verdict { allowed: false, reason }
    }

    /// All rules that apply to a user in a namespace, and what is wrong with bindings.
    pub(super) fn rules_for(&self, user: &UserInfo, namespace: &str) -> (Vec<Rule>, Vec<String>) {
        let mut rules = Vec::new();
        let problems = self.visit(user, namespace, &mut |_, rule| {
            rules.push(rule.clone());
            true
        });
        (rules, problems)
    }
}

impl Binding {
    /// The first of its subjects that means a user.
    fn subject(&self, user: &UserInfo) -> Option<&Subject> {
        self.subjects.iter().find(|subject| match &*subject.kind {
            "User" => subject.name == user.name,
            "Group" => user.in_group(&subject.name),
            "ServiceAccount" => {
                let namespace = self.namespace_of(subject);
                !namespace.is_empty() && user.service_account() == Some((namespace, &subject.name))
            }
            _ => false,
        })
    }

    /// A service account without a namespace is one of the binding's.
    fn namespace_of<'b>(&'b self, subject: &'b Subject) -> &'b str {
        if subject.namespace.is_empty() { &self.namespace } else { &subject.namespace }
    }

    fn described(&self, subject: &Subject) -> String {
        let (kind, own) = match &*self.namespace {
            "" => ("ClusterRoleBinding", self.name.clone()),
            namespace => ("RoleBinding", format!("{}/{namespace}", self.name)),
        };
        let whom = match &*subject.kind {
            "ServiceAccount" => format!("{}/{}", subject.name, self.namespace_of(subject)),
            _ => subject.name.clone(),
        };
        let RoleRef { kind: role_kind, name: role, .. } = &self.role;
        format!("{kind} {own:?} of {role_kind} {role:?} to {} {whom:?}", subject.kind)
    }
}
