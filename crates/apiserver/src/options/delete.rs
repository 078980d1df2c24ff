//! Options of a deletion, in its body or its query.

use kube_wire::Status;
use serde::Deserialize;
use serde_json::Value;

use super::{flag, invalid_options, number, parameter, parameters, write::dry_run_mistakes};
use crate::{
    decode::{Syntax, read_json, read_yaml},
    validation::{FieldError, Path},
};

/// What happens to objects that are owned by the one that goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They stay, without an owner.
    Orphan,
    /// They go afterwards.
    Background,
    /// They go before.
    Foreground,
}

/// What must be true of an object for it to go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// Its UID.
    pub uid: Option<String>,
    /// Its resource version.
    pub resource_version: Option<String>,
}

/// How to delete.
#[derive(Clone, Debug, Default)]
pub struct DeleteOptions {
    /// Whether nothing is really deleted.
    pub dry_run: bool,
    /// What happens to what it owns; none: what is usual.
    pub propagation: Option<Propagation>,
    /// The older word for it: true is to orphan, false to delete.
    pub orphan_dependents: Option<bool>,
    /// What must be true of the object.
    pub preconditions: Preconditions,
    /// Seconds until it goes.
    pub grace_period: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wire {
    dry_run: Option<Vec<String>>,
    propagation_policy: Option<String>,
    orphan_dependents: Option<bool>,
    preconditions: Option<WirePreconditions>,
    grace_period_seconds: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WirePreconditions {
    uid: Option<String>,
    resource_version: Option<String>,
}

impl DeleteOptions {
    /// Reads the body, or the query where there is no body. `api_version` is also taken in the body.
    ///
    /// # Errors
    /// 400 and 422 in upstream's words.
    pub fn read(query: &str, syntax: Syntax, body: &[u8], api_version: &str) -> Result<Self, Status> {
        let wire = match body {
            [] => from_query(query)?,
            body => from_body(syntax, body, api_version)?,
        };
        let dry_run = wire.dry_run.unwrap_or_default();
        let mut errors = Vec::new();
        let field = Path::new("propagationPolicy");
        let policy = wire.propagation_policy;
        if wire.orphan_dependents.is_some() && policy.is_some() {
            let detail = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::invalid(&field, &policy, detail));
        }
        let propagation = match policy.as_deref() {
            None => None,
            Some("Orphan") => Some(Propagation::Orphan),
            Some("Background") => Some(Propagation::Background),
            Some("Foreground") => Some(Propagation::Foreground),
            Some(other) => {
                let known = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::not_supported(&field, other, &known));
                None
            }
        };
        errors.extend(dry_run_mistakes(&dry_run));
        invalid_options("DeleteOptions", &errors)?;
        let preconditions = wire.preconditions.unwrap_or_default();
        Ok(Self {
            dry_run: !dry_run.is_empty(),
            propagation,
            orphan_dependents: wire.orphan_dependents,
            preconditions: Preconditions {
                uid: preconditions.uid,
                resource_version: preconditions.resource_version,
            },
            // As upstream: what is negative is one second.
            grace_period: wire.grace_period_seconds.map(|seconds| if seconds < 0 { 1 } else { seconds }),
        })
    }
}

fn from_query(query: &str) -> Result<Wire, Status> {
    Ok(Wire {
        dry_run: Some(parameters(query, "dryRun")),
        propagation_policy: parameter(query, "propagationPolicy"),
        orphan_dependents: flag(query, "orphanDependents"),
        preconditions: None,
        grace_period_seconds: number(query, "gracePeriodSeconds")?,
    })
}

fn from_body(syntax: Syntax, body: &[u8], api_version: &str) -> Result<Wire, Status> {
    let document = match syntax {
        Syntax::Json => read_json(body, None),
        Syntax::Yaml => read_yaml(body, None),
    };
    let value = document.map_err(|error| Status::bad_request(error.in_words()))?.value;
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let (kind, version) = (text("kind"), text("apiVersion"));
    let known = ["", "meta.k8s.io/v1", "v1", api_version];
    if !matches!(kind, "" | "DeleteOptions") || !known.contains(&version) {
        let kind = if kind.is_empty() { "DeleteOptions" } else { kind };
        let version = if version.is_empty() { "meta.k8s.io/v1" } else { version };
        return Err(Status::bad_request(format!(
            "no kind {kind:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
        )));
    }
    if value.is_null() {
        return Ok(Wire::default());
    }
    serde_json::from_value(value).map_err(|error| Status::bad_request(format!("json: {error}")))
}
