//! `create`, `update`, `patch`, `delete` and `deletecollection`.

use bytes::Bytes;
use catalog::Body;
use http::{HeaderValue, Response, StatusCode};
use kube_wire::{Status, accept};
use serde_json::{Value, json};

use super::{
    answer::{json_answer, typed_answer, warn},
    apply::{Writer, track_update},
    note::{GROUP, KIND, RESOURCE, decode, set_status, validate},
    patch::Patch,
    request::Call,
    select::Selection,
    store::{Change, Key, Stored, Written},
};

const PRECONDITION: &str = "Precondition failed: UID in precondition";

/// A new note.
pub(super) fn create(call: &Call<'_>) -> Result<Response<Body>, Status> {
    let shape = call.shape()?;
    let mut object = body_object(call)?;
    let warnings = decode(&mut object, call.field_validation()?)?;
    if object["metadata"]["resourceVersion"].as_str().is_some_and(|version| !version.is_empty()) {
        return Err(Status::bad_request("resourceVersion should not be set on objects to be created"));
    }
    name(&mut object);
    let key =
        (call.info.namespace.to_string(), object["metadata"]["name"].as_str().unwrap_or_default().to_owned());
    let manager = call.manager();
    let written = call.store.write(&key, call.dry_run()?, |live| {
        if live.is_some() {
            return Err(Status::already_exists(RESOURCE, GROUP, &key.1));
        }
        track_update(None, &mut object, call.writer(&manager));
        Ok(Change::Put(born(object, call)?))
    })?;
    answer(written, shape, &warnings, call)
}

/// A note replaced.
pub(super) fn update(call: &Call<'_>) -> Result<Response<Body>, Status> {
    let shape = call.shape()?;
    let mut object = body_object(call)?;
    let warnings = decode(&mut object, call.field_validation()?)?;
    let key = call.key();
    match object["metadata"]["name"].as_str() {
        None => object["metadata"]["name"] = json!(key.1),
        Some(name) if name == key.1 => {}
        Some(name) => {
            let sentence =
                format!("the name of the object ({name}) does not match the name on the URL ({})", key.1);
            return Err(Status::bad_request(sentence));
        }
    }
    let manager = call.manager();
    let written = call.store.write(&key, call.dry_run()?, |live| {
        let live = live.ok_or_else(|| call.not_found())?;
        track_update(Some(&live.value), &mut object, call.writer(&manager));
        grown(live, object, &key)
    })?;
    answer(written, shape, &warnings, call)
}

/// A note changed by a patch; an apply makes it when it is not there.
pub(super) fn patch(call: &Call<'_>) -> Result<Response<Body>, Status> {
    let shape = call.shape()?;
    let patch = Patch::parse(call.content_type(), call.body)?;
    let validation = call.field_validation()?;
    let key = call.key();
    if patch.is_apply() && call.parameter("fieldManager").is_none() {
        return Err(Status::bad_request(
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch",
        ));
    }
    let manager = call.manager();
    let writer: Writer<'_> = call.writer(&manager);
    let mut warnings = Vec::new();
    let written = call.store.write(&key, call.dry_run()?, |live| {
        let Some(live) = live else {
            if !patch.is_apply() {
                return Err(call.not_found());
            }
            let skeleton = json!({"metadata": {"name": key.1}});
            let mut object = patch.patched(&skeleton, writer, validation, &mut warnings)?;
            warnings.extend(decode(&mut object, validation)?);
            return Ok(Change::Put(born(object, call)?));
        };
        let mut object = patch.patched(&live.value, writer, validation, &mut warnings)?;
        warnings.extend(decode(&mut object, validation)?);
        if object["metadata"]["name"] != json!(key.1) {
            return Err(Status::bad_request("the name of an object cannot be changed"));
        }
        if !patch.is_apply() {
            track_update(Some(&live.value), &mut object, writer);
        }
        grown(live, object, &key)
    })?;
    answer(written, shape, &warnings, call)
}

/// A note gone, or marked as going while it has finalizers.
pub(super) fn delete(call: &Call<'_>) -> Result<Response<Body>, Status> {
    let key = call.key();
    let options: Value = match call.body.is_empty() {
        true => Value::Null,
        false => parse(call.content_type(), call.body)?,
    };
    let dry_run = call.dry_run()? || options["dryRun"][0] == "All";
    let written = call.store.write(&key, dry_run, |live| {
        let live = live.ok_or_else(|| call.not_found())?;
        let metadata = &live.value["metadata"];
        for field in ["uid", "resourceVersion"] {
            let wanted = &options["preconditions"][field];
            if !wanted.is_null() && *wanted != metadata[field] {
                let why = format!("{PRECONDITION}: {wanted}, in object meta: {}", metadata[field]);
                return Err(Status::conflict(RESOURCE, GROUP, &key.1, &why));
            }
        }
        Ok(going(live, &call.now))
    })?;
    let written = written.ok_or_else(|| call.not_found())?;
    if !written.deleted {
        return Ok(json_answer(StatusCode::OK, call.shape()?.one(&written.note, true)));
    }
    let uid = written.note.value["metadata"]["uid"].as_str().unwrap_or_default();
    let status = Status::deleted(RESOURCE, GROUP, &key.1, uid);
    Ok(json_answer(StatusCode::OK, kube_wire::status::encode(&status, kube_wire::Encoding::Json).into()))
}

/// All notes that are selected, gone.
pub(super) fn delete_collection(call: &Call<'_>) -> Result<Response<Body>, Status> {
    let shape = call.shape()?;
    let selection = Selection::of(call.info)?;
    let dry_run = call.dry_run()?;
    let (revision, notes) = call.store.list(call.namespace());
    let selected: Vec<_> = notes.into_iter().filter(|note| selection.takes(&note.value)).collect();
    for note in &selected {
        let metadata = &note.value["metadata"];
        let text = |field: &str| metadata[field].as_str().unwrap_or_default().to_owned();
        call.store.write(&(text("namespace"), text("name")), dry_run, |live| {
            Ok(live.map_or(Change::Keep, |live| going(live, &call.now)))
        })?;
    }
    Ok(json_answer(StatusCode::OK, shape.list(revision, selected.iter().map(|note| &**note))))
}

/// The object of a body in JSON or YAML.
fn body_object(call: &Call<'_>) -> Result<Value, Status> {
    parse(call.content_type(), call.body)
}

fn parse(content_type: &str, body: &Bytes) -> Result<Value, Status> {
    match content_type {
        "" | accept::JSON => serde_json::from_slice(body).map_err(unreadable),
        accept::YAML => super::patch::yaml(body),
        _ => Err(Status::unsupported_media_type_among(&[accept::JSON, accept::YAML])),
    }
}

pub(super) fn unreadable(error: serde_json::Error) -> Status {
    Status::bad_request(format!("the body is no JSON: {error}"))
}

/// Makes a name from `generateName`.
fn name(object: &mut Value) {
    let metadata = &mut object["metadata"];
    if metadata["name"].as_str().is_some_and(|name| !name.is_empty()) {
        return;
    }
    if let Some(prefix) = metadata["generateName"].as_str().filter(|prefix| !prefix.is_empty()) {
        let random = uuid::Uuid::new_v4().simple().to_string();
        metadata["name"] = json!(format!("{prefix}{}", &random[..5]));
    }
}

/// What the server adds to a note that comes to be.
fn born(mut object: Value, call: &Call<'_>) -> Result<Value, Status> {
    let metadata = &mut object["metadata"];
    match metadata["namespace"].as_str() {
        Some(namespace) if namespace != call.info.namespace => {
            return Err(Status::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        _ => metadata["namespace"] = json!(call.info.namespace),
    }
    metadata["uid"] = json!(uuid::Uuid::new_v4().to_string());
    metadata["creationTimestamp"] = json!(call.now);
    metadata["generation"] = json!(1);
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.remove("deletionTimestamp");
        metadata.remove("deletionGracePeriodSeconds");
    }
    set_status(&mut object, &call.user.name);
    valid(object)
}

/// What becomes of a live note that is to be `object`.
fn grown(live: &Stored, mut object: Value, key: &Key) -> Result<Change, Status> {
    let before = &live.value["metadata"];
    let metadata = &mut object["metadata"];
    if metadata["resourceVersion"]
        .as_str()
        .is_some_and(|version| !version.is_empty() && before["resourceVersion"] != version)
    {
        return Err(Status::modified(RESOURCE, GROUP, &key.1));
    }
    if metadata["uid"].is_string() && metadata["uid"] != before["uid"] {
        let why = format!("{PRECONDITION}: {}, in object meta: {}", metadata["uid"], before["uid"]);
        return Err(Status::conflict(RESOURCE, GROUP, &key.1, &why));
    }
    for field in [
        "uid",
        "namespace",
        "resourceVersion",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        match before.get(field) {
            Some(value) => metadata[field] = value.clone(),
            None => drop(metadata.as_object_mut().and_then(|metadata| metadata.remove(field))),
        }
    }
    let same_spec = object["spec"] == live.value["spec"];
    let generation = before["generation"].as_i64().unwrap_or(1) + i64::from(!same_spec);
    object["metadata"]["generation"] = json!(generation);
    set_status(&mut object, live.value["status"]["author"].as_str().unwrap_or_default());
    let object = valid(object)?;
    if object == live.value {
        return Ok(Change::Keep);
    }
    let metadata = &object["metadata"];
    let released = metadata["finalizers"].as_array().is_none_or(Vec::is_empty);
    Ok(if metadata["deletionTimestamp"].is_string() && released {
        Change::Delete
    } else {
        Change::Put(object)
    })
}

/// What a deletion does to a live note.
fn going(live: &Stored, now: &str) -> Change {
    let metadata = &live.value["metadata"];
    if metadata["finalizers"].as_array().is_none_or(Vec::is_empty) {
        return Change::Delete;
    }
    if metadata["deletionTimestamp"].is_string() {
        return Change::Keep;
    }
    let mut marked = live.value.clone();
    marked["metadata"]["deletionTimestamp"] = json!(now);
    marked["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    Change::Put(marked)
}

fn valid(object: Value) -> Result<Value, Status> {
    let causes = validate(&object);
    if causes.is_empty() {
        return Ok(object);
    }
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    Err(Status::invalid(KIND, GROUP, name, causes))
}

fn answer(
    written: Option<Written>,
    shape: super::answer::Shape,
    warnings: &[String],
    call: &Call<'_>,
) -> Result<Response<Body>, Status> {
    let written = written.ok_or_else(|| call.not_found())?;
    let code = if written.created { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = json_answer(code, shape.one(&written.note, true));
    warn(&mut response, warnings);
    Ok(response)
}

/// The door's tests and people with curl see at once that this is no note.
pub(super) fn plain_not_found() -> Response<Body> {
    typed_answer(
        StatusCode::NOT_FOUND,
        HeaderValue::from_static("text/plain; charset=utf-8"),
        Bytes::from_static(b"404 page not found\n"),
    )
}
