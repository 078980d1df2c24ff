//! Roles.

use std::collections::BTreeMap;

use apiserver::{
    resource::{Column, Definition, Object, Resource, Scope},
    validation::{FieldError, Path, names},
};
use kube_wire::object::time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{GROUP, Rule},
    describe,
};

/// Role is a namespaced, logical grouping of PolicyRules that can be referenced as a unit by a RoleBinding.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Role {
    /// Rules holds all the PolicyRules for this Role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<Rule>>,
}

/// ClusterRole is a cluster level, logical grouping of PolicyRules that can be referenced as a unit by a
/// RoleBinding or ClusterRoleBinding.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterRole {
    /// Rules holds all the PolicyRules for this ClusterRole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<Rule>>,
    /// AggregationRule describes how to build the rules of this ClusterRole. If it is set, the rules are
    /// controller managed, and direct changes to them will be overwritten by the controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregation_rule: Option<AggregationRule>,
}

/// AggregationRule describes how to locate ClusterRoles to aggregate into the ClusterRole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AggregationRule {
    /// Selectors of the ClusterRoles whose rules are gathered; one that matches is enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cluster_role_selectors: Vec<LabelSelector>,
}

/// A label selector; all of its requirements must be met, and one without any matches everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// Labels with their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// Requirements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<Requirement>,
}

/// A requirement of a label selector.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "LabelSelectorRequirement")]
pub struct Requirement {
    /// The label.
    pub key: String,
    /// In, NotIn, Exists or DoesNotExist.
    pub operator: String,
    /// Values, for the first two.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

impl LabelSelector {
    /// Whether an object with these labels is meant.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let meets = |requirement: &Requirement| {
            let value = labels.get(&requirement.key);
            let among = value.is_some_and(|value| requirement.values.contains(value));
            match &*requirement.operator {
                "In" => among,
                "NotIn" => !among,
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                // Validation lets no others through; what is not understood matches nothing.
                _ => false,
            }
        };
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(meets)
    }

    fn mistakes(&self, at: &Path) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let invalid = |field: &Path, value: &str, sentences: Vec<String>, errors: &mut Vec<FieldError>| {
            errors.extend(sentences.into_iter().map(|sentence| FieldError::invalid(field, value, sentence)));
        };
        let labels = at.child("matchLabels");
        for (key, value) in &self.match_labels {
            invalid(&labels, key, names::is_qualified_name(key), &mut errors);
            invalid(&labels, value, names::is_label_value(value), &mut errors);
        }
        for (number, requirement) in self.match_expressions.iter().enumerate() {
            let at = at.child("matchExpressions").index(number);
            let (values, none) = (at.child("values"), requirement.values.is_empty());
            match &*requirement.operator {
                "In" | "NotIn" if none => {
                    let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                    errors.push(FieldError::required(&values, detail));
                }
                "Exists" | "DoesNotExist" if !none => {
                    let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                    errors.push(FieldError::forbidden(&values, detail));
                }
                "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
                other => {
                    errors.push(FieldError::invalid(
                        &at.child("operator"),
                        other,
                        "not a valid selector operator",
                    ));
                }
            }
            invalid(
                &at.child("key"),
                &requirement.key,
                names::is_qualified_name(&requirement.key),
                &mut errors,
            );
            for (number, value) in requirement.values.iter().enumerate() {
                invalid(&values.index(number), value, names::is_label_value(value), &mut errors);
            }
        }
        errors
    }
}

fn rule_mistakes(rules: Option<&Vec<Rule>>, namespaced: bool) -> Vec<FieldError> {
    // Upstream finds what is missing last.
    let (mut errors, mut missing) = (Vec::new(), Vec::new());
    for (number, rule) in rules.into_iter().flatten().enumerate() {
        let at = Path::new("rules").index(number);
        if rule.verbs.is_empty() {
            missing.push(FieldError::required(&at.child("verbs"), ""));
        }
        if !rule.non_resource_urls.is_empty() {
            let urls = at.child("nonResourceURLs");
            let mut invalid =
                |detail| errors.push(FieldError::invalid(&urls, &rule.non_resource_urls, detail));
            if namespaced {
                invalid("namespaced rules cannot apply to non-resource URLs");
            }
            if !(rule.api_groups.is_empty() && rule.resources.is_empty() && rule.resource_names.is_empty()) {
                invalid("rules cannot apply to both regular resources and non-resource URLs");
            }
            continue;
        }
        if rule.api_groups.is_empty() {
            let detail = "resource rules must supply at least one api group";
            errors.push(FieldError::required(&at.child("apiGroups"), detail));
        }
        if rule.resources.is_empty() {
            let detail = "resource rules must supply at least one resource";
            errors.push(FieldError::required(&at.child("resources"), detail));
        }
    }
    errors.extend(missing);
    errors
}

/// Roles show when they were made, not how old they are.
fn columns() -> Vec<Column> {
    const CREATED: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
    let created = Column::computed("Created At", "date", CREATED, |object| {
        let text = object.get("metadata").and_then(|metadata| metadata["creationTimestamp"].as_str());
        text.filter(|text| time::parse(text).is_some()).map_or(Value::Null, Value::from)
    });
    vec![Column::name(), created]
}

impl Resource for Role {
    const GROUP: &'static str = GROUP;
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Role";
    const PLURAL: &'static str = "roles";

    fn describe(definition: &mut Definition) {
        describe(definition, columns());
    }

    fn validate(object: &Object<Self>) -> Vec<FieldError> {
        rule_mistakes(object.body.rules.as_ref(), true)
    }
}

impl Resource for ClusterRole {
    const GROUP: &'static str = GROUP;
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "ClusterRole";
    const PLURAL: &'static str = "clusterroles";

    fn describe(definition: &mut Definition) {
        describe(definition, columns());
        definition.scope = Scope::Cluster;
    }

    fn validate(object: &Object<Self>) -> Vec<FieldError> {
        let mut errors = rule_mistakes(object.body.rules.as_ref(), false);
        let Some(gathers) = &object.body.aggregation_rule else { return errors };
        let at = Path::new("aggregationRule").child("clusterRoleSelectors");
        if gathers.cluster_role_selectors.is_empty() {
            let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
            errors.push(FieldError::required(&at, detail));
        }
        for (number, selector) in gathers.cluster_role_selectors.iter().enumerate() {
            errors.extend(selector.mistakes(&at.index(number)));
        }
        errors
    }
}
