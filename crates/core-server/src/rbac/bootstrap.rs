//! The policy that every cluster has from the start: upstream's.

use std::sync::Arc;

use apiserver::{
    engine::{Call, Change, Engine, Subresource},
    object::{Stored, metadata, text},
    resource::{Definition, Fields},
};
use kube_wire::{Status, UserInfo, identity::MASTERS_GROUP};
use serde_json::Value;

use super::{Rule, definitions};

/// As kube-apiserver 1.37 creates it, one object on each line with its resource before it.
const POLICY: &str = include_str!("../../data/policy.jsonl");
/// Says whether what is missing may be put back.
const AUTOUPDATE: &str = "rbac.authorization.kubernetes.io/autoupdate";

/// Policy that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    /// The data of the program is damaged.
    #[error("the default policy, line {0}")]
    Data(usize),
    /// The store refuses an object.
    #[error("the default policy: {resource} {name}: {}", status.message)]
    Write {
        /// The resource.
        resource: String,
        /// The object.
        name: String,
        /// Why.
        status: Box<Status>,
    },
}

/// Creates what is missing of the default policy, and puts back what was taken out of it, unless its annotation
/// `rbac.authorization.kubernetes.io/autoupdate` says otherwise. What was added stays. How many objects changed.
///
/// # Errors
/// When an object cannot be written.
pub async fn ensure_policy(engine: &Engine) -> Result<usize, BootstrapError> {
    let definitions = definitions().map(Arc::new);
    let user = UserInfo::new("system:apiserver", [MASTERS_GROUP]);
    let mut changed = 0;
    for (number, line) in POLICY.lines().enumerate() {
        let (resource, object): (String, Fields) =
            serde_json::from_str(line).map_err(|_| BootstrapError::Data(number + 1))?;
        let definition = definitions.iter().find(|definition| definition.names.plural == resource);
        let definition = definition.ok_or(BootstrapError::Data(number + 1))?;
        let (name, namespace) = (text(&object, "metadata.name"), text(&object, "metadata.namespace"));
        let call = Call {
            definition,
            version: definition.stored_version(),
            subresource: Subresource::None,
            namespace,
            name,
            user: &user,
            manager: "kube-apiserver",
            tracked: false,
            any_version: true,
        };
        let written = ensure(engine, definition, &call, &object).await;
        changed += usize::from(written.map_err(|status| BootstrapError::Write {
            resource: resource.clone(),
            name: name.to_owned(),
            status: Box::new(status),
        })?);
    }
    Ok(changed)
}

async fn ensure(
    engine: &Engine,
    definition: &Definition,
    call: &Call<'_>,
    wanted: &Fields,
) -> Result<bool, Status> {
    let mut fields = wanted.clone();
    fields.insert("kind".to_owned(), (*definition.names.kind).into());
    fields.insert("apiVersion".to_owned(), definition.api_version(definition.stored_version()).into());
    let found = match engine.get(call).await {
        Ok(item) => Stored::read(&item).map_err(|error| Status::internal(&error.to_string()))?,
        Err(missing) if missing.code == 404 => {
            let one = Call { name: "", ..*call };
            return engine.create(&one, fields, false, &mut Vec::new()).await.map(|_| true);
        }
        Err(other) => return Err(other),
    };
    if completed(&found.fields, wanted).is_none() {
        return Ok(false);
    }
    let change = Change {
        compute: Box::new(|old| {
            let old = old.map(|old| old.fields.clone()).unwrap_or_default();
            Ok(completed(&old, wanted).unwrap_or(old))
        }),
        may_create: false,
        dry_run: false,
    };
    engine.update(call, change, &mut Vec::new()).await.map(|_| true)
}

/// An object with what it lacks; none when it lacks nothing, or is to be left alone.
fn completed(found: &Fields, wanted: &Fields) -> Option<Fields> {
    let own = metadata(found);
    if own.annotations.get(AUTOUPDATE).map(String::as_str) != Some("true") {
        return None;
    }
    // A binding to another role is somebody else's.
    if found.get("roleRef") != wanted.get("roleRef") {
        return None;
    }
    let mut completed = found.clone();
    // The rules of a role that gathers others are not its own.
    if !wanted.contains_key("aggregationRule") {
        add_rules(&mut completed, wanted);
    }
    add_subjects(&mut completed, wanted);
    (completed != *found).then_some(completed)
}

fn add_rules(found: &mut Fields, wanted: &Fields) {
    let read = |fields: &Fields| -> Vec<Rule> {
        fields.get("rules").and_then(|rules| serde_json::from_value(rules.clone()).ok()).unwrap_or_default()
    };
    let own = read(found);
    let missing = read(wanted).into_iter().filter(|rule| {
        let mut pieces = rule.pieces().into_iter();
        !pieces.all(|piece| own.iter().any(|own| own.covers(&piece)))
    });
    let missing: Vec<Value> = missing.filter_map(|rule| serde_json::to_value(rule).ok()).collect();
    extend(found, "rules", missing);
}

fn add_subjects(found: &mut Fields, wanted: &Fields) {
    let read =
        |fields: &Fields| fields.get("subjects").and_then(Value::as_array).cloned().unwrap_or_default();
    let own = read(found);
    let missing = read(wanted).into_iter().filter(|subject| !own.contains(subject)).collect();
    extend(found, "subjects", missing);
}

fn extend(fields: &mut Fields, name: &str, more: Vec<Value>) {
    if more.is_empty() {
        return;
    }
    match fields.get_mut(name) {
        Some(Value::Array(list)) => list.extend(more),
        _ => {
            fields.insert(name.to_owned(), Value::Array(more));
        }
    }
}
