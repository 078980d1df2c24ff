//! What the library finds wrong with an object is what kube-apiserver finds wrong with it, word for word.

use std::{collections::BTreeSet, net::Ipv4Addr, time::Duration};

use apiserver::validation::{
    FieldError, names, validate_metadata, validate_metadata_update, validate_standard_finalizers,
};
use kube_wire::{object::ObjectMeta, status::StatusCause};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use testkit::real::{Core, Http, Protocol, program};

use crate::rows::{Shared, folder, skipped, trial};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[derive(serde::Deserialize)]
struct Row {
    create: Value,
    update: Option<Value>,
}

pub(crate) fn trials() -> Vec<Trial> {
    let rows = fs_err::read_to_string(folder("validation").join("metadata.yaml")).unwrap();
    let rows: Vec<Row> = serde_saphyr::from_str(&rows).unwrap();
    let missing = ["etcd", "kube-apiserver"].into_iter().find_map(|name| program(name).err());
    let core = Shared::new();
    let trials = rows.into_iter().enumerate().map(|(number, row)| {
        let name = format!("validation::metadata {:02}", number + 1);
        let core = core.clone();
        match &missing {
            Some(reason) => skipped(name, reason),
            None => trial(name, move || {
                let start =
                    || Core::start(Ipv4Addr::LOCALHOST.into()).unwrap_or_else(|reason| panic!("{reason}"));
                check(core.get(start), &row);
            }),
        }
    });
    trials.collect()
}

fn check(core: &Core, row: &Row) {
    let Some(update) = &row.update else {
        let created = send(core, "POST", &format!("{CONFIG_MAPS}?dryRun=All"), &row.create);
        // The server puts the namespace in.
        let metadata = ObjectMeta { namespace: "default".to_owned(), ..metadata(&row.create) };
        let found = mistakes(&metadata);
        return assert_eq!(sentences(&found), causes(&created), "{}", row.create);
    };
    let created = send(core, "POST", CONFIG_MAPS, &row.create);
    let path = format!("{CONFIG_MAPS}/{}", update["name"].as_str().unwrap());
    let updated = send(core, "PUT", &path, update);
    let (old, mut new) = (metadata(&created["metadata"]), metadata(update));
    // What the server fills in before it looks.
    new.namespace.clone_from(&old.namespace);
    new.resource_version.clone_from(&old.resource_version);
    new.creation_timestamp.clone_from(&old.creation_timestamp);
    new.generation = old.generation;
    if new.uid.is_empty() {
        new.uid.clone_from(&old.uid);
    }
    let found: Vec<_> = mistakes(&new).into_iter().chain(validate_metadata_update(&new, &old)).collect();
    match updated["code"].as_u64() {
        // A foreign UID is a conflict before anything is looked at.
        Some(409) => assert_eq!(sentences(&found).len(), 1, "{update}: {updated}"),
        _ => assert_eq!(sentences(&found), causes(&updated), "{update}"),
    }
}

/// Of the metadata alone, as a kind that is built in sees it.
fn mistakes(metadata: &ObjectMeta) -> Vec<FieldError> {
    let mut mistakes = validate_metadata(metadata, true, names::dns_subdomain);
    mistakes.extend(validate_standard_finalizers(metadata));
    mistakes
}

fn metadata(value: &Value) -> ObjectMeta {
    serde_json::from_value(value.clone()).unwrap()
}

/// Upstream finds some mistakes twice, and labels in no order.
fn sentences(errors: &[FieldError]) -> BTreeSet<(String, String, String)> {
    errors.iter().map(StatusCause::from).map(|cause| (cause.field, cause.reason, cause.message)).collect()
}

fn causes(answer: &Value) -> BTreeSet<(String, String, String)> {
    let text = |cause: &Value, name: &str| cause[name].as_str().unwrap_or_default().to_owned();
    let causes = answer["details"]["causes"].as_array().cloned().unwrap_or_default();
    assert!(answer["kind"] == "ConfigMap" || !causes.is_empty() || answer["code"] == 409, "{answer}");
    causes.iter().map(|cause| (text(cause, "field"), text(cause, "reason"), text(cause, "message"))).collect()
}

fn send(core: &Core, method: &str, path: &str, metadata: &Value) -> Value {
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}).to_string();
    let headers = [("content-type".to_owned(), "application/json".to_owned())];
    let limit = Duration::from_secs(30);
    let reply = Http::new().send(&core.admin(), Protocol::Http1, (method, path), &headers, body, limit);
    serde_json::from_slice(&reply.unwrap().body).unwrap()
}
