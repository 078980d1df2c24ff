//! What is asked before policy is written.

use apiserver::{
    hooks::{Admission, Attributes, Later, Operation},
    object::text,
    resource::Fields,
};
use kube_wire::{Reason, RequestInfo, Status, StatusDetails, identity::MASTERS_GROUP};
use serde::Deserialize as _;
use serde_json::Value;

use super::{ClusterRole, GROUP, Rbac, RoleBinding, RoleRef, Rule, escalation::confirm};

impl Admission for Rbac {
    fn mutate<'a>(
        &'a self,
        write: Attributes<'a>,
        object: &'a mut Fields,
        old: Option<&'a Fields>,
    ) -> Later<'a, Result<(), Status>> {
        Box::pin(async move {
            let policy_is_written = write.definition.group == GROUP
                && write.subresource.is_empty()
                && write.operation != Operation::Delete
                && !write.user.in_group(MASTERS_GROUP)
                && !old.is_some_and(|old| only_for_collection(write.any_version, object, old));
            if !policy_is_written {
                return Ok(());
            }
            match &*write.definition.names.plural {
                "roles" | "clusterroles" => self.check_role(write, object, old).await,
                "rolebindings" | "clusterrolebindings" => self.check_binding(write, object).await,
                _ => Ok(()),
            }
        })
    }
}

/// Whether nothing differs but what the garbage collector needs: that must always be possible.
fn only_for_collection(any_version: bool, object: &Fields, old: &Fields) -> bool {
    let stripped = |fields: &Fields| {
        let mut fields = fields.clone();
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            for name in ["ownerReferences", "finalizers", "managedFields", "resourceVersion"] {
                metadata.remove(name);
            }
        }
        fields
    };
    // As upstream: whoever does not say which version it means may mean another one.
    let named = any_version || !text(object, "metadata.resourceVersion").is_empty();
    named && stripped(object) == stripped(old)
}

impl Rbac {
    async fn check_role(
        &self,
        write: Attributes<'_>,
        object: &Fields,
        old: Option<&Fields>,
    ) -> Result<(), Status> {
        if self.may(write, "escalate", &write.definition.names.plural, write.name).await? {
            return Ok(());
        }
        let role =
            |fields: &Fields| ClusterRole::deserialize(&Value::Object(fields.clone())).unwrap_or_default();
        let new = role(object);
        let policy = self.policy().await.map_err(|_| unreadable())?;
        let held = |rules: &[Rule]| confirm(&policy, write.user, write.namespace, rules);
        held(new.rules.as_deref().unwrap_or_default()).map_err(|why| forbidden(write, object, &why))?;
        let gathers = |role: &ClusterRole| {
            role.aggregation_rule.as_ref().is_some_and(|rule| !rule.cluster_role_selectors.is_empty())
        };
        // It may gather anything, and taking it away may loosen.
        if (gathers(&new) || old.is_some_and(|old| gathers(&role(old)))) && held(&Rule::everything()).is_err()
        {
            let why = "must have cluster-admin privileges to use the aggregationRule";
            return Err(forbidden(write, object, why));
        }
        Ok(())
    }

    async fn check_binding(&self, write: Attributes<'_>, object: &Fields) -> Result<(), Status> {
        let binding = RoleBinding::deserialize(&Value::Object(object.clone())).unwrap_or_default();
        let RoleRef { kind, name, .. } = &binding.role_ref;
        let resource = match &**kind {
            "ClusterRole" => "clusterroles",
            "Role" => "roles",
            _ => "",
        };
        if !resource.is_empty() && self.may(write, "bind", resource, name).await? {
            return Ok(());
        }
        let policy = self.policy().await.map_err(|_| unreadable())?;
        let rules = policy.role(&binding.role_ref, write.namespace).map_err(|why| match resource {
            "" => Status::internal(&why),
            _ => Status::not_found(&write.definition.names.plural, GROUP, name),
        })?;
        confirm(&policy, write.user, write.namespace, rules).map_err(|why| forbidden(write, object, &why))
    }

    /// Whether the writer has one of the verbs that exist for this.
    async fn may(
        &self,
        write: Attributes<'_>,
        verb: &str,
        resource: &str,
        name: &str,
    ) -> Result<bool, Status> {
        let info = RequestInfo {
            is_resource: true,
            verb: verb.into(),
            api_prefix: "apis".into(),
            group: GROUP.into(),
            version: "*".into(),
            namespace: write.namespace.into(),
            resource: resource.into(),
            name: name.into(),
            ..RequestInfo::default()
        };
        self.decide(write.user, &info).await.map(|verdict| verdict.allowed).map_err(|_| unreadable())
    }
}

fn unreadable() -> Status {
    Status::internal("the policy could not be read")
}

fn forbidden(write: Attributes<'_>, object: &Fields, why: &str) -> Status {
    let name = text(object, "metadata.name").to_owned();
    let message = format!("{} {name:?} is forbidden: {why}", write.definition.qualified_name());
    let details = StatusDetails {
        name,
        group: GROUP.to_owned(),
        kind: write.definition.names.plural.clone(),
        ..StatusDetails::default()
    };
    Status::failure(403, Reason::Forbidden, message).with_details(details)
}
