//! What the door answers itself: discovery, OpenAPI, version, health, metrics.

use http::{Response, request::Parts};

use crate::{body::Body, identity::Identity, proxy::Door};

/// The answer when this path is the door's own; none when the request goes to a backend.
/// Paths that anybody may read are answered before authentication with `identity` none; a path that
/// wants one gives `None` then, and is asked again with it.
pub(crate) async fn answer(
    door: &Door,
    parts: &Parts,
    identity: Option<&Identity>,
) -> Option<Response<Body>> {
    let _ = (door, parts, identity);
    todo!("task identity")
}
