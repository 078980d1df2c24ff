//! Status as it stands in the objects.

use catalog::Condition;
use serde_json::{Value, json};

use super::managed::Managed;
use crate::{clock, object::Resource, task::EndpointState};

/// The status of an object that `managed` comes from.
pub(super) fn of(resource: Resource, managed: &Managed, generation: i64) -> Value {
    match resource {
        Resource::ApiServer => api_server(managed, generation),
        Resource::ApiService => api_service(&managed.conditions, managed.trouble.is_some()),
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
        "groups": managed.report.group_versions,
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

/// The status of an object without a server: one condition.
pub(super) fn one(status: &str, reason: &str, message: &str, since: &str) -> Value {
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
