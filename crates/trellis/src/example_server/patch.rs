//! The patches that a note takes: JSON patch, merge patch and server-side apply.

use bytes::Bytes;
use kube_wire::{
    Status,
    status::{StatusCause, StatusDetails},
};
use serde_json::Value;

use super::{
    apply::{Conflict, Writer, apply},
    note::{API_VERSION, FieldValidation, GROUP, RESOURCE, decode},
    write::unreadable,
};

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

/// Operations in one JSON patch, as upstream.
const MAX_OPERATIONS: usize = 10_000;

/// A patch, read.
pub(super) enum Patch {
    /// RFC 6902.
    Json(json_patch::Patch),
    /// RFC 7396.
    Merge(Value),
    /// Server-side apply.
    Apply(Value),
}

impl Patch {
    /// Reads the body by its type.
    pub(super) fn parse(content_type: &str, body: &Bytes) -> Result<Self, Status> {
        match content_type {
            JSON_PATCH => {
                let patch: json_patch::Patch = serde_json::from_slice(body).map_err(unreadable)?;
                if patch.len() > MAX_OPERATIONS {
                    let why = format!("the allowed maximum operations in a JSON patch is {MAX_OPERATIONS}");
                    return Err(Status::request_too_large(&why));
                }
                Ok(Self::Json(patch))
            }
            MERGE_PATCH => serde_json::from_slice(body).map(Self::Merge).map_err(unreadable),
            APPLY_PATCH => yaml(body).map(Self::Apply),
            _ => Err(Status::unsupported_media_type_among(&[JSON_PATCH, MERGE_PATCH, APPLY_PATCH])),
        }
    }

    /// Whether it is server-side apply.
    pub(super) fn is_apply(&self) -> bool {
        matches!(self, Self::Apply(_))
    }

    /// The live object with this patch.
    pub(super) fn patched(
        &self,
        live: &Value,
        writer: Writer<'_>,
        validation: FieldValidation,
        warnings: &mut Vec<String>,
    ) -> Result<Value, Status> {
        let mut object = live.clone();
        match self {
            Self::Json(patch) => json_patch::patch(&mut object, patch)
                .map_err(|error| Status::bad_request(format!("the patch cannot be applied: {error}")))?,
            Self::Merge(patch) => json_patch::merge(&mut object, patch),
            Self::Apply(config) => {
                let mut config = config.clone();
                if !config["metadata"]["managedFields"].is_null() {
                    return Err(Status::bad_request("metadata.managedFields must be nil"));
                }
                warnings.extend(decode(&mut config, validation)?);
                return applied(live, &config, writer);
            }
        }
        Ok(object)
    }
}

fn applied(live: &Value, config: &Value, writer: Writer<'_>) -> Result<Value, Status> {
    let name = config["metadata"]["name"].as_str();
    if name.is_some_and(|name| live["metadata"]["name"] != name) {
        return Err(Status::bad_request("the name of the object does not match the name on the URL"));
    }
    apply(live, config, writer).map_err(|conflicts| refused(live, &conflicts))
}

/// 409 in upstream's words; kubectl shows the causes and how to go on.
fn refused(live: &Value, conflicts: &[Conflict]) -> Status {
    let who = |conflict: &Conflict| format!("conflict with {:?} using {API_VERSION}", conflict.manager);
    let message = match conflicts {
        [conflict] => format!("Apply failed with 1 conflict: {}: {}", who(conflict), conflict.field),
        conflicts => {
            let lines: Vec<_> =
                conflicts.iter().map(|conflict| format!("{}: {}", who(conflict), conflict.field)).collect();
            format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
        }
    };
    let causes = conflicts
        .iter()
        .map(|conflict| StatusCause {
            reason: "FieldManagerConflict".to_owned(),
            message: who(conflict),
            field: conflict.field.clone(),
        })
        .collect();
    let name = live["metadata"]["name"].as_str().unwrap_or_default();
    let details = StatusDetails { causes, ..StatusDetails::default() };
    let status = Status::conflict(RESOURCE, GROUP, name, "").with_details(details);
    Status { message: message.into(), ..status }
}

/// A YAML (or JSON) document.
pub(super) fn yaml(body: &Bytes) -> Result<Value, Status> {
    serde_saphyr::from_slice(body)
        .map_err(|error| Status::bad_request(format!("the body is no YAML: {}", error.without_snippet())))
}
