//! The query parameters of the API, and the body of a deletion.

mod delete;
mod list;
mod write;

use kube_wire::{Status, query, status::StatusCause};

use crate::validation::{FieldError, invalid};

pub use delete::{DeleteOptions, Preconditions, Propagation};
pub use list::{ListOptions, VersionMatch};
pub use write::WriteOptions;

/// The group of the option kinds.
const META: &str = "meta.k8s.io";

/// 422 for options.
fn invalid_options(kind: &str, errors: &[FieldError]) -> Result<(), Status> {
    if errors.is_empty() { Ok(()) } else { Err(invalid(kind, META, "", errors)) }
}

/// A parameter that is there and not empty.
fn parameter(request_query: &str, name: &str) -> Option<String> {
    query::first(request_query, name).filter(|value| !value.is_empty()).map(|value| value.into_owned())
}

/// All values of a parameter.
fn parameters(request_query: &str, name: &str) -> Vec<String> {
    query::pairs(request_query).filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect()
}

/// A whole number, in the words of Go when it is none.
fn number(request_query: &str, name: &str) -> Result<Option<i64>, Status> {
    let Some(text) = parameter(request_query, name) else { return Ok(None) };
    let digits = text.strip_prefix(['-', '+']).unwrap_or(&text);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => {
            let why = if plain { "value out of range" } else { "invalid syntax" };
            Err(Status::bad_request(format!("strconv.ParseInt: parsing {text:?}: {why}")))
        }
    }
}

/// A Boolean as upstream's converter reads it; none when it is not there.
fn flag(request_query: &str, name: &str) -> Option<bool> {
    query::first(request_query, name).map(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
}

/// Go's sentence for a resource version that is no number.
pub(crate) fn not_a_version(text: &str) -> String {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let why = if plain { "value out of range" } else { "invalid syntax" };
    format!("strconv.ParseUint: parsing {text:?}: {why}")
}

/// 504: the resource version has not come yet.
pub(crate) fn too_large_version(requested: u64, current: u64) -> Status {
    use kube_wire::{Reason, StatusDetails};
    let message = format!("Timeout: Too large resource version: {requested}, current: {current}");
    let cause = StatusCause {
        reason: "ResourceVersionTooLarge".to_owned(),
        message: "Too large resource version".to_owned(),
        field: String::new(),
    };
    let details = StatusDetails { causes: vec![cause], retry_after_seconds: 1, ..StatusDetails::default() };
    Status::failure(504, Reason::Timeout, message).with_details(details)
}
