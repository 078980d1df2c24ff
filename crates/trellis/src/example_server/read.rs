//! `get` and `list`.

use bytes::Bytes;
use catalog::Body;
use http::{Response, StatusCode};
use kube_wire::Status;

use super::{answer::json_answer, request::Call, select::Selection};

/// One note.
pub(super) fn get(call: &Call<'_>) -> Result<Response<Body>, Status> {
    let shape = call.shape()?;
    let note = call.store.get(&call.key()).ok_or_else(|| call.not_found())?;
    Ok(json_answer(StatusCode::OK, shape.one(&note, true)))
}

/// All notes that are selected. `limit` may be ignored by a server, and is: the list is whole.
pub(super) fn list(call: &Call<'_>) -> Result<Response<Body>, Status> {
    let shape = call.shape()?;
    let selection = Selection::of(call.info)?;
    let (revision, notes) = call.store.list(call.namespace());
    refuse_future(call, revision)?;
    let selected = notes.iter().map(|note| &**note).filter(|note| selection.takes(&note.value));
    let body: Bytes = shape.list(revision, selected);
    Ok(json_answer(StatusCode::OK, body))
}

/// A resource version that does not exist yet cannot be waited for: nobody but this server makes them.
fn refuse_future(call: &Call<'_>, revision: u64) -> Result<(), Status> {
    let Some(asked) = call.parameter("resourceVersion") else { return Ok(()) };
    match asked.parse::<u64>() {
        Ok(asked) if asked <= revision => Ok(()),
        Ok(asked) => {
            let message = format!("Too large resource version: {asked}, current: {revision}");
            Err(Status { message: message.into(), ..Status::timeout() }.with_retry_after(1))
        }
        Err(_) => Err(Status::bad_request(format!("invalid resource version {asked:?}"))),
    }
}
