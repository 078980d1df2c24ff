//! create, update, patch and delete.

use std::sync::Arc;

use catalog::Body;
use http::{HeaderMap, StatusCode, header};
use kube_wire::{Status, accept};
use serde_json::Value;
use tokio::sync::MutexGuard;

use super::{
    Answered, Call, RegistrationApi, answer, apply, created,
    managed::{self, Operation},
    options::FieldValidation,
    read,
};
use crate::{
    object::{ObjectKey, check, prune, text},
    store::{Store, StoreError, set_metadata},
    validation::{Problem, ProblemKind},
};

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";
/// How often a patch that names no resource version is tried on a changing object.
const ATTEMPTS: usize = 5;

impl RegistrationApi {
    pub(super) async fn create(&self, call: &Call<'_>, body: Body) -> Answered {
        let mut value = decode(call, body).await?;
        if let (None, Some(prefix)) = (name_of(&value), text(&value, "/metadata/generateName")) {
            let random = uuid::Uuid::new_v4().simple().to_string();
            let name = format!("{prefix}{}", &random[..5]);
            set_metadata(&mut value, "name", name.into());
        }
        let warnings = without_unknown(call, &mut value)?;
        managed::note(None, &mut value, &call.options.manager, Operation::Update, call.resource);
        let (resource, dry_run) = (call.resource, call.options.dry_run);
        let object = self.store(move |store| store.create(resource, value, dry_run)).await?;
        Ok(finished(call, true, &object, &warnings))
    }

    pub(super) async fn update(&self, call: &Call<'_>, body: Body) -> Answered {
        let mut value = decode(call, body).await?;
        match name_of(&value) {
            None => set_metadata(&mut value, "name", call.info.name.as_ref().into()),
            Some(name) if name == call.info.name => {}
            Some(name) => {
                let (name, url) = (name.to_owned(), &call.info.name);
                return Err(Status::bad_request(format!(
                    "the name of the object ({name}) does not match the name on the URL ({url})"
                )));
            }
        }
        let warnings = without_unknown(call, &mut value)?;
        let current = self.current(call)?;
        managed::note(Some(&current), &mut value, &call.options.manager, Operation::Update, call.resource);
        let (resource, dry_run) = (call.resource, call.options.dry_run);
        let object = self.store(move |store| store.update(resource, value, dry_run)).await?;
        Ok(finished(call, false, &object, &warnings))
    }

    pub(super) async fn patch(&self, call: &Call<'_>, body: Body) -> Answered {
        let media_type = media_type(&call.parts.headers);
        let known = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH];
        if !known.contains(&media_type.as_str()) {
            return Err(Status::unsupported_media_type_among(&known));
        }
        let body = answer::read(body).await?;
        if media_type == APPLY_PATCH {
            return self.apply(call, &body).await;
        }
        let turn = self.writing.lock().await;
        for _ in 0..ATTEMPTS {
            let current = self.current(call)?;
            let mut value = patched(&media_type, &body, &current)?;
            for fixed in ["name", "uid", "creationTimestamp"] {
                let pointer = format!("/metadata/{fixed}");
                if value.pointer(&pointer) != current.pointer(&pointer) {
                    return Err(Status::bad_request(format!("metadata.{fixed} may not be changed")));
                }
            }
            let pinned =
                value.pointer("/metadata/resourceVersion") != current.pointer("/metadata/resourceVersion");
            let warnings = without_unknown(call, &mut value)?;
            managed::note(
                Some(&current),
                &mut value,
                &call.options.manager,
                Operation::Update,
                call.resource,
            );
            let (resource, dry_run) = (call.resource, call.options.dry_run);
            match self.carry_out(&turn, move |store| store.update(resource, value, dry_run)).await? {
                Ok(object) => return Ok(finished(call, false, &object, &warnings)),
                // Its status changed meanwhile: the patch fits the new object as well, unless it names
                // a version.
                Err(StoreError::Modified(_)) if !pinned => {}
                Err(error) => return Err(answer::refused(error)),
            }
        }
        Err(Status::modified(call.resource.plural(), call.resource.group(), &call.info.name))
    }

    async fn apply(&self, call: &Call<'_>, body: &[u8]) -> Answered {
        let Some(manager) = call.options.given_manager.clone() else {
            return Err(apply::manager_required());
        };
        let text = std::str::from_utf8(body).map_err(|e| Status::bad_request(e.to_string()))?;
        let mut wanted: Value = serde_saphyr::from_str(text)
            .map_err(|e| Status::bad_request(format!("error decoding YAML: {}", e.without_snippet())))?;
        check_type(call, &mut wanted)?;
        if name_of(&wanted).is_some_and(|name| name != call.info.name) {
            let url = &call.info.name;
            return Err(Status::bad_request(format!(
                "the name of the object does not match the name on the URL ({url})"
            )));
        }
        set_metadata(&mut wanted, "name", call.info.name.as_ref().into());
        let turn = self.writing.lock().await;
        for _ in 0..ATTEMPTS {
            let key = ObjectKey { resource: call.resource, name: call.info.name.to_string() };
            let current = self.store.get(&key);
            let force = call.options.force;
            let mut value = apply::apply(current.as_deref(), &wanted, &manager, force, call.resource)?;
            let warnings = without_unknown(call, &mut value)?;
            let (resource, dry_run, new) = (call.resource, call.options.dry_run, current.is_none());
            let change = move |store: &Store| match new {
                true => store.create(resource, value, dry_run),
                false => store.update(resource, value, dry_run),
            };
            let outcome = self.carry_out(&turn, change).await?;
            match outcome {
                Ok(object) => return Ok(finished(call, new, &object, &warnings)),
                Err(StoreError::Modified(_) | StoreError::AlreadyExists(_)) => {}
                Err(error) => return Err(answer::refused(error)),
            }
        }
        Err(Status::modified(call.resource.plural(), call.resource.group(), &call.info.name))
    }

    pub(super) async fn delete(&self, call: &Call<'_>, body: Body) -> Answered {
        let body = answer::read(body).await?;
        let options: Value = if body.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&body).map_err(|error| Status::bad_request(error.to_string()))?
        };
        let dry_run = call.options.dry_run
            || options.get("dryRun").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
        let uid = text(&options, "/preconditions/uid").map(str::to_owned);
        let version = text(&options, "/preconditions/resourceVersion").map(str::to_owned);
        let key = ObjectKey { resource: call.resource, name: call.info.name.to_string() };
        let removed =
            self.store(move |store| store.delete(&key, uid.as_deref(), version.as_deref(), dry_run)).await?;
        let uid = text(&removed, "/metadata/uid").unwrap_or_default();
        let status = Status::deleted(call.resource.plural(), call.resource.group(), &call.info.name, uid);
        let encoding = accept::negotiate_status(accept::parse(&answer::accept_header(call.parts)));
        Ok(answer::with_type(StatusCode::OK, encoding.content_type(), status.encode(encoding)))
    }

    pub(super) async fn delete_collection(&self, call: &Call<'_>) -> Answered {
        let (objects, version) = self.store.list(call.resource);
        let mut removed = Vec::new();
        for object in objects.into_iter().filter(|object| read::selected(call, object)) {
            let key = ObjectKey {
                resource: call.resource,
                name: text(&object, "/metadata/name").unwrap_or_default().to_owned(),
            };
            let dry_run = call.options.dry_run;
            match self.try_store(move |store| store.delete(&key, None, None, dry_run)).await? {
                Ok(object) => removed.push(object),
                // Gone meanwhile, or not ours to delete.
                Err(StoreError::NotFound(_) | StoreError::InFile { .. }) => {}
                Err(error) => return Err(answer::refused(error)),
            }
        }
        Ok(answer::json(call.parts, StatusCode::OK, &read::list(call.resource, version, &removed)))
    }

    fn current(&self, call: &Call<'_>) -> Result<Arc<Value>, Status> {
        let key = ObjectKey { resource: call.resource, name: call.info.name.to_string() };
        self.store
            .get(&key)
            .ok_or_else(|| Status::not_found(call.resource.plural(), call.resource.group(), &call.info.name))
    }

    async fn store(
        &self,
        change: impl FnOnce(&Store) -> Result<Arc<Value>, StoreError> + Send + 'static,
    ) -> Result<Arc<Value>, Status> {
        self.try_store(change).await?.map_err(answer::refused)
    }

    /// Changes the store on a thread that may wait for the disk.
    async fn try_store(
        &self,
        change: impl FnOnce(&Store) -> Result<Arc<Value>, StoreError> + Send + 'static,
    ) -> Result<Result<Arc<Value>, StoreError>, Status> {
        let turn = self.writing.lock().await;
        self.carry_out(&turn, change).await
    }

    /// The same for who has the turn already: of many patches of one object, none has to start again
    /// because of the others.
    async fn carry_out(
        &self,
        _turn: &MutexGuard<'_, ()>,
        change: impl FnOnce(&Store) -> Result<Arc<Value>, StoreError> + Send + 'static,
    ) -> Result<Result<Arc<Value>, StoreError>, Status> {
        let store = Arc::clone(&self.store);
        tokio::task::spawn_blocking(move || change(&store))
            .await
            .map_err(|error| Status::internal(&error.to_string()))
    }
}

fn finished(call: &Call<'_>, new: bool, object: &Value, warnings: &[String]) -> http::Response<Body> {
    let mut response = answer::json(call.parts, created(new), object);
    answer::warn(response.headers_mut(), warnings);
    response
}

fn name_of(value: &Value) -> Option<&str> {
    text(value, "/metadata/name").filter(|name| !name.is_empty())
}

/// The body as an object of the right kind.
async fn decode(call: &Call<'_>, body: Body) -> Result<Value, Status> {
    let media_type = media_type(&call.parts.headers);
    let body = answer::read(body).await?;
    let mut value: Value = match media_type.as_str() {
        "" | accept::JSON => {
            serde_json::from_slice(&body).map_err(|error| Status::bad_request(error.to_string()))?
        }
        accept::YAML => {
            let text = std::str::from_utf8(&body).map_err(|error| Status::bad_request(error.to_string()))?;
            serde_saphyr::from_str(text).map_err(|e| Status::bad_request(e.without_snippet().to_string()))?
        }
        _ => return Err(Status::unsupported_media_type_among(&[accept::JSON, accept::YAML])),
    };
    check_type(call, &mut value)?;
    Ok(value)
}

fn check_type(call: &Call<'_>, value: &mut Value) -> Result<(), Status> {
    let Some(object) = value.as_object_mut() else {
        return Err(Status::bad_request("the body of the request is no JSON object"));
    };
    let (kind, api_version) = (call.resource.kind(), call.resource.api_version());
    for (field, expected, what) in
        [("kind", kind, "kind"), ("apiVersion", api_version.as_str(), "API version")]
    {
        match object.get(field).and_then(Value::as_str).unwrap_or_default() {
            "" => {
                object.insert(field.to_owned(), expected.into());
            }
            given if given == expected => {}
            given => {
                return Err(Status::bad_request(format!(
                    "the {what} in the data ({given}) does not match the expected {what} ({expected})"
                )));
            }
        }
    }
    Ok(())
}

/// Deals with fields that do not exist as the request asks; the result are warnings.
fn without_unknown(call: &Call<'_>, value: &mut Value) -> Result<Vec<String>, Status> {
    let Err(problems) = check(call.resource, value) else { return Ok(Vec::new()) };
    let sentences: Vec<String> =
        problems.iter().filter(|p| p.kind == ProblemKind::Unknown).map(unknown).collect();
    match call.options.validation {
        FieldValidation::Strict if !sentences.is_empty() => return Err(strict(call, &sentences)),
        _ => prune(value, &problems),
    }
    let remaining = check(call.resource, value).err().unwrap_or_default();
    if !remaining.is_empty() {
        let key = ObjectKey { resource: call.resource, name: name_of(value).unwrap_or_default().to_owned() };
        return Err(answer::refused(StoreError::Invalid { key, problems: remaining }));
    }
    Ok(if call.options.validation == FieldValidation::Warn { sentences } else { Vec::new() })
}

fn unknown(problem: &Problem) -> String {
    let suggestion = problem.suggestion.as_deref().map(|s| format!(" ({s})")).unwrap_or_default();
    format!("unknown field {:?}{suggestion}", problem.field)
}

/// 400, in upstream's words.
fn strict(call: &Call<'_>, sentences: &[String]) -> Status {
    let (kind, version) = (call.resource.kind(), call.resource.version());
    Status::bad_request(format!(
        "{kind} in version {version:?} cannot be handled as a {kind}: strict decoding error: {}",
        sentences.join(", ")
    ))
}

fn patched(media_type: &str, body: &[u8], current: &Value) -> Result<Value, Status> {
    let mut value = current.clone();
    if media_type == JSON_PATCH {
        let patch: json_patch::Patch =
            serde_json::from_slice(body).map_err(|error| Status::bad_request(error.to_string()))?;
        json_patch::patch(&mut value, &patch).map_err(|error| {
            Status::failure(
                422,
                kube_wire::Reason::Invalid,
                format!("the server rejected our request due to an error in our request: {error}"),
            )
        })?;
    } else {
        let patch: Value =
            serde_json::from_slice(body).map_err(|error| Status::bad_request(error.to_string()))?;
        if !patch.is_object() {
            return Err(Status::bad_request("a merge patch is a JSON object"));
        }
        json_patch::merge(&mut value, &patch);
    }
    Ok(value)
}

fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
