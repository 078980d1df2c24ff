//! Cluster roles that gather the rules of others.

use std::sync::Arc;

use apiserver::{
    engine::{Call, Change, Engine, Subresource},
    resource::Definition,
};
use kube_wire::{Status, UserInfo, identity::MASTERS_GROUP};

use super::{ClusterRole, Policy, Rbac, Rule};

/// As whom it writes; upstream's controller has this name.
const USER: &str = "system:serviceaccount:kube-system:clusterrole-aggregation-controller";

/// Keeps the rules of cluster roles with an aggregation rule what they are to be.
pub struct Aggregator {
    rbac: Rbac,
    definition: Arc<Definition>,
}

impl Aggregator {
    /// For this policy.
    pub fn new(rbac: Rbac) -> Self {
        Self { rbac, definition: Arc::new(Definition::of::<ClusterRole>()) }
    }

    /// Brings all of them up to date; how many had to change. A role that gathers may be gathered itself, so it
    /// goes on until nothing changes.
    ///
    /// # Errors
    /// When a role cannot be written, or the policy cannot be read.
    pub async fn run(&self, engine: &Engine) -> Result<usize, Status> {
        let mut changed = 0;
        // Roles that gather each other come to rest after as many rounds as there are roles.
        for _ in 0..MAX_ROUNDS {
            let policy = self.rbac.policy().await.map_err(|error| Status::internal(&error.to_string()))?;
            let due = due(&policy);
            if due.is_empty() {
                return Ok(changed);
            }
            for (name, rules) in due {
                self.write(engine, &name, &rules).await?;
                changed += 1;
            }
        }
        Ok(changed)
    }

    async fn write(&self, engine: &Engine, name: &str, rules: &[Rule]) -> Result<(), Status> {
        // Only a writer that may everything can write what others have.
        let user = UserInfo::new(USER, [MASTERS_GROUP]);
        let call = Call {
            definition: &self.definition,
            version: self.definition.stored_version(),
            subresource: Subresource::None,
            namespace: "",
            name,
            user: &user,
            manager: "clusterrole-aggregation-controller",
            tracked: false,
            any_version: true,
        };
        let rules = serde_json::to_value(rules).unwrap_or_default();
        let change = Change {
            compute: Box::new(|old| {
                let mut fields = old.map(|old| old.fields.clone()).unwrap_or_default();
                fields.insert("rules".to_owned(), rules.clone());
                Ok(fields)
            }),
            may_create: false,
            dry_run: false,
        };
        match engine.update(&call, change, &mut Vec::new()).await {
            // It went meanwhile.
            Err(gone) if gone.code == 404 => Ok(()),
            other => other.map(drop),
        }
    }
}

const MAX_ROUNDS: usize = 100;

/// The roles whose rules are not what they are to be, with those.
fn due(policy: &Policy) -> Vec<(String, Vec<Rule>)> {
    let mut due = Vec::new();
    for (name, own) in &policy.cluster_roles {
        let Some(gathers) = &own.role.aggregation_rule else { continue };
        let mut rules: Vec<Rule> = Vec::new();
        let meant = policy.cluster_roles.iter().filter(|(other, gathered)| {
            *other != name
                && gathers.cluster_role_selectors.iter().any(|selector| selector.matches(&gathered.labels))
        });
        for rule in meant.flat_map(|(_, gathered)| gathered.role.rules.as_deref().unwrap_or_default()) {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
        if own.role.rules.as_deref().unwrap_or_default() != rules {
            due.push((name.clone(), rules));
        }
    }
    due
}
