//! Writes the status of registrations back to the core.

use std::{collections::HashMap, sync::Arc, time::Duration};

use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams},
};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{clock, hub::Statuses, object::Resource, validation::Problems};

/// Between two rounds of writing.
const ROUND: Duration = Duration::from_millis(500);

type Source = watch::Receiver<Arc<Statuses>>;

/// Writes every status that changed, for `APIServer`s alone: the status of APIServices is the core's own
/// business, which looks at the servers itself.
pub(super) async fn write_back(client: Client, mut statuses: Source, mut invalid: Source) {
    let kind = GroupVersionKind::gvk(
        Resource::ApiServer.group(),
        Resource::ApiServer.version(),
        Resource::ApiServer.kind(),
    );
    let resource = ApiResource::from_gvk_with_plural(&kind, Resource::ApiServer.plural());
    let api = Api::<DynamicObject>::all_with(client, &resource);
    let mut written: HashMap<String, Arc<str>> = HashMap::new();
    loop {
        let mut wanted: HashMap<String, Arc<str>> = HashMap::new();
        for source in [statuses.borrow_and_update().clone(), invalid.borrow_and_update().clone()] {
            let ours = source.iter().filter(|(key, _)| key.resource == Resource::ApiServer);
            wanted.extend(ours.map(|(key, status)| (key.name.clone(), Arc::clone(status))));
        }
        written.retain(|name, _| wanted.contains_key(name));
        let mut failed = false;
        for (name, status) in wanted {
            if written.get(&name) == Some(&status) {
                continue;
            }
            let content: Value = serde_json::from_str(&status).unwrap_or_default();
            let patch = json!({ "status": content });
            match api.patch_status(&name, &PatchParams::default(), &Patch::Merge(&patch)).await {
                Ok(_) => {
                    written.insert(name, status);
                }
                // It may come from a file, or be gone.
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(error) => {
                    tracing::debug!(name, %error, "cannot write the status of a registration");
                    failed = true;
                }
            }
        }
        tokio::time::sleep(ROUND).await;
        if failed {
            tokio::time::sleep(ROUND * 4).await;
            continue;
        }
        tokio::select! {
            changed = statuses.changed() => if changed.is_err() { return },
            changed = invalid.changed() => if changed.is_err() { return },
        }
    }
}

/// The status of an object that breaks the rules.
pub(super) fn invalid(object: &Value, problems: &Problems) -> Value {
    let generation = object.pointer("/metadata/generation").cloned().unwrap_or_else(|| json!(1));
    let before = object.pointer("/status/conditions/0");
    let since = before
        .filter(|condition| condition.get("reason").and_then(Value::as_str) == Some("InvalidSpec"))
        .and_then(|condition| condition.get("lastTransitionTime").cloned())
        .unwrap_or_else(|| json!(clock::format(clock::now())));
    json!({
        "observedGeneration": generation,
        "conditions": [{
            "type": "Available",
            "status": "False",
            "reason": "InvalidSpec",
            "message": problems.to_string(),
            "lastTransitionTime": since,
            "observedGeneration": generation,
        }],
    })
}
