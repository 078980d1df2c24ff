//! What the hub makes known: the catalog, the health report, and the status of every registration.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use catalog::{Catalog, Condition, HealthReport, ServerName};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::managed::Managed;
use crate::{
    clock,
    object::{ObjectKey, Resource},
    store::Store,
    task::EndpointState,
};

/// Where it is made known.
#[derive(Debug)]
pub(crate) struct Outputs {
    pub(crate) catalog: watch::Sender<Arc<Catalog>>,
    pub(crate) health: watch::Sender<Arc<HealthReport>>,
    /// Status of objects that the core keeps, to be written back to it.
    pub(crate) core_statuses: watch::Sender<Arc<HashMap<ObjectKey, Value>>>,
    /// The time at which an object without a server of its own got its condition.
    pub(crate) since: Mutex<HashMap<ObjectKey, String>>,
}

impl Outputs {
    /// Tells every object how its server is.
    pub(super) fn statuses(
        &self,
        store: &Store,
        servers: &BTreeMap<ServerName, Managed>,
        doubles: &[(ObjectKey, String)],
        local: &[ObjectKey],
    ) {
        let mut statuses: HashMap<ObjectKey, Value> = HashMap::new();
        for managed in servers.values() {
            let Some(candidate) = &managed.candidate else { continue };
            for (key, generation) in &candidate.objects {
                let status = match key.resource {
                    Resource::ApiServer => api_server(managed, *generation),
                    Resource::ApiService => api_service(&managed.conditions, managed.trouble.is_some()),
                };
                statuses.insert(key.clone(), status);
            }
        }
        for key in local {
            let since = self.since(key);
            statuses
                .insert(key.clone(), one("True", "Local", "Local APIServices are always available", &since));
        }
        for (key, why) in
            doubles.iter().filter(|(key, _)| !statuses.contains_key(key)).cloned().collect::<Vec<_>>()
        {
            let since = self.since(&key);
            statuses.insert(key, one("False", "NameTaken", &why, &since));
        }
        for (key, status) in &statuses {
            store.set_status(key, status);
        }
        self.core_statuses.send_if_modified(|current| {
            let changed = **current != statuses;
            if changed {
                *current = Arc::new(statuses);
            }
            changed
        });
    }

    fn since(&self, key: &ObjectKey) -> String {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        since.entry(key.clone()).or_insert_with(|| clock::format(clock::now())).clone()
    }
}

fn api_server(managed: &Managed, generation: i64) -> Value {
    let endpoints: Vec<Value> = managed.health.endpoints.iter().map(endpoint).collect();
    let conditions: Vec<Value> = managed
        .conditions
        .iter()
        .map(|condition| {
            let mut value = written(condition);
            if let Some(object) = value.as_object_mut() {
                object.insert("observedGeneration".to_owned(), json!(generation));
            }
            value
        })
        .collect();
    let mut status = json!({
        "observedGeneration": generation,
        "conditions": conditions,
        "endpoints": endpoints,
        "groups": managed.group_versions,
    });
    // The time of the latest change, not of the latest look: status is for watching.
    let at = managed.known.at.max(managed.learned_at);
    if let Some(object) = status.as_object_mut().filter(|_| at > 0) {
        object.insert("lastDiscovery".to_owned(), json!(clock::format(at)));
    }
    status
}

fn endpoint(state: &EndpointState) -> Value {
    match &state.outcome {
        None => json!({ "address": state.address, "health": "Unknown" }),
        Some(Ok(())) => json!({ "address": state.address, "health": "Healthy" }),
        Some(Err(failure)) => json!({
            "address": state.address,
            "health": "Failing",
            "reason": failure.cause.reason(),
            "message": failure.detail,
        }),
    }
}

/// The one condition of an APIService, with kube-aggregator's reasons.
fn api_service(conditions: &[Condition], trouble: bool) -> Value {
    let Some(available) = conditions.iter().find(|c| c.kind == crate::conditions::AVAILABLE) else {
        return json!({});
    };
    let (reason, message) = match available.status {
        Some(true) => ("Passed", "all checks passed".to_owned()),
        Some(false) if !trouble => {
            let message = format!("failing or missing response: {}", available.message);
            ("FailedDiscoveryCheck", message)
        }
        _ => (available.reason.as_str(), available.message.clone()),
    };
    let written = written(available);
    let status = written.get("status").and_then(Value::as_str).unwrap_or("Unknown");
    one(status, reason, &message, &available.last_transition)
}

fn one(status: &str, reason: &str, message: &str, since: &str) -> Value {
    json!({ "conditions": [{
        "type": "Available",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
    }] })
}

fn written(condition: &Condition) -> Value {
    let status = match condition.status {
        Some(true) => "True",
        Some(false) => "False",
        None => "Unknown",
    };
    json!({
        "type": condition.kind,
        "status": status,
        "reason": condition.reason,
        "message": condition.message,
        "lastTransitionTime": condition.last_transition,
    })
}
