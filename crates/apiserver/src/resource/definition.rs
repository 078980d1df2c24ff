//! A resource as data.

use std::sync::{Arc, OnceLock};

use kube_wire::discovery::v1::group_version;
use serde_json::json;

use super::{Action, Answers, Column, Generation, Names, Plain, Scale, Scope, Strategy, Version};
use crate::{
    form::Form,
    managed::Ownership,
    validation::names::{NameRule, dns_subdomain, is_dns_label},
};

/// All verbs, in alphabetical order.
pub const VERBS: [&str; 8] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// Everything that the library must know of a resource.
#[derive(Clone)]
pub struct Definition {
    /// API group, empty for the core group.
    pub group: String,
    /// What it is called.
    pub names: Names,
    /// Where its objects live.
    pub scope: Scope,
    /// Versions that are served, the preferred one first.
    pub versions: Vec<Version>,
    /// The version in which objects are stored, by its place among them.
    pub stored: usize,
    /// What can be done with its objects, in alphabetical order.
    pub verbs: Vec<&'static str>,
    /// How objects are named.
    pub name_rule: NameRule,
    /// Whether only finalizers with a domain are taken, as for the kinds that are built into Kubernetes.
    pub qualified_finalizers: bool,
    /// When the generation counts.
    pub generation: Generation,
    /// Whether there is a `status` subresource.
    pub status: bool,
    /// The `scale` subresource.
    pub scale: Option<Scale>,
    /// Fields that field selectors may name, besides name and namespace.
    pub selectable: Vec<String>,
    /// Whether an update without a resource version is taken.
    pub unconditional_update: bool,
    /// Whether `PUT` creates what is not there.
    pub create_on_update: bool,
    /// Whether a deletion answers with the object and not with a `Status`.
    pub returns_deleted: bool,
    /// Whether answers have the form of custom resources where that differs from the kinds that Kubernetes
    /// has built in: each item of a list says its kind, and unknown field selectors have another sentence.
    pub unstructured: bool,
    /// The rules of its objects.
    pub strategy: Arc<dyn Strategy>,
    /// Answers what is created, so that nothing is stored: reviews are such. `create` is the only verb then.
    pub answers: Option<Arc<dyn Answers>>,
    /// Subresources that do something.
    pub actions: Vec<Action>,
    /// Made with the first write.
    ownership: OnceLock<Arc<Ownership>>,
}

/// A definition that cannot be served.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("resource {resource}: {problem}")]
pub struct InvalidDefinition {
    /// Which.
    pub resource: String,
    /// What is wrong.
    pub problem: String,
}

impl Definition {
    /// A namespaced resource with one version, any fields and no rules.
    pub fn new(group: &str, version: &str, kind: &str, plural: &str) -> Self {
        let names = Names {
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            kind: kind.to_owned(),
            list_kind: format!("{kind}List"),
            ..Names::default()
        };
        let version = Version {
            name: version.to_owned(),
            form: Arc::new(Form::any()),
            schema: json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            columns: vec![Column::name(), Column::age()],
            conversion: None,
        };
        Self {
            group: group.to_owned(),
            names,
            scope: Scope::Namespaced,
            versions: vec![version],
            stored: 0,
            verbs: VERBS.to_vec(),
            name_rule: dns_subdomain,
            qualified_finalizers: false,
            generation: Generation::Untouched,
            status: false,
            scale: None,
            selectable: Vec::new(),
            unconditional_update: true,
            create_on_update: false,
            returns_deleted: false,
            unstructured: false,
            strategy: Arc::new(Plain),
            answers: None,
            actions: Vec::new(),
            ownership: OnceLock::new(),
        }
    }

    /// `plural.group`, or the plural alone in the core group: the name under which it is stored, and that
    /// errors show.
    pub fn qualified_name(&self) -> String {
        match &*self.group {
            "" => self.names.plural.clone(),
            group => format!("{}.{group}", self.names.plural),
        }
    }

    /// Whether it knows this verb. Subresources have those of the object.
    pub fn allows(&self, verb: &str) -> bool {
        self.verbs.contains(&verb)
    }

    /// This definition, whose objects are answered and not stored.
    #[must_use]
    pub fn answered_by(mut self, answers: impl Answers + 'static) -> Self {
        self.verbs = vec!["create"];
        self.answers = Some(Arc::new(answers));
        self
    }

    /// The action of this name.
    pub fn action(&self, name: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.name == name)
    }

    /// Whether its objects live in namespaces.
    pub fn namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    /// `group/version` of a version.
    pub fn api_version(&self, version: &Version) -> String {
        group_version(&self.group, &version.name)
    }

    /// The version in which objects are stored.
    pub fn stored_version(&self) -> &Version {
        &self.versions[self.stored.min(self.versions.len() - 1)]
    }

    /// What has to be known to keep managed fields. The definition must not change any more.
    pub(crate) fn ownership(&self) -> Arc<Ownership> {
        Arc::clone(self.ownership.get_or_init(|| Arc::new(Ownership::new(self))))
    }

    /// Refuses what cannot be served.
    ///
    /// # Errors
    /// Without a version, and with names that are none.
    pub fn check(&self) -> Result<(), InvalidDefinition> {
        let problem = |problem: String| InvalidDefinition { resource: self.qualified_name(), problem };
        if self.versions.is_empty() || self.stored >= self.versions.len() {
            return Err(problem("it has no version in which objects could be stored".to_owned()));
        }
        for name in [&self.names.plural, &self.names.singular] {
            if let Some(sentence) = is_dns_label(name).first() {
                return Err(problem(format!("{name:?}: {sentence}")));
            }
        }
        if self.names.kind.is_empty() || self.names.list_kind.is_empty() {
            return Err(problem("it has no kind".to_owned()));
        }
        if self.answers.is_some() && self.verbs != ["create"] {
            return Err(problem("what is answered can only be created".to_owned()));
        }
        let wrong = |action: &&Action| {
            let taken =
                (action.name == "status" && self.status) || (action.name == "scale" && self.scale.is_some());
            taken
                || !is_dns_label(&action.name).is_empty()
                || self.actions.iter().filter(|other| other.name == action.name).count() > 1
        };
        if let Some(action) = self.actions.iter().find(wrong) {
            return Err(problem(format!("{:?} is no name for an action of it", action.name)));
        }
        let versions = self.versions.iter().enumerate();
        let twice = versions
            .filter(|(at, version)| self.versions[..*at].iter().any(|before| before.name == version.name));
        match twice.map(|(_, version)| &version.name).next() {
            Some(name) => Err(problem(format!("version {name} stands there twice"))),
            None => Ok(()),
        }
    }
}
