//! Follows all objects of one kind.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use kube::{
    Api,
    api::{ApiResource, DynamicObject},
    runtime::{
        WatchStreamExt as _,
        watcher::{self, Event},
    },
};
use serde_json::Value;

use crate::registration;

/// Objects by name.
pub(super) type Objects = BTreeMap<String, Value>;

/// Changes this close together are told as one.
const TOGETHER: Duration = Duration::from_millis(5);
/// Pause after a failure: a kind that is not there now may be there soon.
const PAUSE: Duration = Duration::from_secs(2);

/// Calls `told` with all objects of a kind whenever one of them changes, until it answers false. Fields
/// that change without meaning are left out; of definitions only the name and the version matter.
pub(super) async fn follow(
    api: Api<DynamicObject>,
    resource: ApiResource,
    names_only: bool,
    told: impl Fn(Arc<Objects>) -> bool,
) {
    let mut complaint = Complaint::default();
    loop {
        let stream = watcher::watcher(api.clone(), watcher::Config::default()).default_backoff();
        let mut stream = std::pin::pin!(stream);
        let mut objects = Objects::new();
        let mut listing = Objects::new();
        let mut complete = false;
        let mut due = None;
        loop {
            let event = match due {
                None => stream.next().await,
                Some(when) => match tokio::time::timeout_at(when, stream.next()).await {
                    Ok(event) => event,
                    Err(_) => {
                        due = None;
                        if !told(Arc::new(objects.clone())) {
                            return;
                        }
                        continue;
                    }
                },
            };
            match event {
                Some(Ok(event)) => {
                    if matches!(event, Event::InitDone) && complaint.is_settled() {
                        tracing::info!(kind = resource.kind, "the core can be watched again");
                    }
                    if take(event, names_only, &mut objects, &mut listing, &mut complete) && complete {
                        due.get_or_insert_with(|| tokio::time::Instant::now() + TOGETHER);
                    }
                }
                Some(Err(error)) => {
                    if complaint.is_new(&error.to_string()) {
                        tracing::warn!(kind = resource.kind, %error, "{}", next_step(&resource, &error));
                    }
                    if !complete {
                        break;
                    }
                }
                None => break,
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// What went wrong last. It is said once, and again only when it is something else.
#[derive(Debug, Default)]
struct Complaint(Option<String>);

impl Complaint {
    fn is_new(&mut self, error: &str) -> bool {
        let new = self.0.as_deref() != Some(error);
        if new {
            self.0 = Some(error.to_owned());
        }
        new
    }

    /// Whether something was wrong until now.
    fn is_settled(&mut self) -> bool {
        self.0.take().is_some()
    }
}

/// What to do about it.
fn next_step(resource: &ApiResource, error: &watcher::Error) -> &'static str {
    let (watcher::Error::InitialListFailed(cause) | watcher::Error::WatchStartFailed(cause)) = error else {
        return "cannot watch a kind of the core; trying again";
    };
    match cause {
        kube::Error::Api(status) if status.code == 404 && resource.kind == registration::KIND => {
            "the core does not know the kind of registrations, so that none can be kept there; start with \
             --install-crds, or kubectl apply -f schema/apiservers.federation.trellis.dev.yaml"
        }
        kube::Error::Api(status) if status.code == 403 => {
            "the core does not let the door watch a kind that it needs; grant its user get, list and watch"
        }
        _ => "cannot watch a kind of the core; trying again",
    }
}

/// Takes an event in; tells whether the objects are others than before.
fn take(
    event: Event<DynamicObject>,
    names_only: bool,
    objects: &mut Objects,
    listing: &mut Objects,
    complete: &mut bool,
) -> bool {
    match event {
        Event::Init => {
            listing.clear();
            false
        }
        Event::InitApply(object) => {
            let (name, value) = plain(object, names_only);
            listing.insert(name, value);
            false
        }
        Event::InitDone => {
            let changed = !*complete || objects != listing;
            *complete = true;
            *objects = std::mem::take(listing);
            changed
        }
        Event::Apply(object) => {
            let (name, value) = plain(object, names_only);
            objects.insert(name, value.clone()) != Some(value)
        }
        Event::Delete(object) => {
            let (name, _) = plain(object, names_only);
            objects.remove(&name).is_some()
        }
    }
}

fn plain(object: DynamicObject, names_only: bool) -> (String, Value) {
    let name = object.metadata.name.clone().unwrap_or_default();
    if names_only {
        // Its state matters as well: a definition is served some time after it is made.
        return (name, object.metadata.resource_version.into());
    }
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        metadata.remove("resourceVersion");
    }
    (name, value)
}

#[cfg(test)]
mod tests {
    use super::Complaint;

    #[test]
    fn the_same_is_said_once() {
        let mut complaint = Complaint::default();
        assert!(!complaint.is_settled(), "nothing was wrong");
        let said: Vec<bool> =
            ["404", "404", "403", "403", "404"].iter().map(|error| complaint.is_new(error)).collect();
        assert_eq!(said, [true, false, true, false, true]);
        assert!(complaint.is_settled());
        assert!(complaint.is_new("404"), "after it was well, it is news again");
    }
}
