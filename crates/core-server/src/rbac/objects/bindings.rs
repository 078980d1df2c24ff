//! Bindings of roles to subjects.

use apiserver::{
    resource::{Column, Definition, Fields, Object, Resource, Scope},
    validation::{FieldError, Path, names},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{super::GROUP, describe};

/// RoleRef contains information that points to the role being used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RoleRef {
    /// APIGroup is the group for the resource being referenced.
    pub api_group: String,
    /// Kind is the type of resource being referenced: Role or ClusterRole.
    pub kind: String,
    /// Name is the name of resource being referenced.
    pub name: String,
}

/// Subject contains a reference to the object or user identities a role binding applies to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Subject {
    /// User, Group or ServiceAccount.
    pub kind: String,
    /// The group of the kind; empty for service accounts.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_group: String,
    /// Its name.
    pub name: String,
    /// The namespace of a service account.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
}

/// RoleBinding references a role, but does not contain it. It can reference a Role in the same namespace or a
/// ClusterRole in the global namespace. It adds who information via Subjects and namespace information by which
/// namespace it exists in.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RoleBinding {
    /// Subjects holds references to the objects the role applies to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<Subject>,
    /// RoleRef can reference a Role in the current namespace or a ClusterRole. This field is immutable.
    pub role_ref: RoleRef,
}

/// ClusterRoleBinding references a ClusterRole, but does not contain it. It adds who information via Subjects.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterRoleBinding {
    /// Subjects holds references to the objects the role applies to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<Subject>,
    /// RoleRef can only reference a ClusterRole. This field is immutable.
    pub role_ref: RoleRef,
}

fn set_defaults(role: &mut RoleRef, subjects: &mut [Subject]) {
    if role.api_group.is_empty() {
        GROUP.clone_into(&mut role.api_group);
    }
    for subject in subjects {
        if subject.api_group.is_empty() && matches!(&*subject.kind, "User" | "Group") {
            GROUP.clone_into(&mut subject.api_group);
        }
    }
}

fn mistakes(role: &RoleRef, subjects: &[Subject], namespaced: bool) -> Vec<FieldError> {
    let at = Path::new("roleRef");
    // Upstream finds what is missing last.
    let (mut errors, mut missing) = (Vec::new(), Vec::new());
    if role.api_group != GROUP {
        errors.push(FieldError::not_supported(&at.child("apiGroup"), &role.api_group, &[GROUP]));
    }
    let kinds: &[&str] = if namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    if !kinds.contains(&&*role.kind) {
        errors.push(FieldError::not_supported(&at.child("kind"), &role.kind, kinds));
    }
    let name = at.child("name");
    match &*role.name {
        "" => missing.push(FieldError::required(&name, "")),
        own => {
            let sentences = names::path_segment(own, false);
            errors.extend(sentences.into_iter().map(|sentence| FieldError::invalid(&name, own, sentence)));
        }
    }
    for (number, subject) in subjects.iter().enumerate() {
        let at = Path::new("subjects").index(number);
        if subject.name.is_empty() {
            missing.push(FieldError::required(&at.child("name"), ""));
        }
        errors.extend(subject_mistakes(subject, namespaced, &at));
    }
    errors.extend(missing);
    errors
}

fn subject_mistakes(subject: &Subject, namespaced: bool, at: &Path) -> Vec<FieldError> {
    let (mut errors, name, group) = (Vec::new(), at.child("name"), at.child("apiGroup"));
    match &*subject.kind {
        "ServiceAccount" => {
            if !subject.name.is_empty() {
                let sentences = names::is_dns_subdomain(&subject.name);
                let invalid = |sentence| FieldError::invalid(&name, &subject.name, sentence);
                errors.extend(sentences.into_iter().map(invalid));
            }
            if !subject.api_group.is_empty() {
                errors.push(FieldError::not_supported(&group, &subject.api_group, &[""]));
            }
            if !namespaced && subject.namespace.is_empty() {
                errors.push(FieldError::required(&at.child("namespace"), ""));
            }
        }
        "User" | "Group" if subject.api_group != GROUP => {
            errors.push(FieldError::not_supported(&group, &subject.api_group, &[GROUP]));
        }
        "User" | "Group" => {}
        other => {
            let kinds = ["ServiceAccount", "User", "Group"];
            errors.push(FieldError::not_supported(&at.child("kind"), other, &kinds));
        }
    }
    errors
}

fn changed(new: &RoleRef, old: &RoleRef) -> Vec<FieldError> {
    let differs = new != old;
    // The names of fields are those of upstream's own type.
    let shown = serde_json::json!({ "APIGroup": new.api_group, "Kind": new.kind, "Name": new.name });
    let error = || FieldError::invalid(&Path::new("roleRef"), shown, "field is immutable");
    differs.then(error).into_iter().collect()
}

/// Names of subjects of a kind, as tables show them.
fn subjects_of(object: &Fields, kind: &str) -> Value {
    let all = object.get("subjects").and_then(Value::as_array).into_iter().flatten();
    let own = all.filter(|subject| subject["kind"] == kind).map(|subject| {
        let text = |name: &str| subject[name].as_str().unwrap_or_default();
        match kind {
            "ServiceAccount" => format!("{}/{}", text("namespace"), text("name")),
            _ => text("name").to_owned(),
        }
    });
    own.collect::<Vec<_>>().join(", ").into()
}

fn columns(of: &str) -> Vec<Column> {
    let role =
        Column::computed("Role", "string", if of == "roleBinding" { ROLE } else { CLUSTER_ROLE }, |object| {
            let text =
                |name: &str| object.get("roleRef").and_then(|role| role[name].as_str()).unwrap_or_default();
            format!("{}/{}", text("kind"), text("name")).into()
        });
    let subjects = |name: &str, kind: &'static str| {
        let description = format!("{name} in the {of}");
        Column::computed(name, "string", &description, move |object| subjects_of(object, kind)).wide()
    };
    let (users, groups, accounts) = (
        subjects("Users", "User"),
        subjects("Groups", "Group"),
        subjects("ServiceAccounts", "ServiceAccount"),
    );
    vec![Column::name(), role, Column::age(), users, groups, accounts]
}

const ROLE: &str = "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.";
const CLUSTER_ROLE: &str = "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.";

impl Resource for RoleBinding {
    const GROUP: &'static str = GROUP;
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "RoleBinding";
    const PLURAL: &'static str = "rolebindings";

    fn describe(definition: &mut Definition) {
        describe(definition, columns("roleBinding"));
    }

    fn set_defaults(object: &mut Object<Self>) {
        set_defaults(&mut object.body.role_ref, &mut object.body.subjects);
    }

    fn validate(object: &Object<Self>) -> Vec<FieldError> {
        mistakes(&object.body.role_ref, &object.body.subjects, true)
    }

    fn validate_update(object: &Object<Self>, old: &Object<Self>) -> Vec<FieldError> {
        changed(&object.body.role_ref, &old.body.role_ref)
    }
}

impl Resource for ClusterRoleBinding {
    const GROUP: &'static str = GROUP;
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "ClusterRoleBinding";
    const PLURAL: &'static str = "clusterrolebindings";

    fn describe(definition: &mut Definition) {
        describe(definition, columns("clusterRoleBinding"));
        definition.scope = Scope::Cluster;
    }

    fn set_defaults(object: &mut Object<Self>) {
        set_defaults(&mut object.body.role_ref, &mut object.body.subjects);
    }

    fn validate(object: &Object<Self>) -> Vec<FieldError> {
        mistakes(&object.body.role_ref, &object.body.subjects, false)
    }

    fn validate_update(object: &Object<Self>, old: &Object<Self>) -> Vec<FieldError> {
        changed(&object.body.role_ref, &old.body.role_ref)
    }
}
