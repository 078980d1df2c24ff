//! `patch`: JSON patch, merge patch, strategic merge patch and apply.

use bytes::Bytes;
use http::header;
use kube_wire::{Status, status::StatusCause};
use serde_json::Value;

use super::{Asked, Incoming, Service, body, respond, respond::Outcome, write::check_name};
use crate::{
    answer::Wish,
    apply::{FieldManager, Request},
    decode::{self, FieldValidation, InvalidDocument},
    engine::{Call, Change, Subresource, now},
    managed::Ownership,
    object::{Stored, edit_metadata, text, with_revision},
    options::WriteOptions,
    patch::{json_patch, merge_patch, strategic_merge_patch},
    resource::Fields,
    validation::{FieldError, Path},
};

/// How a change is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Json,
    Merge,
    Strategic,
    Apply,
}

const KINDS: [(Kind, &str); 4] = [
    (Kind::Json, "application/json-patch+json"),
    (Kind::Merge, "application/merge-patch+json"),
    (Kind::Strategic, "application/strategic-merge-patch+json"),
    (Kind::Apply, "application/apply-patch+yaml"),
];

/// A patch that was read.
struct Patch {
    kind: Kind,
    value: Value,
    /// Fields that stand in it twice.
    findings: Vec<String>,
}

impl Service {
    pub(super) async fn patch(
        &self,
        asked: &Asked<'_>,
        incoming: Incoming,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        let kind = kind_of(asked)?;
        let wish = Wish::negotiate(&asked.head.headers, asked.query)?;
        let bytes = body::collect(incoming, self.parts.limits.max_body).await?;
        let options = WriteOptions::read_patch(asked.query, kind == Kind::Apply)?;
        let patch = read(kind, &bytes, &options, warnings)?;
        if asked.subresource == Subresource::Scale {
            return self.patch_scale(asked, &patch, &options, wish, warnings).await;
        }
        let manager = options.manager(&asked.head.headers);
        let mut call = asked.call(&manager);
        call.tracked = kind == Kind::Apply;
        call.any_version = true;
        let ownership = asked.definition().ownership();
        let apply = kind == Kind::Apply;
        let (mut found, at) = (Vec::new(), now());
        let change = Change {
            compute: Box::new(|old| {
                found.clear();
                let (fields, findings) = match apply {
                    true => (applied(&call, &ownership, old, &patch, &options, &at)?, Vec::new()),
                    false => patched(&call, &ownership, old, &patch, &options)?,
                };
                found = findings;
                check_name(call.name, call.namespace, &fields)?;
                call.definition.to_stored(call.version, fields)
            }),
            may_create: apply && asked.subresource == Subresource::None,
            dry_run: options.dry_run,
        };
        let updated = self.engine.update(&call, change, warnings).await?;
        warnings.extend(found);
        let code = if updated.created { 201 } else { 200 };
        Ok(respond::object(code, asked.served.stored(updated.object, wish.shape)?, wish.encoding))
    }

    /// The scale is made from the object and goes back into it.
    async fn patch_scale(
        &self,
        asked: &Asked<'_>,
        patch: &Patch,
        options: &WriteOptions,
        wish: Wish,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        let item = self.engine.get(&asked.call("")).await?;
        let scale = super::scale::of_item(asked, &item)?;
        let strictly = options.field_validation != FieldValidation::Ignore;
        let patched = match patch.kind {
            Kind::Json => json_patch(scale, &patch.value, strictly).map(|patched| patched.document),
            Kind::Merge => merge_patch(scale, patch.value.clone(), strictly),
            Kind::Strategic | Kind::Apply => return Err(unsupported(asked)),
        };
        let Value::Object(mut wanted) = patched.map_err(|error| error.status())? else {
            return Err(Status::bad_request("a scale is an object"));
        };
        check_name(&asked.info.name, &asked.info.namespace, &wanted)?;
        // Who only scales does not care what else has changed.
        if text(&wanted, "metadata.resourceVersion") == item.revision.to_string() {
            edit_metadata(&mut wanted, |metadata| metadata.remove("resourceVersion"));
        }
        self.write_scale(asked, &wanted, options, wish, warnings).await
    }
}

fn kind_of(asked: &Asked<'_>) -> Result<Kind, Status> {
    let sent = asked.head.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let sent = sent.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let known = KINDS.iter().find(|(_, media_type)| sent.eq_ignore_ascii_case(media_type));
    match known {
        Some((kind, _)) if takes(asked, *kind) => Ok(*kind),
        // Two judges upstream, of which custom resources have only one.
        None if !asked.definition().unstructured => Err(respond::unsupported_media_type()),
        _ => Err(unsupported(asked)),
    }
}

/// Custom resources know no strategic merge patch upstream, because it comes with types of Go.
fn takes(asked: &Asked<'_>, kind: Kind) -> bool {
    kind != Kind::Strategic || !asked.definition().unstructured
}

fn unsupported(asked: &Asked<'_>) -> Status {
    let types: Vec<_> =
        KINDS.iter().filter(|(kind, _)| takes(asked, *kind)).map(|(_, media_type)| *media_type).collect();
    Status::unsupported_media_type_among(&types)
}

fn read(
    kind: Kind,
    bytes: &Bytes,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Patch, Status> {
    let words = |error: InvalidDocument| match kind {
        Kind::Apply => Status::bad_request(format!("error decoding YAML: {error}")),
        Kind::Merge => Status::bad_request("invalid JSON patch"),
        _ => Status::bad_request(error.to_string()),
    };
    let document = match kind {
        Kind::Apply => decode::read_yaml(bytes, None),
        _ => decode::read_json(bytes, None),
    };
    let document = document.map_err(words)?;
    let findings = match options.field_validation {
        FieldValidation::Ignore => Vec::new(),
        _ => document.strict,
    };
    if kind == Kind::Apply {
        match options.field_validation {
            FieldValidation::Strict if !findings.is_empty() => {
                let findings = findings.join(", ");
                return Err(Status::bad_request(format!("error strict decoding YAML: {findings}")));
            }
            _ => warnings.extend(findings.iter().cloned()),
        }
    }
    Ok(Patch { kind, value: document.value, findings })
}

/// The object after a patch, in the version of the request, with what a strict reader has against it.
fn patched(
    call: &Call<'_>,
    ownership: &Ownership,
    old: Option<&Stored>,
    patch: &Patch,
    options: &WriteOptions,
) -> Result<(Fields, Vec<String>), Status> {
    let old = old.ok_or_else(|| call.not_found())?;
    let before = with_revision(call.definition.of_stored(call.version, old.fields.clone())?, old.revision);
    let strictly = options.field_validation != FieldValidation::Ignore;
    let (mut findings, document) = (patch.findings.clone(), Value::Object(before));
    let document = match patch.kind {
        Kind::Json => json_patch(document, &patch.value, strictly).map(|patched| {
            findings.extend(patched.findings);
            patched.document
        }),
        Kind::Merge => merge_patch(document, patch.value.clone(), strictly),
        Kind::Strategic | Kind::Apply => match (document, ownership.root(call)) {
            (Value::Object(before), Some(root)) => {
                strategic_merge_patch(before, patch.value.clone(), ownership.types(), root).map(Value::Object)
            }
            _ => return Err(Status::internal("the kind has no type to merge by")),
        },
    };
    let document = document.map_err(|error| error.status())?;
    let text_of_all = document.to_string();
    let not_valid = |why: &str| {
        let error = FieldError::invalid(&Path::new("patch"), &text_of_all, why);
        Status::invalid("", "", "", vec![StatusCause::from(&error)])
    };
    let decoded =
        decode::value(call.definition, call.version, &text_of_all).map_err(|error| match error {
            decode::NotDecoded::Document(why) => not_valid(&why),
            decode::NotDecoded::Status(status) => *status,
        })?;
    findings.extend(decoded.warnings);
    match options.field_validation {
        FieldValidation::Ignore => findings.clear(),
        FieldValidation::Strict if !findings.is_empty() => {
            return Err(not_valid(&format!("strict decoding error: {}", findings.join(", "))));
        }
        _ => {}
    }
    let mut fields = decoded.object;
    // A patch that says nothing of the version means whatever version there is.
    if text(&fields, "metadata.resourceVersion") == old.revision.to_string() {
        edit_metadata(&mut fields, |metadata| metadata.remove("resourceVersion"));
    }
    Ok((fields, findings))
}

/// The object after an apply, in the version of the request, with its managed fields.
fn applied(
    call: &Call<'_>,
    ownership: &Ownership,
    old: Option<&Stored>,
    patch: &Patch,
    options: &WriteOptions,
    now: &str,
) -> Result<Fields, Status> {
    let live = match old {
        Some(old) => Value::Object(call.definition.of_stored(call.version, old.fields.clone())?),
        None => ownership.empty(call),
    };
    let request = Request { manager: &options.field_manager, force: options.force.unwrap_or_default(), now };
    let empty = ownership.empty(call);
    let api_version = call.definition.api_version(call.version);
    let manager: FieldManager<'_> = ownership.manager(call, &api_version, &empty);
    let applied = manager.apply(&live, &patch.value, &request).map_err(|error| error.status())?;
    let Value::Object(mut object) = applied.object else {
        return Err(Status::bad_request("a configuration is an object"));
    };
    let entries = object.get_mut("metadata").and_then(|metadata| metadata.as_object_mut());
    let entries = entries.and_then(|metadata| metadata.remove("managedFields"));
    let mut object = decode::fitted(call.definition, call.version, object)?;
    if let Some(entries) = entries {
        edit_metadata(&mut object, |metadata| metadata.insert("managedFields".to_owned(), entries));
    }
    Ok(object)
}
